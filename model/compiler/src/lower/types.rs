//! Types and modifiers of PTX instructions.

use crate::diagnostic::{Error, Feature, Span};
use crate::ptx::ast::{Instruction, Word};

pub type Result<T> = std::result::Result<T, Error>;

/// What the bits of a type mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
}

/// A type of PTX other than `.pred`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty {
    pub kind: Kind,
    pub bits: u32,
}

impl Ty {
    pub const fn signed(self) -> bool {
        matches!(self.kind, Kind::Signed)
    }

    pub const fn float(self) -> bool {
        matches!(self.kind, Kind::Float)
    }

    pub const fn bytes(self) -> u32 {
        self.bits / 8
    }

    /// Parses the name of a type, without its dot.
    pub fn of(text: &str) -> Option<Self> {
        let (kind, bits) = text.split_at_checked(1)?;
        let kind = match kind {
            "b" => Kind::Bits,
            "u" => Kind::Unsigned,
            "s" => Kind::Signed,
            "f" => Kind::Float,
            _ => return None,
        };
        let bits = match bits {
            "8" if kind != Kind::Float => 8,
            "16" if kind != Kind::Float => 16,
            "32" => 32,
            "64" => 64,
            _ => return None,
        };
        Some(Self { kind, bits })
    }
}

/// Whether a word names a type, supported or not.
pub fn names_type(text: &str) -> bool {
    let digits = text.trim_start_matches(['b', 'u', 's', 'f', 'e', 'm', 't', 'x']);
    text == "pred"
        || Ty::of(text).is_some()
        || (digits != text && digits.starts_with(|c: char| c.is_ascii_digit()) && !text.starts_with("sm_"))
}

/// The error for a type that is outside of the subset.
pub fn refused_type(text: &str, span: Span) -> Error {
    let (feature, message) = match text {
        "f64" => (Feature::DoublePrecision, "this form in double precision is outside of the subset"),
        "f16" | "f16x2" => (Feature::HalfPrecision, "this form in half precision is outside of the subset"),
        "bf16" | "bf16x2" | "tf32" => (Feature::HalfPrecision, "bfloat16 and tf32 are outside of the subset"),
        "b128" | "u128" | "s128" => (Feature::WideTypes, "128-bit operands are outside of the subset"),
        "texref" | "samplerref" => (Feature::Textures, "references to textures are outside of the subset: use objects"),
        "surfref" => (Feature::Surfaces, "references to surfaces are outside of the subset: use objects"),
        _ => (Feature::Other, "this type is outside of the subset"),
    };
    Error::lacks(span, feature, message)
}

/// The modifiers of an instruction; each of them must be taken before [`Mods::finish`] is called.
pub struct Mods<'i, 'a> {
    inst: &'i Instruction<'a>,
    taken: u32,
}

impl<'i, 'a> Mods<'i, 'a> {
    pub fn new(inst: &'i Instruction<'a>) -> Self {
        Self { inst, taken: 0 }
    }

    fn free(&self) -> impl Iterator<Item = (usize, Word<'a>)> + use<'i, 'a> {
        let taken = self.taken;
        let inst = self.inst;
        inst.modifiers.iter().copied().enumerate().filter(move |&(i, _)| taken & 1 << i == 0)
    }

    /// Takes a modifier if it is there.
    pub fn flag(&mut self, name: &str) -> bool {
        self.one_of(&[name]).is_some()
    }

    /// Takes the first modifier that is one of `names`.
    pub fn one_of(&mut self, names: &[&str]) -> Option<&'a str> {
        let (i, word) = self.free().find(|(_, w)| names.contains(&w.text))?;
        self.taken |= 1 << i;
        Some(word.text)
    }

    /// Takes a modifier that must be there.
    pub fn need(&mut self, what: &str, names: &[&str]) -> Result<&'a str> {
        match self.one_of(names) {
            Some(name) => Ok(name),
            None => Err(Error::new(
                self.span(),
                format!("`{}` needs {what}: one of .{}", self.inst.opcode.text, names.join(" .")),
            )),
        }
    }

    /// Takes the first type, which must be one of the subset.
    pub fn ty(&mut self) -> Result<Ty> {
        let Some((i, word)) = self.free().find(|(_, w)| names_type(w.text)) else {
            return Err(Error::new(self.span(), format!("`{}` needs a type", self.inst.opcode.text)));
        };
        self.taken |= 1 << i;
        Ty::of(word.text).ok_or_else(|| refused_type(word.text, word.span))
    }

    /// Takes the first type, which must be one of these names, written as in PTX.
    pub fn ty_of(&mut self, names: &[&str]) -> Result<Ty> {
        let Some((_, word)) = self.free().find(|(_, w)| names_type(w.text)) else {
            return Err(Error::new(self.span(), format!("`{}` needs a type", self.inst.opcode.text)));
        };
        if !names.contains(&word.text) {
            return Err(match Ty::of(word.text) {
                Some(ty) if ty != (Ty { kind: Kind::Float, bits: 64 }) => {
                    let message =
                        format!("`{}` of type .{} is outside of the subset", self.inst.opcode.text, word.text);
                    Error::new(word.span, message)
                }
                _ => refused_type(word.text, word.span),
            });
        }
        self.ty()
    }

    /// The source from the opcode to the last modifier.
    pub fn span(&self) -> Span {
        let last = self.inst.modifiers.last().unwrap_or(&self.inst.opcode);
        self.inst.opcode.span.to(last.span)
    }

    /// Returns an error for the first modifier that was not taken.
    pub fn finish(self) -> Result<()> {
        match self.free().next() {
            None => Ok(()),
            Some((_, word)) => {
                if names_type(word.text) && Ty::of(word.text).is_none() {
                    return Err(refused_type(word.text, word.span));
                }
                let message = format!("`.{}` of `{}` is outside of the subset", word.text, self.inst.opcode.text);
                Err(Error::new(word.span, message))
            }
        }
    }
}
