//! Tokens to tree. Recursive descent with bounds on everything that a source could make large.

use super::ast::*;
use super::lexer::{Lexer, Token};
use crate::diagnostic::{Error, Span};

/// Longest source in bytes.
const MAX_SOURCE: usize = 32 << 20;
/// Deepest nesting of braces.
const MAX_DEPTH: u32 = 64;
/// Most statements, variables and declarations of a module together.
const MAX_ITEMS: u32 = 2_000_000;
/// Most elements of a vector, list or table of labels.
const MAX_LIST: usize = 4096;
/// Largest alignment of a variable in bytes.
const MAX_ALIGN: u64 = 1 << 16;
/// Most elements of a variable.
const MAX_ELEMENTS: u64 = 1 << 32;

type Result<T> = std::result::Result<T, Error>;

/// Parses a PTX module.
///
/// # Errors
/// The first place that is not PTX, or that passes a bound.
pub fn parse(source: &str) -> Result<Module<'_>> {
    if source.len() > MAX_SOURCE {
        return Err(Error::new(
            Span::default(),
            format!("the source has {} bytes; at most {MAX_SOURCE} are read", source.len()),
        ));
    }
    let mut lexer = Lexer::new(source);
    let (token, span) = lexer.next()?;
    Parser { source, lexer, token, span, last: Span::default(), items: 0 }.module()
}

struct Parser<'a> {
    source: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    span: Span,
    last: Span,
    items: u32,
}

/// What stands in front of a variable or function.
#[derive(Default)]
struct Linkage {
    external: bool,
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<Token<'a>> {
        let token = self.token;
        self.last = self.span;
        (self.token, self.span) = self.lexer.next()?;
        Ok(token)
    }

    fn text(&self, span: Span) -> &'a str {
        &self.source[span.start as usize..span.end as usize]
    }

    fn fail<T>(&self, expected: &str) -> Result<T> {
        let found = match self.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text(self.span).chars().take(40).collect::<String>()),
        };
        Err(Error::new(self.span, format!("expected {expected}, found {found}")))
    }

    fn is(&self, sign: char) -> bool {
        self.token == Token::Sign(sign)
    }

    fn take(&mut self, sign: char) -> Result<bool> {
        let yes = self.is(sign);
        if yes {
            self.advance()?;
        }
        Ok(yes)
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        if self.take(sign)? { Ok(()) } else { self.fail(&format!("`{sign}`")) }
    }

    fn name(&mut self, what: &str) -> Result<Word<'a>> {
        let Token::Name(text) = self.token else { return self.fail(what) };
        let word = Word { text, span: self.span };
        self.advance()?;
        Ok(word)
    }

    fn dot(&mut self, what: &str) -> Result<Word<'a>> {
        let Token::Dot(text) = self.token else { return self.fail(what) };
        let word = Word { text, span: self.span };
        self.advance()?;
        Ok(word)
    }

    fn int(&mut self, what: &str) -> Result<u64> {
        let Token::Int(value) = self.token else { return self.fail(what) };
        self.advance()?;
        Ok(value)
    }

    fn int_up_to(&mut self, what: &str, max: u64) -> Result<u64> {
        let span = self.span;
        let value = self.int(what)?;
        if value > max {
            return Err(Error::new(span, format!("{what} is {value}; at most {max} are possible")));
        }
        Ok(value)
    }

    fn count(&mut self) -> Result<()> {
        self.items += 1;
        if self.items > MAX_ITEMS {
            return Err(Error::new(self.span, format!("the module has more than {MAX_ITEMS} statements")));
        }
        Ok(())
    }

    fn module(mut self) -> Result<Module<'a>> {
        let mut module = Module { variables: Vec::new(), functions: Vec::new() };
        self.header()?;
        loop {
            self.count()?;
            let mut linkage = Linkage::default();
            loop {
                match self.token {
                    Token::Dot("extern") => linkage.external = true,
                    Token::Dot("visible" | "weak" | "common") => {}
                    _ => break,
                }
                self.advance()?;
            }
            match self.token {
                Token::End => return Ok(module),
                Token::Sign(';') => _ = self.advance()?,
                Token::Dot("file" | "loc") => self.skip_line()?,
                Token::Dot("section") => self.section()?,
                Token::Dot("pragma") => self.pragma()?,
                Token::Dot("entry" | "func") => {
                    let function = self.function()?;
                    module.functions.push(function);
                }
                Token::Dot("alias" | "callprototype" | "branchtargets" | "calltargets") => {
                    return self.fail("a kernel or a variable (this directive is outside of the subset)");
                }
                Token::Dot("version" | "target" | "address_size") => {
                    return self.fail("these directives once, at the start of the file");
                }
                Token::Dot(_) => self.variables(&linkage, &mut module.variables)?,
                _ => return self.fail("a directive, a kernel or a variable"),
            }
        }
    }

    fn header(&mut self) -> Result<()> {
        while matches!(self.token, Token::Dot("file" | "loc")) {
            self.skip_line()?;
        }
        if self.token != Token::Dot("version") {
            return self.fail("`.version` (is this a PTX file?)");
        }
        self.advance()?;
        let span = self.span;
        let version = match self.advance()? {
            Token::F64(bits) => f64::from_bits(bits),
            Token::Int(value) => value as f64,
            _ => 0.0,
        };
        // PTX 3.0 is the first with 64-bit generic addressing as nvcc uses it; 9.x is today's.
        if !(3.0..10.0).contains(&version) {
            return Err(Error::new(span, "this version of PTX is not known; 3.0 to 9.x are"));
        }
        if self.token != Token::Dot("target") {
            return self.fail("`.target`");
        }
        self.advance()?;
        loop {
            let target = self.name("a target such as sm_75")?;
            if target.text == "texmode_unified" || target.text == "debug" || target.text.starts_with("sm_") {
                // Newer targets are read too: what they have that sm_75 lacks is refused where it is used.
            } else {
                return Err(Error::new(target.span, "this target is not known; sm_75 is what the subset is made for"));
            }
            if !self.take(',')? {
                break;
            }
        }
        if self.token == Token::Dot("address_size") {
            self.advance()?;
            let span = self.span;
            if self.int("the size of an address")? != 64 {
                return Err(Error::new(span, "addresses of 64 bits only: compile with -m64"));
            }
            return Ok(());
        }
        self.fail("`.address_size 64`")
    }

    fn skip_line(&mut self) -> Result<()> {
        self.lexer.skip_line();
        self.advance()?;
        Ok(())
    }

    fn pragma(&mut self) -> Result<()> {
        self.advance()?;
        while matches!(self.token, Token::Text(_) | Token::Sign(',')) {
            self.advance()?;
        }
        self.expect(';')
    }

    /// Debugging information: braces are balanced, the rest is not looked at.
    fn section(&mut self) -> Result<()> {
        while !self.is('{') {
            if self.token == Token::End {
                return self.fail("`{`");
            }
            self.advance()?;
        }
        let mut depth = 0u32;
        loop {
            match self.advance()? {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth -= 1,
                Token::End => return self.fail("`}`"),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn function(&mut self) -> Result<Function<'a>> {
        let entry = self.advance()? == Token::Dot("entry");
        if !entry && self.is('(') {
            self.params()?;
        }
        let name = self.name("the name of the function")?;
        let params = if self.is('(') { self.params()? } else { Vec::new() };
        let mut function =
            Function { entry, name, params, max_threads: None, exact_threads: false, refused: Vec::new(), body: None };
        loop {
            match self.token {
                Token::Dot("maxntid" | "reqntid") => {
                    function.exact_threads |= self.token == Token::Dot("reqntid");
                    self.advance()?;
                    let mut dims = [1; 3];
                    for (i, dim) in dims.iter_mut().enumerate() {
                        if i > 0 && !self.take(',')? {
                            break;
                        }
                        *dim = self.int_up_to("the number of threads", 1024)? as u32;
                    }
                    function.max_threads = Some(dims);
                }
                Token::Dot("minnctapersm" | "maxnctapersm" | "maxnreg") => {
                    self.advance()?;
                    self.int("a number")?;
                }
                Token::Dot("pragma") => self.pragma()?,
                Token::Dot("noreturn") => _ = self.advance()?,
                Token::Dot(
                    text @ ("explicitcluster" | "reqnctapercluster" | "maxclusterrank" | "blocksareclusters"),
                ) => {
                    function.refused.push(Word { text, span: self.span });
                    self.advance()?;
                    while matches!(self.token, Token::Int(_) | Token::Sign(',')) {
                        self.advance()?;
                    }
                }
                Token::Sign('{') => {
                    function.body = Some(self.block(0)?);
                    return Ok(function);
                }
                Token::Sign(';') => {
                    self.advance()?;
                    return Ok(function);
                }
                _ => return self.fail("a performance directive, `{` or `;`"),
            }
        }
    }

    fn params(&mut self) -> Result<Vec<Variable<'a>>> {
        self.expect('(')?;
        let mut params = Vec::new();
        while !self.take(')')? {
            self.count()?;
            if !params.is_empty() {
                self.expect(',')?;
            }
            if self.token == Token::Dot("reg") {
                // Only device functions of old code take registers; they are never called here.
                self.advance()?;
                let ty = self.dot("a type")?;
                let name = self.name("a name")?;
                params.push(Variable {
                    space: Space::Param,
                    name,
                    ty,
                    align: 1,
                    elements: Some(1),
                    external: false,
                    init: Vec::new(),
                });
            } else {
                let before = params.len();
                self.variables_until(&Linkage::default(), &mut params, true)?;
                debug_assert!(params.len() == before + 1);
            }
        }
        Ok(params)
    }

    fn variables(&mut self, linkage: &Linkage, out: &mut Vec<Variable<'a>>) -> Result<()> {
        self.variables_until(linkage, out, false)?;
        self.expect(';')
    }

    /// `.space .align n .type name[dims] = init, name ...`; in a parameter list, one name only.
    fn variables_until(&mut self, linkage: &Linkage, out: &mut Vec<Variable<'a>>, param: bool) -> Result<()> {
        let space = match self.token {
            Token::Dot("global") => Space::Global,
            Token::Dot("const") => Space::Const,
            Token::Dot("shared") => Space::Shared,
            Token::Dot("local") => Space::Local,
            Token::Dot("param") => Space::Param,
            Token::Dot("tex" | "texref" | "samplerref" | "surfref") => {
                return Err(Error::new(self.span, "textures and surfaces are outside of the subset"));
            }
            _ => return self.fail("a directive"),
        };
        self.advance()?;
        let mut align = None;
        let ty = loop {
            match self.token {
                Token::Dot("align") => {
                    self.advance()?;
                    let span = self.span;
                    let n = self.int_up_to("the alignment", MAX_ALIGN)?;
                    if !n.is_power_of_two() {
                        return Err(Error::new(span, format!("an alignment is a power of two, not {n}")));
                    }
                    align = Some(n as u32);
                }
                Token::Dot("attribute") => {
                    return Err(Error::new(self.span, "attributes (managed memory) are outside of the subset"));
                }
                _ => break self.dot("a type")?,
            }
        };
        if matches!(ty.text, "texref" | "samplerref" | "surfref") {
            return Err(Error::new(ty.span, "textures and surfaces are outside of the subset"));
        }
        let (width, ty) = match ty.text {
            "v2" => (2, self.dot("a type")?),
            "v4" => (4, self.dot("a type")?),
            _ => (1, ty),
        };
        // `.param .u64 .ptr .global .align 4 name`: what the pointer points to does not matter here.
        if self.token == Token::Dot("ptr") {
            self.advance()?;
            while matches!(self.token, Token::Dot(_)) {
                if self.dot("a word")?.text == "align" {
                    self.int_up_to("the alignment", MAX_ALIGN)?;
                }
            }
        }
        let Some(size) = type_size(ty.text) else {
            return Err(Error::new(ty.span, format!("variables of type `.{}` are outside of the subset", ty.text)));
        };
        loop {
            self.count()?;
            let name = self.name("the name of the variable")?;
            let mut dims = Vec::new();
            let mut open = false;
            while self.take('[')? {
                if self.take(']')? {
                    if !dims.is_empty() {
                        return Err(Error::new(self.last, "only the first dimension may be without a size"));
                    }
                    open = true;
                    dims.push(0);
                    continue;
                }
                dims.push(self.int_up_to("the number of elements", MAX_ELEMENTS)?);
                self.expect(']')?;
                if dims.len() > 8 {
                    return Err(Error::new(self.last, "more than 8 dimensions"));
                }
            }
            let inner = dims.iter().skip(usize::from(open)).try_fold(width, |n: u64, &d| n.checked_mul(d));
            let Some(inner) = inner.filter(|&n| n <= MAX_ELEMENTS) else {
                return Err(Error::new(name.span, format!("this variable has more than {MAX_ELEMENTS} elements")));
            };
            let mut init = Vec::new();
            if self.take('=')? {
                let mut index = 0;
                self.initialiser(&dims, width, &mut index, &mut init)?;
                if open {
                    return Err(Error::new(name.span, "an initialised array needs a size"));
                }
                if init.last().is_some_and(|last: &Init<'_>| last.index >= inner) {
                    return Err(Error::new(name.span, "there are more initial values than elements"));
                }
            }
            out.push(Variable {
                space,
                name,
                ty,
                align: align.unwrap_or(size as u32 * width as u32),
                elements: (!open).then_some(inner),
                external: linkage.external,
                init,
            });
            if param || !self.take(',')? {
                return Ok(());
            }
        }
    }

    /// Values, in braces for arrays. Inner braces begin at a multiple of the inner dimensions.
    fn initialiser(&mut self, dims: &[u64], width: u64, index: &mut u64, out: &mut Vec<Init<'a>>) -> Result<()> {
        if !self.take('{')? {
            let span = self.span;
            let value = self.init_value()?;
            self.count()?;
            out.push(Init { index: *index, value, span: span.to(self.last) });
            *index += 1;
            return Ok(());
        }
        let Some((_, inner)) = dims.split_first() else {
            if width == 1 {
                return Err(Error::new(self.last, "too many braces around these values"));
            }
            // The components of a vector.
            while !self.take('}')? {
                self.initialiser(&[], 1, index, out)?;
                if !self.take(',')? && !self.is('}') {
                    return self.fail("`,` or `}`");
                }
            }
            return Ok(());
        };
        let step = inner.iter().try_fold(width, |n, &d| n.checked_mul(d)).unwrap_or(u64::MAX).max(1);
        let mut start = *index;
        while !self.take('}')? {
            if self.is('{') {
                *index = start;
                self.initialiser(inner, width, index, out)?;
                start = start.saturating_add(step);
                *index = start;
            } else {
                self.initialiser(&[], 1, index, out)?;
                start = *index;
            }
            if *index > MAX_ELEMENTS {
                return Err(Error::new(self.last, "there are too many initial values"));
            }
            if !self.take(',')? && !self.is('}') {
                return self.fail("`,` or `}`");
            }
        }
        Ok(())
    }

    fn init_value(&mut self) -> Result<InitValue<'a>> {
        let negative = self.take('-')?;
        match self.token {
            Token::Int(value) => {
                self.advance()?;
                if self.is('(') {
                    return Err(Error::new(self.last, "masked addresses in initial values are outside of the subset"));
                }
                Ok(InitValue::Int(if negative { value.wrapping_neg() } else { value }))
            }
            Token::F32(bits) => {
                self.advance()?;
                Ok(InitValue::F32(bits ^ (u32::from(negative) << 31)))
            }
            Token::F64(bits) => {
                self.advance()?;
                Ok(InitValue::F64(bits ^ (u64::from(negative) << 63)))
            }
            Token::Name(_) if !negative => {
                let mut symbol = self.name("a symbol")?;
                let generic = symbol.text == "generic" && self.take('(')?;
                if generic {
                    symbol = self.name("a symbol")?;
                    self.expect(')')?;
                }
                Ok(InitValue::Address { symbol, offset: self.offset()?, generic })
            }
            _ => self.fail("a number or a symbol"),
        }
    }

    /// `+n` or `-n`, or nothing.
    fn offset(&mut self) -> Result<i64> {
        let negative = self.is('-');
        if !negative && !self.is('+') {
            return Ok(0);
        }
        self.advance()?;
        let negative = negative ^ self.take('-')?;
        let span = self.span;
        let n = self.int("an offset in bytes")?;
        match i64::try_from(n) {
            Ok(n) => Ok(if negative { -n } else { n }),
            Err(_) => Err(Error::new(span, "this offset does not fit into 63 bits")),
        }
    }

    fn block(&mut self, depth: u32) -> Result<Block<'a>> {
        if depth >= MAX_DEPTH {
            return Err(Error::new(self.span, format!("braces are nested more than {MAX_DEPTH} deep")));
        }
        self.expect('{')?;
        let mut block = Block::default();
        loop {
            self.count()?;
            match self.token {
                Token::Sign('}') => {
                    self.advance()?;
                    return Ok(block);
                }
                Token::Sign(';') => _ = self.advance()?,
                Token::Sign('{') => block.statements.push(Statement::Block(self.block(depth + 1)?)),
                Token::Dot("loc" | "file") => self.skip_line()?,
                Token::Dot("pragma") => self.pragma()?,
                Token::Dot("reg") => self.registers(&mut block.registers)?,
                Token::Dot("branchtargets") => {
                    self.advance()?;
                    let mut labels = vec![self.name("a label")?];
                    while self.take(',')? {
                        labels.push(self.name("a label")?);
                        if labels.len() > MAX_LIST {
                            return Err(Error::new(self.last, format!("more than {MAX_LIST} labels")));
                        }
                    }
                    self.expect(';')?;
                    block.statements.push(Statement::BranchTargets(labels));
                }
                // Belongs to an indirect call, which is refused where it stands.
                Token::Dot("callprototype" | "calltargets") => {
                    while !self.take(';')? {
                        if self.token == Token::End {
                            return self.fail("`;`");
                        }
                        self.advance()?;
                    }
                }
                Token::Dot(_) => {
                    let external = self.token == Token::Dot("extern");
                    if external {
                        self.advance()?;
                    }
                    self.variables(&Linkage { external }, &mut block.variables)?;
                }
                Token::Sign('@') | Token::Name(_) => self.label_or_instruction(&mut block.statements)?,
                _ => return self.fail("an instruction, a label, a declaration or `}`"),
            }
        }
    }

    fn registers(&mut self, out: &mut Vec<Registers<'a>>) -> Result<()> {
        self.advance()?;
        let ty = self.dot("a type")?;
        if matches!(ty.text, "v2" | "v4") {
            return Err(Error::new(ty.span, "vector registers are outside of the subset"));
        }
        loop {
            self.count()?;
            let name = self.name("the name of a register")?;
            let count = if self.take('<')? {
                let n = self.int_up_to("the number of registers", 1 << 24)?;
                self.expect('>')?;
                Some(n)
            } else {
                None
            };
            out.push(Registers { ty, name, count });
            if !self.take(',')? {
                return self.expect(';');
            }
        }
    }

    fn label_or_instruction(&mut self, out: &mut Vec<Statement<'a>>) -> Result<()> {
        let start = self.span;
        let guard = if self.take('@')? {
            let negated = self.take('!')?;
            Some((self.name("a predicate")?, negated))
        } else {
            None
        };
        let opcode = self.name("an opcode")?;
        if guard.is_none() && self.take(':')? {
            out.push(Statement::Label(opcode));
            return Ok(());
        }
        let mut modifiers = Vec::new();
        while matches!(self.token, Token::Dot(_)) {
            modifiers.push(self.dot("a modifier")?);
            if modifiers.len() > 16 {
                return Err(Error::new(self.last, "too many modifiers"));
            }
        }
        let mut operands = Vec::new();
        if !self.is(';') {
            loop {
                operands.push(self.operand(0)?);
                if operands.len() > MAX_LIST {
                    return Err(Error::new(self.last, "too many operands"));
                }
                if !self.take(',')? {
                    break;
                }
            }
        }
        self.expect(';')?;
        out.push(Statement::Instruction(Instruction { guard, opcode, modifiers, operands, span: start.to(self.last) }));
        Ok(())
    }

    fn operand(&mut self, depth: u32) -> Result<Operand<'a>> {
        let start = self.span;
        if depth > 4 {
            return Err(Error::new(start, "this operand is nested too deeply"));
        }
        let kind = match self.token {
            Token::Sign('[') => self.address()?,
            Token::Sign('{') => OperandKind::Vector(self.operands_until('}', depth)?),
            Token::Sign('(') => OperandKind::List(self.operands_until(')', depth)?),
            Token::Sign('!') => {
                self.advance()?;
                OperandKind::Not(Box::new(self.operand(depth + 1)?))
            }
            Token::Sign('-') => {
                self.advance()?;
                match self.advance()? {
                    Token::Int(value) => OperandKind::Int(value.wrapping_neg()),
                    Token::F32(bits) => OperandKind::F32(bits ^ 1 << 31),
                    Token::F64(bits) => OperandKind::F64(bits ^ 1 << 63),
                    Token::Name(name) => {
                        let kind = OperandKind::Name { name, part: None };
                        OperandKind::Negative(Box::new(Operand { kind, span: self.last }))
                    }
                    _ => return Err(Error::new(start, "expected a number behind `-`")),
                }
            }
            Token::Int(value) => {
                self.advance()?;
                OperandKind::Int(value)
            }
            Token::F32(bits) => {
                self.advance()?;
                OperandKind::F32(bits)
            }
            Token::F64(bits) => {
                self.advance()?;
                OperandKind::F64(bits)
            }
            Token::Name(name) => {
                self.advance()?;
                if self.is('+') || self.is('-') {
                    OperandKind::Sum(name, self.offset()?)
                } else if matches!(self.token, Token::Dot(_)) {
                    OperandKind::Name { name, part: Some(self.dot("a part")?.text) }
                } else {
                    OperandKind::Name { name, part: None }
                }
            }
            _ => return self.fail("an operand"),
        };
        let operand = Operand { kind, span: start.to(self.last) };
        if self.take('|')? {
            let second = self.operand(depth + 1)?;
            let span = start.to(second.span);
            return Ok(Operand { kind: OperandKind::Pair(Box::new(operand), Box::new(second)), span });
        }
        Ok(operand)
    }

    fn operands_until(&mut self, close: char, depth: u32) -> Result<Vec<Operand<'a>>> {
        self.advance()?;
        let mut out = Vec::new();
        while !self.take(close)? {
            if !out.is_empty() {
                self.expect(',')?;
            }
            out.push(self.operand(depth + 1)?);
            if out.len() > MAX_LIST {
                return Err(Error::new(self.last, "too many operands"));
            }
        }
        Ok(out)
    }

    fn address(&mut self) -> Result<OperandKind<'a>> {
        self.advance()?;
        let kind = match self.token {
            Token::Name(name) => {
                self.advance()?;
                OperandKind::Address(Some(name), self.offset()?)
            }
            Token::Int(value) => {
                self.advance()?;
                OperandKind::Address(None, value as i64)
            }
            _ => return self.fail("a register, a symbol or a number"),
        };
        if self.is(',') {
            return self.fail("`]` (texture coordinates are outside of the subset)");
        }
        self.expect(']')?;
        Ok(kind)
    }
}

/// Size in bytes of a variable's or register's type; `None` for predicates and what is not a plain type.
pub(crate) fn type_size(ty: &str) -> Option<u64> {
    Some(match ty {
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" => 4,
        "b64" | "u64" | "s64" | "f64" => 8,
        _ => return None,
    })
}
