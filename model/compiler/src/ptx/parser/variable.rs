//! Parses variables: parameters, declarations, initial values.

use super::{Linkage, MAX_ALIGN, MAX_ELEMENTS, Parser, Result, type_size};
use crate::diagnostic::{Error, Feature};
use crate::ptx::ast::*;
use crate::ptx::lexer::Token;

impl<'a> Parser<'a> {
    /// Parses parameters in parentheses. Parameters that are registers, as in device functions of old code, are noted in `refused`.
    pub(super) fn params(&mut self, refused: &mut Vec<Word<'a>>) -> Result<Vec<Variable<'a>>> {
        self.expect('(')?;
        let mut params = Vec::new();
        while !self.take(')')? {
            self.count()?;
            if !params.is_empty() {
                self.expect(',')?;
            }
            if self.token == Token::Dot("reg") {
                refused.push(self.dot("`.reg`")?);
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

    pub(super) fn variables(&mut self, linkage: &Linkage, out: &mut Vec<Variable<'a>>) -> Result<()> {
        self.variables_until(linkage, out, false)?;
        self.expect(';')
    }

    /// Parses `.space .align n .type name[dims] = init, name ...`; in a parameter list, one name only.
    fn variables_until(&mut self, linkage: &Linkage, out: &mut Vec<Variable<'a>>, param: bool) -> Result<()> {
        let space = match self.token {
            Token::Dot("global") => Space::Global,
            Token::Dot("const") => Space::Const,
            Token::Dot("shared") => Space::Shared,
            Token::Dot("local") => Space::Local,
            Token::Dot("param") => Space::Param,
            Token::Dot("tex") => {
                let message = "references to textures are outside of the subset: use objects";
                return Err(Error::lacks(self.span, Feature::Textures, message));
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
                Token::Dot("attribute") => self.attributes()?,
                _ => break self.dot("a type")?,
            }
        };
        let (width, ty) = match ty.text {
            "v2" => (2, self.dot("a type")?),
            "v4" => (4, self.dot("a type")?),
            _ => (1, ty),
        };
        // `.param .u64 .ptr .global .align 4 name`: the target of the pointer does not matter here.
        if self.token == Token::Dot("ptr") {
            self.advance()?;
            while matches!(self.token, Token::Dot(_)) {
                if self.dot("a word")?.text == "align" {
                    self.int_up_to("the alignment", MAX_ALIGN)?;
                }
            }
        }
        // A type outside of the subset is refused where the variable is used.
        let known = type_size(ty.text);
        let size = known.unwrap_or(1);
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
            if known.is_none() {
                self.skip_initialiser()?;
            } else if self.take('=')? {
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

    /// Skips `.attribute(.managed)` and similar attributes. Managed memory is global memory here, which host and device see alike.
    fn attributes(&mut self) -> Result<()> {
        self.advance()?;
        self.expect('(')?;
        while !self.take(')')? {
            if !matches!(self.token, Token::Dot(_) | Token::Int(_) | Token::Sign(',' | '(')) {
                return self.fail("an attribute such as `.managed`, or `)`");
            }
            // `.unified(a, b)`: a number of 128 bits that identifies the variable to the linker.
            if self.advance()? == Token::Sign('(') {
                while !self.take(')')? {
                    self.int("a number")?;
                    self.take(',')?;
                }
            }
        }
        Ok(())
    }

    /// Skips the initial value of a variable of unknown type, up to the `,` or `;` after it.
    fn skip_initialiser(&mut self) -> Result<()> {
        if !self.take('=')? {
            return Ok(());
        }
        let mut depth = 0u32;
        loop {
            match self.token {
                Token::End => return self.fail("`;`"),
                Token::Sign(',' | ';' | ')') if depth == 0 => return Ok(()),
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance()?;
        }
    }

    /// Parses initial values, which are in braces for arrays. Inner braces begin at a multiple of the inner dimensions.
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
                if *index > start {
                    return Err(Error::new(self.last, "there are more values in these braces than elements"));
                }
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

    /// Parses `+n` or `-n`; 0 if there is neither.
    pub(super) fn offset(&mut self) -> Result<i64> {
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
}
