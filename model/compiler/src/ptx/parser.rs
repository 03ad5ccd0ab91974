//! Builds the tree from tokens. A recursive-descent parser with limits on everything that a source could make large.

use super::ast::*;
mod body;
mod variable;

use super::lexer::{Lexer, Token};
use crate::diagnostic::{Error, Span};

/// Maximum length of the source in bytes.
const MAX_SOURCE: usize = 32 << 20;
/// Maximum nesting of braces.
const MAX_DEPTH: u32 = 64;
/// Maximum number of statements, variables and declarations of a module together.
const MAX_ITEMS: u32 = 2_000_000;
/// Maximum number of elements of a vector, list or table of labels.
const MAX_LIST: usize = 4096;
/// Maximum alignment of a variable in bytes.
const MAX_ALIGN: u64 = 1 << 16;
/// Maximum number of elements of a variable.
const MAX_ELEMENTS: u64 = 1 << 32;

type Result<T> = std::result::Result<T, Error>;

/// Parses a PTX module.
///
/// # Errors
/// The first place that is not PTX, or that exceeds a limit.
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

/// The linkage directives before a variable or function.
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
        let mut module = Module { variables: Vec::new(), functions: Vec::new(), aliases: Vec::new() };
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
                Token::Dot("alias") => {
                    self.advance()?;
                    let name = self.name("another name of a function")?;
                    self.expect(',')?;
                    let function = self.name("the name of a function")?;
                    self.expect(';')?;
                    module.aliases.push((name, function));
                }
                Token::Dot("callprototype" | "branchtargets" | "calltargets") => {
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
        // PTX 3.0 is the first version with 64-bit generic addresses as nvcc uses them; 9.x is the current one.
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
                // Newer targets are accepted; instructions that sm_75 lacks are refused where they are used.
            } else {
                return Err(Error::new(target.span, "this target is not known; the subset is that of sm_75"));
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

    /// Skips a section of debugging information: braces must be balanced, the rest is ignored.
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

    /// Continues after the brace that closes the one at `brace`.
    fn skip_body(&mut self, brace: Span) -> Result<()> {
        self.lexer.go_to(brace.start as usize);
        let mut depth = 0u32;
        loop {
            let (token, span) = self.lexer.next_that_is_one();
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth -= 1,
                Token::End => {
                    (self.token, self.span) = (token, span);
                    return self.fail("`}`");
                }
                _ => {}
            }
            if depth == 0 {
                (self.token, self.span) = self.lexer.next()?;
                self.last = span;
                return Ok(());
            }
        }
    }

    fn function(&mut self) -> Result<Function<'a>> {
        let start = self.span;
        let entry = self.advance()? == Token::Dot("entry");
        let mut refused = Vec::new();
        let results = if !entry && self.is('(') { self.params(&mut refused)? } else { Vec::new() };
        let name = self.name("the name of the function")?;
        let params = if self.is('(') { self.params(&mut refused)? } else { Vec::new() };
        let mut function = Function {
            entry,
            name,
            params,
            results,
            max_threads: None,
            exact_threads: false,
            refused,
            body: None,
            broken: None,
            span: start,
        };
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
                    let brace = self.span;
                    match self.block(0) {
                        Ok(body) => function.body = Some(body),
                        // The error affects only this function, if the end of its body can be found.
                        Err(error) => {
                            self.skip_body(brace).map_err(|_| error.clone())?;
                            function.broken = Some(error);
                        }
                    }
                    function.span = start.to(self.last);
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
}

/// Size in bytes of a variable's or register's type; `None` for predicates and for types that are not plain.
pub(crate) fn type_size(ty: &str) -> Option<u64> {
    Some(match ty {
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" => 4,
        "b64" | "u64" | "s64" | "f64" => 8,
        _ => return None,
    })
}
