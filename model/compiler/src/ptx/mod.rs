//! PTX text to a tree: lexer, tree, parser. Knows the grammar, not the meaning of the instructions.

pub mod ast;
mod lexer;
mod parser;

pub use parser::parse;
pub(crate) use parser::type_size;
