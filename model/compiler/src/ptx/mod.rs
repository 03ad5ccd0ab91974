//! Parses PTX text into a syntax tree: lexer, tree, parser. These modules know the grammar, but not the meaning of the
//! instructions.

pub mod ast;
mod lexer;
mod parser;

pub use parser::parse;
pub(crate) use parser::type_size;
