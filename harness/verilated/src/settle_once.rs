//! Removes the second evaluation of logic that depends on inputs.
//!
//! A cycle is two calls of Verilator's `eval`: one settles the inputs (clock low), one takes the edge (clock high). Verilator cannot know that only
//! the clock has changed in between, so each call first evaluates all combinational logic that depends on any input. In the second call the result
//! is the same as before, and the evaluation takes a tenth of the time of a register file. Here its loop is changed to run only while the clock is low.
//!
//! The first call can be left out too, in a cycle whose inputs equal those of the previous cycle: the edge has evaluated everything with them. It would only
//! note that the clock is low, and this can be written directly ([`Settling::EdgesOnly`]).
//!
//! This depends on the form of the generated C++. If the form is different, or if such logic depends on the clock itself (a gated clock),
//! nothing is changed, and the model is still correct, only slower.

use std::collections::BTreeSet;

use crate::names::{CLOCK_SEEN, PREFIX};

/// First statement of the loop over logic that depends on inputs, in the generated `eval`.
const BEGIN: &str = "__VicoContinue = 1U;";

/// What the generated `eval` does when it is called with the clock low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settling {
    /// It may do more than evaluate logic that depends on inputs.
    Any,
    /// It evaluates logic that depends on inputs and stores the clock's value in [`CLOCK_SEEN`]. Only the rising clock triggers anything.
    EdgesOnly,
}

/// Determines what a call of `eval` with the clock low does.
pub(crate) fn settling(sources: &[String]) -> Settling {
    let remembered: BTreeSet<&str> = sources.iter().flat_map(|s| remembered(s)).collect();
    let edges = sources.iter().flat_map(|s| s.lines()).filter(|line| line.contains("'act' region trigger"));
    let rising = |line: &str| line.contains("is active: @(posedge clk_i)\\n");
    let (mut edges, mut rising_only) = (edges.peekable(), true);
    let any = edges.peek().is_some();
    edges.for_each(|line| rising_only &= rising(line));
    let clock_only = remembered.iter().eq([&CLOCK_SEEN]);
    if any && rising_only && clock_only && !sources.iter().any(|s| clock_behind_inputs(s)) {
        Settling::EdgesOnly
    } else {
        Settling::Any
    }
}

/// The variables in which triggers store earlier values.
fn remembered(source: &str) -> impl Iterator<Item = &str> {
    source.match_indices("__Vtrigr").map(|(at, _)| {
        let rest = &source[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Changes one of the generated sources (their texts), if possible. Returns its index.
pub(crate) fn apply(sources: &mut [String]) -> Option<usize> {
    if sources.iter().any(|s| clock_behind_inputs(s)) {
        return None;
    }
    let head = format!("void {PREFIX}___024root___eval({PREFIX}___024root* vlSelf) {{");
    for (index, source) in sources.iter_mut().enumerate() {
        let Some(start) = source.find(&head) else { continue };
        let Some(at) = source[start..].find(BEGIN) else { continue };
        let at = start + at;
        source.replace_range(at..at + BEGIN.len(), "__VicoContinue = !vlSelf->clk_i;");
        return Some(index);
    }
    None
}

/// Whether a function that evaluates logic depending on inputs reads the clock.
fn clock_behind_inputs(source: &str) -> bool {
    let mut inside = false;
    source.lines().any(|line| {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.ends_with('{') {
            inside = line.contains("ico");
        }
        inside && line.contains("clk_i")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(body: &str) -> Vec<String> {
        let root = format!("{PREFIX}___024root");
        let ico = format!("VL_INLINE_OPT void {root}___ico_sequent__TOP__0({root}* vlSelf) {{\n{body}\n}}\n");
        vec![ico, format!("void {root}___eval({root}* vlSelf) {{\n    {BEGIN}\n}}\n")]
    }

    #[test]
    fn the_loop_runs_while_the_clock_is_low() {
        let mut sources = generated("    vlSelf->a_o = vlSelf->a_i;");
        assert_eq!(apply(&mut sources), Some(1));
        assert!(sources[1].contains("__VicoContinue = !vlSelf->clk_i;"), "{sources:?}");
    }

    #[test]
    fn logic_behind_the_clock_is_left_alone() {
        let mut sources = generated("    vlSelf->gated = (vlSelf->clk_i & vlSelf->enable_i);");
        let before = sources.clone();
        assert_eq!(apply(&mut sources), None);
        assert_eq!(sources, before);
    }

    #[test]
    fn settling_may_be_left_out_where_only_the_rising_clock_does_anything() {
        let dump = |edge: &str| {
            format!("    VL_DBG_MSGF(\"         'act' region trigger index 0 is active: @({edge})\\n\");\n")
        };
        let seen = format!("    vlSelf->{CLOCK_SEEN} = vlSelf->clk_i;\n");
        let sources = |text: String| [generated("    vlSelf->a_o = vlSelf->a_i;"), vec![text]].concat();
        let what = |text: String| settling(&sources(text));
        assert_eq!(what(seen.clone() + &dump("posedge clk_i")), Settling::EdgesOnly);
        assert_eq!(what(seen.clone() + &dump("posedge clk_i") + &dump("negedge clk_i")), Settling::Any);
        assert_eq!(what(seen.clone() + &dump("posedge clk_i or negedge rst_ni")), Settling::Any);
        assert_eq!(what(seen.clone() + "    vlSelf->__Vtrigrprev__TOP__t__DOT__gated = 0;\n"), Settling::Any);
        assert_eq!(what(dump("posedge clk_i")), Settling::Any);
        assert_eq!(what(seen.clone()), Settling::Any);
        let gated = generated("    vlSelf->gated = (vlSelf->clk_i & vlSelf->enable_i);");
        assert_eq!(settling(&[gated, vec![seen + &dump("posedge clk_i")]].concat()), Settling::Any);
    }

    #[test]
    fn other_text_is_left_alone() {
        let mut sources = vec!["void eval() {\n}\n".to_owned()];
        assert_eq!(apply(&mut sources), None);
    }
}
