//! Finds the comparisons in a module's SystemVerilog, and writes the module again with a witness at each.
//!
//! This is not a parser: it knows tokens, brackets and the precedence of operators, which is enough for expressions. Its output is run in lockstep
//! with the module's twin, so if it splits a comparison in the wrong place, this shows as a difference.

use std::ops::Range;

/// An equality (`==` or `!=`) of two values that are not constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Line of the operator, from 1.
    pub line: usize,
    /// Its text, on one line.
    pub text: String,
    negated: bool,
    left: Range<usize>,
    right: Range<usize>,
    /// Conditions under which it decides anything: the other terms of the conjunctions that contain it.
    with: Vec<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Word,
    Number,
    Operator,
}

#[derive(Clone, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    start: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Operators, the longest first.
const OPERATORS: &[&str] = &[
    "<<<=", ">>>=", "===", "!==", "==?", "!=?", "<<<", ">>>", "<<=", ">>=", "|->", "|=>", "&&&", "==", "!=", "<=",
    ">=", "<<", ">>", "&&", "||", "**", "->", "::", "+:", "-:", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "~&",
    "~|", "~^", "^~", "++", "--",
];
/// Text for simulation only, up to the next `` `endif``: functions that assertions call.
const SIMULATION_ONLY: &str = "`ifndef SYNTHESIS";
/// Words that end an expression on their right.
const KEYWORDS: &[&str] = &[
    "assert",
    "assign",
    "begin",
    "case",
    "do",
    "else",
    "end",
    "endcase",
    "endfunction",
    "endmodule",
    "for",
    "if",
    "iff",
    "inside",
    "return",
    "unique",
    "while",
];

/// The comparisons of a source, in textual order. Assertions, which are not hardware, and declarations of parameters are skipped.
pub fn comparisons(source: &str) -> Vec<Comparison> {
    let tokens = tokens(source);
    let scan = Scan { source, tokens: &tokens };
    let mut all: Vec<Comparison> = (0..tokens.len()).filter_map(|at| scan.comparison(at)).collect();
    // A comparison inside an operand of another one comes after it.
    all.sort_by_key(|c| (c.left.start, usize::MAX - c.right.end));
    all
}

/// The source with each comparison replaced by `package::same(number, width, deciding, difference, equal)`, numbered in the given order.
pub fn witnessed(source: &str, comparisons: &[Comparison], package: &str) -> String {
    let mut text = String::with_capacity(source.len() * 2);
    render(source, 0..source.len(), comparisons, 0, package, &mut text);
    text
}

/// Writes a range of the source; the first `skip` comparisons enclose it.
fn render(source: &str, range: Range<usize>, all: &[Comparison], skip: usize, package: &str, text: &mut String) {
    let mut at = range.start;
    for (number, comparison) in all.iter().enumerate().skip(skip) {
        let Comparison { negated, left, right, with, .. } = comparison;
        if left.start < at || right.end > range.end {
            continue;
        }
        text.push_str(&source[at..left.start]);
        let (l, r) = (&source[left.clone()], &source[right.clone()]);
        let deciding = with.iter().map(|term| format!("(|({}))", &source[term.clone()]));
        let deciding = deciding.collect::<Vec<_>>().join(" && ");
        let deciding = if deciding.is_empty() { "1'b1" } else { &deciding };
        let difference = format!("{{({l}) ^ ({r})}}");
        let call = format!("{package}::same({number}, $bits({difference}), {deciding}, {{(");
        text.push_str(if *negated { "!" } else { "" });
        text.push_str(&call);
        render(source, left.clone(), all, number + 1, package, text);
        text.push_str(") ^ (");
        render(source, right.clone(), all, number + 1, package, text);
        text.push_str(&format!(")}}, {difference} == '0)"));
        at = right.end;
    }
    text.push_str(&source[at..range.end]);
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if rest.starts_with('"') {
            at += string_length(rest);
        } else if rest.starts_with(SIMULATION_ONLY) {
            at += rest.find("`endif").unwrap_or(rest.len());
        } else if bytes[at].is_ascii_whitespace() {
            at += 1;
        } else {
            let first = rest.chars().next().unwrap_or(' ');
            let (kind, length) = if let Some(length) = based_number(rest) {
                (Kind::Number, length)
            } else if first == '`' || first == '_' || first == '$' || first.is_ascii_alphabetic() {
                (Kind::Word, 1 + rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1))
            } else if first.is_ascii_digit() {
                (Kind::Number, rest.find(|c: char| !word(c) && c != '.').unwrap_or(rest.len()))
            } else {
                let operator = OPERATORS.iter().find(|o| rest.starts_with(**o));
                (Kind::Operator, operator.map_or(first.len_utf8(), |o| o.len()))
            };
            tokens.push(Token { kind, text: &rest[..length], start: at });
            at += length;
        }
    }
    tokens
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            '"' if !escaped => return index + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    rest.len()
}

/// Length of `4'd3`, `'0`, `32'h1F`; `None` for a cast `4'(x)` or a pattern `'{`.
fn based_number(rest: &str) -> Option<usize> {
    let tick = rest.find(|c: char| !c.is_ascii_digit())?;
    let behind = rest[tick..].strip_prefix('\'')?;
    let first = behind.chars().next()?;
    if !first.is_ascii_alphanumeric() {
        return None;
    }
    let length = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '?').unwrap_or(behind.len());
    Some(tick + 1 + length)
}

struct Scan<'a> {
    source: &'a str,
    tokens: &'a [Token<'a>],
}

/// Extent of an operand: up to an operator with lower precedence.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binds {
    /// `==`
    Equality,
    /// `&`
    And,
    /// `&&`
    LogicalAnd,
}

impl Scan<'_> {
    fn comparison(&self, at: usize) -> Option<Comparison> {
        let operator = &self.tokens[at];
        if operator.kind != Kind::Operator || !["==", "!="].contains(&operator.text) || self.is_elsewhere(at) {
            return None;
        }
        let (first, last) = (self.left(at, Binds::Equality)?, self.right(at, Binds::Equality)?);
        let (left, right) = (self.extent(first, at - 1), self.extent(at + 1, last));
        if self.is_constant(first, at - 1) || self.is_constant(at + 1, last) {
            return None;
        }
        let line = 1 + self.source[..operator.start].matches('\n').count();
        let text = self.source[left.start..right.end].split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Comparison { line, text, negated: operator.text == "!=", left, right, with: self.with(first, last) })
    }

    fn extent(&self, first: usize, last: usize) -> Range<usize> {
        self.tokens[first].start..self.tokens[last].end()
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Whether the token at this index is a unary operator.
    fn is_unary(&self, at: usize) -> bool {
        if ["!", "~", "~&", "~|"].contains(&self.text(at)) {
            return true;
        }
        let Some(before) = at.checked_sub(1).map(|at| &self.tokens[at]) else { return true };
        before.kind == Kind::Operator && ![")", "]", "}"].contains(&before.text) || KEYWORDS.contains(&before.text)
    }

    fn ends(&self, at: usize, binds: Binds) -> bool {
        let token = &self.tokens[at];
        if KEYWORDS.contains(&token.text) {
            return true;
        }
        if token.kind != Kind::Operator || self.is_unary(at) && !["(", "[", "{"].contains(&token.text) {
            return false;
        }
        match token.text {
            "?" | ":" | "," | ";" | "=" | "<=" | "+=" | "-=" | "|=" | "&=" | "^=" | "||" | "->" | "|->" | "&&&"
            | "#" | "@" => true,
            "&&" => binds <= Binds::LogicalAnd,
            "|" | "^" | "~^" | "^~" => binds <= Binds::And,
            "&" => binds <= Binds::And,
            "==" | "!=" | "===" | "!==" | "==?" => binds == Binds::Equality,
            _ => false,
        }
    }

    /// The first token of the operand to the left of `at`.
    fn left(&self, at: usize, binds: Binds) -> Option<usize> {
        let (mut depth, mut first) = (0, at);
        while first > 0 {
            let before = first - 1;
            match self.text(before) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" if depth == 0 => break,
                "(" | "[" | "{" => depth -= 1,
                _ if depth == 0 && self.ends(before, binds) => break,
                _ => {}
            }
            first = before;
        }
        (first < at).then_some(first)
    }

    /// The last token of the operand to the right of `at`.
    fn right(&self, at: usize, binds: Binds) -> Option<usize> {
        let (mut depth, mut last) = (0, at);
        while last + 1 < self.tokens.len() {
            let next = last + 1;
            match self.text(next) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => break,
                ")" | "]" | "}" => depth -= 1,
                _ if depth == 0 && self.ends(next, binds) => break,
                _ => {}
            }
            last = next;
        }
        (last > at).then_some(last)
    }

    /// Whether it contains no variable. Constants begin with a capital letter, by the project's style.
    fn is_constant(&self, first: usize, last: usize) -> bool {
        !(first..=last).any(|at| {
            let token = &self.tokens[at];
            let kind = self.text(at + 1);
            let variable = token.text.starts_with(|c: char| c.is_ascii_lowercase());
            token.kind == Kind::Word && variable && kind != "::" && kind != "'"
        })
    }

    /// Whether the token at this index is inside an assertion, or a parameter's declaration.
    fn is_elsewhere(&self, at: usize) -> bool {
        let mut depth = 0i32;
        for before in (0..at).rev() {
            match self.text(before) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => {
                    depth -= 1;
                    if depth < 0 {
                        depth = 0;
                        if before > 0 && self.text(before - 1).starts_with('`') {
                            return true;
                        }
                    }
                }
                ";" if depth == 0 => return false,
                "begin" | "end" => return false,
                "parameter" | "localparam" => return true,
                _ => {}
            }
        }
        false
    }

    /// The other terms of the conjunctions around an expression.
    fn with(&self, first: usize, last: usize) -> Vec<Range<usize>> {
        let (mut first, mut last) = (first, last);
        let mut terms = Vec::new();
        loop {
            for binds in [Binds::And, Binds::LogicalAnd] {
                let separator = if binds == Binds::And { "&" } else { "&&" };
                while first > 0 && self.text(first - 1) == separator && !self.is_unary(first - 1) {
                    let Some(start) = self.left(first - 1, binds) else { break };
                    terms.push(self.extent(start, first - 2));
                    first = start;
                }
                while self.text(last + 1) == separator {
                    let Some(end) = self.right(last + 1, binds) else { break };
                    terms.push(self.extent(last + 2, end));
                    last = end;
                }
                // Extends to the ends of the operand of `&&` that contains it.
                if binds == Binds::And {
                    first = self.left(first, Binds::LogicalAnd).unwrap_or(first);
                    last = self.right(last, Binds::LogicalAnd).unwrap_or(last);
                }
            }
            // A pair of parentheses around it, if they belong to an expression and not to a call or a condition.
            if first == 0 || self.text(first - 1) != "(" || self.text(last + 1) != ")" {
                return terms;
            }
            (first, last) = (first - 1, last + 1);
            if first > 0 && (self.tokens[first - 1].kind == Kind::Word || self.text(first - 1) == "'") {
                return terms;
            }
            while first > 0 && ["!", "~"].contains(&self.text(first - 1)) {
                first -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(String, Vec<String>)> {
        let words = |range: &Range<usize>| source[range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        comparisons(source).iter().map(|c| (c.text.clone(), c.with.iter().map(words).collect())).collect()
    }

    fn one(source: &str) -> (String, Vec<String>) {
        let mut all = found(source);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    fn pair(text: &str, with: &[&str]) -> (String, Vec<String>) {
        (text.to_owned(), with.iter().map(|&w| w.to_owned()).collect())
    }

    #[test]
    fn operands_reach_as_far_as_they_bind() {
        assert_eq!(one("assign x = a + b == c[3:0];"), pair("a + b == c[3:0]", &[]));
        assert_eq!(one("assign x = &a == b;"), pair("&a == b", &[]));
        assert_eq!(one("q <= f(a, b) == c ? d : e;"), pair("f(a, b) == c", &[]));
        assert_eq!(one("if (a != {b, c}) x = 1'b1;"), pair("a != {b, c}", &[]));
        assert_eq!(one("return warp_q[i] == Width'(w);"), pair("warp_q[i] == Width'(w)", &[]));
    }

    #[test]
    fn a_comparison_decides_where_the_rest_of_its_conjunction_holds() {
        assert_eq!(one("x = v && a == b && !(w);"), pair("a == b", &["v", "!(w)"]));
        assert_eq!(one("x = y | v & (a == b);"), pair("a == b", &["v"]));
        assert_eq!(one("x = (v[p] && !(a == b)) || z;"), pair("a == b", &["v[p]"]));
        assert_eq!(one("x = w | u && a == b;"), pair("a == b", &["w | u"]));
        assert_eq!(one("x = c ? v && a == b : d;"), pair("a == b", &["v"]));
    }

    #[test]
    fn constants_assertions_and_comments_are_none() {
        let source = "localparam int A = b == c;\n// a == b\nx = a == 3'd4 || a != '0 || a == Kind || \"a == b\" == s;\n`GPURF_ASSERT(n, (a == b), \"\")\n";
        assert_eq!(found(source), []);
        let simulated = "`ifndef SYNTHESIS\nfunction f(); return c != d; endfunction\n`endif\nassign x = a == b;";
        assert_eq!(one(simulated), pair("a == b", &[]));
    }

    #[test]
    fn a_witness_is_around_each_of_them() {
        let source = "x = v && (a[b == c] != d);";
        let list = comparisons(source);
        assert_eq!(list.len(), 2);
        assert_eq!(
            witnessed(source, &list, "p"),
            "x = v && (!p::same(0, $bits({(a[b == c]) ^ (d)}), (|(v)), \
             {(a[p::same(1, $bits({(b) ^ (c)}), 1'b1, {(b) ^ (c)}, {(b) ^ (c)} == '0)]) ^ (d)}, {(a[b == c]) ^ (d)} == '0));"
        );
    }
}
