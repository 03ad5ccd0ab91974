//! Parses the contents of a kernel's braces: declarations, labels, instructions and their operands.

use super::{Linkage, MAX_DEPTH, MAX_LIST, Parser, Result};
use crate::diagnostic::Error;
use crate::ptx::ast::*;
use crate::ptx::lexer::Token;

impl<'a> Parser<'a> {
    pub(super) fn block(&mut self, depth: u32) -> Result<Block<'a>> {
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
                // These directives are skipped: the arguments of an indirect call determine which functions it may
                // reach.
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
            Token::Sign('[') => self.address(depth)?,
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
                    _ => return Err(Error::new(start, "expected a number after `-`")),
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

    fn address(&mut self, depth: u32) -> Result<OperandKind<'a>> {
        let start = self.span;
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
            // A texture or surface with its coordinates; lowering refuses the instruction.
            let mut list = vec![Operand { kind, span: start.to(self.last) }];
            list.extend(self.operands_until(']', depth)?);
            return Ok(OperandKind::List(list));
        }
        self.expect(']')?;
        Ok(kind)
    }
}
