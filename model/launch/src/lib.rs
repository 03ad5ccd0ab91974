//! Launch manifests: which kernel runs, on which buffers, with which grid, and which results are expected.
//!
//! [`Manifest::load`] reads a TOML file and checks all of it: keys, types, ranges, names, sizes of buffer files. The
//! result can be run without further checks. The bytes of a buffer are only made on request
//! ([`Buffer::initial_bytes`]), so a manifest with a hostile size costs nothing but its error message. The page
//! `docs/launch.md` has the format.

mod argument;
mod assembly;
mod buffer;
mod check;
mod data;
pub mod document;
mod error;
mod expression;
mod fault;
mod init;
mod manifest;
pub mod random;
mod read;
mod types;
mod values;

pub use argument::{Address, Argument, Layout};
pub use buffer::{Buffer, BufferId, Symbol};
pub use check::{Check, CheckRow, Mismatch};
pub use error::{ManifestError, Origin};
pub use expression::Expression;
pub use fault::{Cause, ExpectedFault};
pub use init::Init;
pub use manifest::{Assembly, Launch, Loop, Manifest, Repetition, Replay, Source};
pub use read::{PRINTF_SIZES, read_bounded, read_text};
pub use types::{Scalar, Type};
