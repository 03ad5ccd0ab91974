//! Reading arguments, fields of structs, and expressions over the number of the pass.

use std::cell::Cell;
use std::ops::Range;

use toml::de::DeValue;

use crate::argument::ADDRESS_BYTES;
use crate::data::{read_scalar, read_type};
use crate::document::{Document, Node};
use crate::{Address, Argument, Buffer, BufferId, Expression, Layout, ManifestError, Scalar, Type};

/// Deepest nesting of structs and arrays.
const MAX_DEPTH: u32 = 16;
/// Largest alignment of a struct in bytes.
const MAX_ALIGN: i128 = 256;
/// Largest `count` of an array, and its most bytes.
const MAX_COUNT: i128 = 1 << 20;
/// The most that is spent on values: 1 for each character of an expression in each pass, and 64 for each element of an
/// array with `count`.
const MAX_CHECKS: u64 = 1 << 26;

const ARGUMENT: &str =
    "an argument: { type, value }, { type, values }, { buffer, offset }, { buffers }, { struct } or { array }";

/// How often a launch runs, as far as arguments depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passes {
    /// Once: there is no pass number.
    Once,
    /// This many times, or at most this many times.
    Many(u32),
}

/// What values may refer to when they are read.
pub(crate) struct Values<'a> {
    pub document: Document<'a>,
    pub buffers: &'a [Buffer],
    /// What is left of the manifest's budget, for values of expressions and for arrays with `count`.
    pub budget: &'a Budget,
}

/// What reading a manifest may still cost: values of expressions, elements of arrays with `count`.
pub(crate) struct Budget(Cell<u64>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MAX_CHECKS))
    }
}

impl Budget {
    /// Deducts a cost; returns false, and deducts nothing, if that much is not left.
    fn spend(&self, cost: u64) -> bool {
        let left = self.0.get().checked_sub(cost);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }
}

impl<'a> Values<'a> {
    pub fn new(document: Document<'a>, buffers: &'a [Buffer], budget: &'a Budget) -> Self {
        Self { document, buffers, budget }
    }

    /// The buffer that a node names.
    pub fn buffer(&self, node: &Node) -> Result<BufferId, ManifestError> {
        let name = self.document.string(node, "the name of a buffer")?;
        self.buffers.iter().position(|buffer| buffer.name == name).map(BufferId).ok_or_else(|| {
            let names: Vec<_> = self.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            self.document.error(node.span(), format!("there is no buffer `{name}`; there are {names}"))
        })
    }

    /// An argument, or a part of one.
    pub fn argument(&self, node: &Node, passes: Passes) -> Result<Argument, ManifestError> {
        self.part(node, passes, 0)
    }

    fn part(&self, node: &Node, passes: Passes, depth: u32) -> Result<Argument, ManifestError> {
        let document = self.document;
        if depth > MAX_DEPTH {
            return Err(document.error(node.span(), format!("structs and arrays are nested at most {MAX_DEPTH} deep")));
        }
        let has = |key: &str| node.get_ref().get(key).is_some();
        if has("struct") {
            let fields = document.fields(node, "a struct", &["struct", "align"])?;
            let list = fields.required(document, "struct")?;
            let nodes = document.array(list, "an array of the struct's fields")?;
            if nodes.is_empty() {
                return Err(document.error(list.span(), "a struct has at least one field"));
            }
            let parts = nodes.iter().map(|node| self.part(node, passes, depth + 1)).collect::<Result<_, _>>()?;
            return Ok(Argument::Struct(Layout::new(parts, self.align(fields.get("align"))?)));
        }
        if has("array") {
            let fields = document.fields(node, "an array", &["type", "array", "align", "count"])?;
            let list = fields.required(document, "array")?;
            let nodes = document.array(list, "an array of its elements")?;
            let ty = fields.get("type").map(|node| read_type(document, node)).transpose()?;
            let element = |node: &Node| match ty {
                Some(ty) => read_scalar(document, node, ty).map(Argument::Scalar),
                None => self.part(node, passes, depth + 1),
            };
            let mut parts: Vec<Argument> = nodes.iter().map(element).collect::<Result<_, _>>()?;
            let count = fields.get("count").map(|node| document.integer(node, "count", 1..MAX_COUNT + 1));
            self.check_elements(list, nodes, &parts)?;
            // The elements that are not listed are like the last one.
            if let Some(count) = count.transpose()? {
                if parts.len() as i128 > count {
                    let message = format!("the array has {count} elements, but {} are listed", parts.len());
                    return Err(document.error(list.span(), message));
                }
                let last = parts[parts.len() - 1].clone();
                if last.size() as i128 * count > MAX_COUNT || !self.budget.spend(count as u64 * last.parts() * 64) {
                    let message = format!(
                        "an array with `count` has at most {MAX_COUNT} bytes, and all of them together as many elements"
                    );
                    return Err(document.error(list.span(), message));
                }
                parts.resize(count as usize, last);
            }
            return Ok(Argument::Struct(Layout::new(parts, self.align(fields.get("align"))?)));
        }
        if has("buffers") {
            let fields = document.fields(node, "buffers in turn", &["buffers"])?;
            self.once(node, passes, "`buffers` is taken in turn, one in each pass")?;
            let list = fields.required(document, "buffers")?;
            let nodes = document.array(list, "an array of names of buffers")?;
            if nodes.is_empty() {
                return Err(document.error(list.span(), "`buffers` needs at least one name"));
            }
            return nodes.iter().map(|node| self.buffer(node)).collect::<Result<_, _>>().map(Argument::InTurn);
        }
        if has("buffer") {
            let fields = document.fields(node, "a buffer argument", &["buffer", "offset"])?;
            let buffer = self.buffer(fields.required(document, "buffer")?)?;
            return self.address(buffer, fields.get("offset"), passes);
        }
        if has("type") {
            return self.scalar(node, passes);
        }
        match node.get_ref().as_table() {
            Some(_) => Err(document.error(node.span(), format!("expected {ARGUMENT}"))),
            None => Err(document.expected(node, ARGUMENT)),
        }
    }

    /// Checks that all elements of an array have the same size and alignment.
    fn check_elements(&self, list: &Node, nodes: &[Node], parts: &[Argument]) -> Result<(), ManifestError> {
        let Some(first) = parts.first() else {
            return Err(self.document.error(list.span(), "an array has at least one element"));
        };
        let same = |part: &Argument| part.size() == first.size() && part.align() == first.align();
        match parts.iter().position(|part| !same(part)) {
            None => Ok(()),
            Some(number) => {
                let (found, wanted) = (&parts[number], first);
                let message = format!(
                    "the elements of an array are alike: this is {} of {} bytes, the first one {} of {}",
                    found.describe(),
                    found.size(),
                    wanted.describe(),
                    wanted.size()
                );
                Err(self.document.error(nodes[number].span(), message))
            }
        }
    }

    fn align(&self, node: Option<&Node>) -> Result<u64, ManifestError> {
        let Some(node) = node else { return Ok(1) };
        let align = self.document.integer(node, "align", 1..MAX_ALIGN + 1)? as u64;
        if align.is_power_of_two() {
            Ok(align)
        } else {
            Err(self.document.error(node.span(), format!("an alignment is a power of two, not {align}")))
        }
    }

    /// The address of an element of a buffer; `offset` is the number of the element.
    pub fn address(&self, buffer: BufferId, offset: Option<&Node>, passes: Passes) -> Result<Argument, ManifestError> {
        let Buffer { name, len, ty, .. } = &self.buffers[buffer.0];
        let element = ty.size() as u64;
        let Some(node) = offset else { return Ok(Argument::Address(Address { buffer, offset: 0 })) };
        if let DeValue::String(text) = node.get_ref() {
            let what = format!("the offset into `{name}`");
            let index = self.expression(node, text, passes, &what, 0..i128::from(*len) + 1)?;
            return Ok(Argument::ComputedAddress { buffer, element, index });
        }
        let offset = self.document.integer(node, &format!("the offset into `{name}`"), 0..i128::from(*len) + 1)?;
        Ok(Argument::Address(Address { buffer, offset: offset as u64 * element }))
    }

    /// A value of a type: the same in all passes, computed from the pass number, or listed for each pass.
    pub fn scalar(&self, node: &Node, passes: Passes) -> Result<Argument, ManifestError> {
        let document = self.document;
        let fields = document.fields(node, "a scalar", &["type", "value", "values"])?;
        let ty = read_type(document, fields.required(document, "type")?)?;
        match (fields.get("value"), fields.get("values")) {
            (Some(_), Some(values)) => Err(document.error(values.span(), "a scalar has `value` or `values`, not both")),
            (None, Some(values)) => self.listed(values, ty, passes),
            (_, None) => {
                let value = fields.required(document, "value")?;
                match value.get_ref() {
                    DeValue::String(_) if ty.is_float() => {
                        let message = format!(
                            "an expression of the pass number is an integer, not {}; `values` lists one for each pass",
                            ty.name()
                        );
                        Err(document.error(value.span(), message))
                    }
                    DeValue::String(text) => {
                        let (low, high) = ty.range();
                        let what = format!("a value of {}", ty.name());
                        let value = self.expression(value, text, passes, &what, low..high + 1)?;
                        Ok(Argument::Computed(ty, value))
                    }
                    _ => read_scalar(document, value, ty).map(Argument::Scalar),
                }
            }
        }
    }

    fn listed(&self, list: &Node, ty: Type, passes: Passes) -> Result<Argument, ManifestError> {
        let document = self.document;
        let nodes = document.array(list, "an array of values")?;
        self.once(list, passes, "`values` has a value for each pass")?;
        if let Passes::Many(passes) = passes
            && nodes.len() as u64 != u64::from(passes)
        {
            let message = format!("there are {passes} passes, but {} values", nodes.len());
            return Err(document.error(list.span(), message));
        }
        let values = nodes.iter().map(|node| read_scalar(document, node, ty));
        values.collect::<Result<Vec<Scalar>, _>>().map(Argument::Listed)
    }

    /// Refuses a value that changes from pass to pass where the launch has no repetition.
    fn once(&self, node: &Node, passes: Passes, what: &str) -> Result<(), ManifestError> {
        match passes {
            Passes::Many(_) => Ok(()),
            Passes::Once => {
                let message = format!("{what}: it needs `repeat` or `while_nonzero`");
                Err(self.document.error(node.span(), message))
            }
        }
    }

    /// Reads an expression and checks that its value is in the range in every pass.
    pub fn expression(
        &self,
        node: &Node,
        text: &str,
        passes: Passes,
        what: &str,
        range: Range<i128>,
    ) -> Result<Expression, ManifestError> {
        let error = |message: String| self.document.error(node.span(), message);
        let expression = Expression::parse(text).map_err(error)?;
        if passes == Passes::Once && text.trim().parse::<i128>().is_ok() {
            let number = text.trim();
            return Err(error(format!("an expression needs `repeat` or `while_nonzero`; without one write {number}")));
        }
        self.once(node, passes, &format!("`{text}` depends on the number of the pass"))?;
        let Passes::Many(passes) = passes else { return Ok(expression) };
        // For `i` itself only the last pass is checked, as its value is the largest.
        let first = if expression.is_pass() && range.contains(&0) { passes - 1 } else { 0 };
        if !self.budget.spend(u64::from(passes - first) * text.len() as u64) {
            return Err(error(format!(
                "`{text}` has a value in each of {passes} passes: too many to check all of them before the run"
            )));
        }
        for pass in first..passes {
            let value = expression.value(pass).map_err(|why| error(format!("`{text}` in pass {pass}: {why}")))?;
            if !range.contains(&value) {
                let (low, high) = (range.start, range.end - 1);
                return Err(error(format!("`{text}` is {value} in pass {pass}: {what} must be from {low} to {high}")));
            }
        }
        Ok(expression)
    }

    /// Data that is in memory before the first launch, and does not depend on the pass.
    pub fn layout(&self, node: &Node) -> Result<Layout, ManifestError> {
        match self.part(node, Passes::Once, 0)? {
            Argument::Struct(layout) => Ok(layout),
            other => Ok(Layout::new(vec![other], 1)),
        }
    }

    /// Elements some of which are addresses, which needs 64 bits: numbers, and `{ buffer, offset }`.
    pub fn addresses(&self, nodes: &[Node], ty: Type) -> Result<Layout, ManifestError> {
        let element = |node: &Node| match node.get_ref() {
            DeValue::Table(_) if ty.size() as u64 != ADDRESS_BYTES || ty.is_float() => {
                let message = format!("an address is a value of u64, not of {}", ty.name());
                Err(self.document.error(node.span(), message))
            }
            DeValue::Table(_) => {
                let fields = self.document.fields(node, "an address", &["buffer", "offset"])?;
                let buffer = self.buffer(fields.required(self.document, "buffer")?)?;
                self.address(buffer, fields.get("offset"), Passes::Once)
            }
            _ => read_scalar(self.document, node, ty).map(Argument::Scalar),
        };
        Ok(Layout::new(nodes.iter().map(element).collect::<Result<_, _>>()?, 1))
    }
}
