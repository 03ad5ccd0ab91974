//! Whole numbers that are computed from the pass number `i`, such as `256 >> i` and `(12 - i + 3) / 4`.

/// Longest expression in bytes; it bounds the depth of its tree too.
const MAX_TEXT: usize = 200;

/// An expression over the pass number, `i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Number(i128),
    Pass,
    Negative(Box<Node>),
    Two(Operation, Box<[Node; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    Min,
    Max,
    CeilDivide,
}

/// The functions of two numbers.
const FUNCTIONS: [(&str, Operation); 3] =
    [("min", Operation::Min), ("max", Operation::Max), ("ceil_div", Operation::CeilDivide)];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What was expected, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("an expression has at most {MAX_TEXT} characters"));
        }
        let mut parser = Parser { text, at: 0 };
        let root = parser.shifted()?;
        parser.skip_blank();
        if parser.at < text.len() {
            return Err(parser.expected("an operator or the end"));
        }
        Ok(Self { text: text.to_owned(), root })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the expression is `i` alone.
    pub(crate) fn is_pass(&self) -> bool {
        self.root == Node::Pass
    }

    /// Its value in a pass.
    ///
    /// # Errors
    /// A division by zero, a shift by a number other than 0 to 63, or a number beyond 127 bits.
    pub fn value(&self, pass: u32) -> Result<i128, String> {
        self.root.value(pass)
    }
}

impl Node {
    fn value(&self, pass: u32) -> Result<i128, String> {
        let beyond = || "the numbers become too large".to_owned();
        match self {
            Self::Number(value) => Ok(*value),
            Self::Pass => Ok(pass.into()),
            Self::Negative(node) => node.value(pass)?.checked_neg().ok_or_else(beyond),
            Self::Two(operation, nodes) => {
                let (a, b) = (nodes[0].value(pass)?, nodes[1].value(pass)?);
                let divides = matches!(operation, Operation::Divide | Operation::Remainder | Operation::CeilDivide);
                if divides && b == 0 {
                    return Err("it divides by zero".to_owned());
                }
                let shift = || match u32::try_from(b) {
                    Ok(by @ 0..=63) => Ok(by),
                    _ => Err(format!("it shifts by {b}, and 0 to 63 are possible")),
                };
                match operation {
                    Operation::Add => a.checked_add(b),
                    Operation::Subtract => a.checked_sub(b),
                    Operation::Multiply => a.checked_mul(b),
                    Operation::Divide => a.checked_div(b),
                    Operation::Remainder => a.checked_rem(b),
                    Operation::ShiftLeft => a.checked_mul(1 << shift()?),
                    Operation::ShiftRight => Some(a >> shift()?),
                    Operation::Min => Some(a.min(b)),
                    Operation::Max => Some(a.max(b)),
                    Operation::CeilDivide => {
                        let rounds_up = (a > 0) == (b > 0) && a.checked_rem(b) != Some(0);
                        a.checked_div(b).map(|quotient| quotient + i128::from(rounds_up))
                    }
                }
                .ok_or_else(beyond)
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip_blank();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    fn expected(&self, what: &str) -> String {
        let found = match self.rest().chars().next() {
            Some(c) => format!("`{c}`"),
            None => "the end".to_owned(),
        };
        let position = self.text[..self.at].chars().count() + 1;
        format!("`{}`: expected {what} at character {position}, found {found}", self.text)
    }

    /// Operators of the same precedence, from left to right.
    fn chain(
        &mut self,
        operators: &[(&str, Operation)],
        operand: fn(&mut Self) -> Result<Node, String>,
    ) -> Result<Node, String> {
        let mut node = operand(self)?;
        while let Some((_, operation)) = operators.iter().find(|(sign, _)| self.take(sign)) {
            node = Node::Two(*operation, Box::new([node, operand(self)?]));
        }
        Ok(node)
    }

    fn shifted(&mut self) -> Result<Node, String> {
        self.chain(&[("<<", Operation::ShiftLeft), (">>", Operation::ShiftRight)], Self::sum)
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.chain(&[("+", Operation::Add), ("-", Operation::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Node, String> {
        let operators = [("*", Operation::Multiply), ("/", Operation::Divide), ("%", Operation::Remainder)];
        self.chain(&operators, Self::single)
    }

    fn single(&mut self) -> Result<Node, String> {
        if self.take("-") {
            return Ok(Node::Negative(Box::new(self.single()?)));
        }
        if self.take("(") {
            let node = self.shifted()?;
            return if self.take(")") { Ok(node) } else { Err(self.expected("`)`")) };
        }
        let word: &str = {
            let rest = self.rest();
            &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())]
        };
        if word == "i" {
            self.at += 1;
            return Ok(Node::Pass);
        }
        if let Some((name, operation)) = FUNCTIONS.iter().find(|(name, _)| *name == word) {
            self.at += name.len();
            if !self.take("(") {
                return Err(self.expected("`(`"));
            }
            let first = self.shifted()?;
            if !self.take(",") {
                return Err(self.expected("`,`"));
            }
            let second = self.shifted()?;
            return match self.take(")") {
                true => Ok(Node::Two(*operation, Box::new([first, second]))),
                false => Err(self.expected("`)`")),
            };
        }
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse::<u64>(),
        };
        let what = "`i`, a number, `(`, `min(`, `max(` or `ceil_div(`";
        let number = number.map_err(|_| self.expected(what))?;
        self.at += word.len();
        Ok(Node::Number(number.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, pass: u32) -> Result<i128, String> {
        Expression::parse(text).and_then(|expression| expression.value(pass))
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, pass, expected) in [
            ("i", 7, 7),
            ("2 + 3 * i - 1", 4, 13),
            ("10 - i - 1", 2, 7),
            ("256 >> i", 3, 32),
            ("1 << i + 1", 3, 16),
            ("(12 - i + 3) / 4", 1, 3),
            ("-i * -2", 5, 10),
            ("-7 / 2", 0, -3),
            ("-7 % 2", 0, -1),
            ("min(i, 3) + max(i, 3)", 9, 12),
            ("ceil_div(17 - i, 4)", 0, 5),
            ("ceil_div(16, 4)", 0, 4),
            ("ceil_div(-7, 2)", 0, -3),
            ("0xff % 16", 0, 15),
            (" ( ( i ) ) ", 3, 3),
            ("18446744073709551615", 0, u64::MAX.into()),
        ] {
            assert_eq!(value(text, pass), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, expected) in [
            ("", "`i`, a number, `(`, `min(`, `max(` or `ceil_div(` at character 1, found the end"),
            ("2 +", "at character 4, found the end"),
            ("j", "at character 1, found `j`"),
            ("ii", "found `i`"),
            ("2 i", "expected an operator or the end at character 3, found `i`"),
            ("(i", "expected `)` at character 3, found the end"),
            ("min(i)", "expected `,` at character 6, found `)`"),
            ("1.5", "expected an operator or the end at character 2"),
            ("18446744073709551616", "at character 1"),
            ("é", "found `é`"),
        ] {
            let error = value(text, 0).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(value(&"(".repeat(201), 0).unwrap_err().contains("200 characters"));
        assert!(value(&"-".repeat(200), 0).is_err());
        for (text, expected) in [
            ("4 / (i - 3)", "divides by zero"),
            ("4 % 0", "divides by zero"),
            ("ceil_div(1, i - 3)", "divides by zero"),
            ("1 << 64", "shifts by 64"),
            ("1 >> -1", "shifts by -1"),
            ("1 << 63 << 63 << 1", "too large"),
        ] {
            let error = value(text, 3).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
