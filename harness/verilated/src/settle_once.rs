//! Leaves out the second evaluation of what follows from inputs.
//!
//! A cycle is two calls of Verilator's `eval`: one settles the inputs (clock low), one takes the edge (clock high). Verilator cannot know that no
//! input but the clock has changed in between, so each call first evaluates all combinational logic behind any input. In the second call that gives
//! what it gave before, and is a tenth of the time of a register file. Here its loop is told to run while the clock is low only.
//!
//! This leans on the shape of the generated C++. Where that is another one, or where the clock itself takes part in such logic (a gated clock),
//! nothing is changed, and the model is right all the same: only slower.

use crate::shim::PREFIX;

/// Begins the loop over the logic behind inputs, in the generated `eval`.
const BEGIN: &str = "__VicoContinue = 1U;";

/// Changes one of the generated sources (their texts), where that is possible. Returns which.
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

/// Whether a function that evaluates logic behind inputs reads the clock.
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
    fn other_text_is_left_alone() {
        let mut sources = vec!["void eval() {\n}\n".to_owned()];
        assert_eq!(apply(&mut sources), None);
    }
}
