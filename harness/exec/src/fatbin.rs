//! Fat binaries: the PTX in them.
//!
//! A fat binary is a container: its magic number, its version, the size of this header and of all that follows (4, 2, 2 and 8 bytes). It has entries,
//! each with a header: kind and version (2 bytes each), size of the header (4), size of the data after it (8), size of the data if it is compressed
//! (4), the processor's number (at 28), flags (at 40) and the size of the text (at 56). Kind 1 is PTX. One flag means that the data is a block of
//! LZ4, another one that it is a frame of zstd. NVIDIA documents none of this; it was inferred from files.

use std::io::Read;

/// Magic number of a container.
const MAGIC: u32 = 0xba55_ed50;
/// An entry that is PTX.
const PTX: u16 = 1;
/// The data is a block of LZ4.
const LZ4: u64 = 0x2000;
/// The data is a frame of zstd.
const ZSTD: u64 = 0x8000;
/// Maximum length of a decompressed text, in bytes.
const LONGEST: u64 = 1 << 28;

/// PTX of a fat binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ptx {
    /// The processor that it is made for: 75 is `sm_75`.
    pub processor: u32,
    /// Its text.
    pub text: String,
}

/// Why a fat binary cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FatbinError {
    /// It does not begin with the magic number.
    #[error("it does not begin as a fat binary does")]
    Magic,
    /// It is shorter than its headers state.
    #[error("it ends before it should: a part of {wanted} bytes begins at byte {at} of {size}")]
    Short {
        /// Offset of the part.
        at: usize,
        /// Size of the part.
        wanted: u64,
        /// Size of all bytes.
        size: usize,
    },
    /// The PTX in it cannot be decompressed.
    #[error("its PTX cannot be decompressed: {0}")]
    Compressed(String),
    /// The PTX in it is no text.
    #[error("its PTX is no text")]
    Text,
}

/// Bytes of a container; reading beyond their end is an error.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn part(&self, at: usize, wanted: u64) -> Result<&'a [u8], FatbinError> {
        let short = FatbinError::Short { at, wanted, size: self.0.len() };
        let end = usize::try_from(wanted).ok().and_then(|wanted| at.checked_add(wanted)).ok_or(short.clone())?;
        self.0.get(at..end).ok_or(short)
    }

    fn number<const N: usize>(&self, at: usize) -> Result<u64, FatbinError> {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(self.part(at, N as u64)?);
        Ok(u64::from_le_bytes(bytes))
    }
}

/// The PTX of a fat binary, in its order. Other entries, which hold machine code for processors, are skipped.
///
/// # Errors
/// When it is no fat binary, or its PTX cannot be read.
pub fn ptx(fat: &[u8]) -> Result<Vec<Ptx>, FatbinError> {
    let bytes = Bytes(fat);
    if fat.len() < 16 || bytes.number::<4>(0)? != u64::from(MAGIC) {
        return Err(FatbinError::Magic);
    }
    let head = bytes.number::<2>(6)? as usize;
    let size = bytes.number::<8>(8)?;
    let bytes = Bytes(bytes.part(0, size.saturating_add(head as u64))?);
    let mut found = Vec::new();
    let mut at = head;
    while at < bytes.0.len() {
        let head = bytes.number::<4>(at + 4)?;
        let size = bytes.number::<8>(at + 8)?;
        // Without this minimum, an entry of size 0 would make the loop endless.
        bytes.part(at, head.max(16))?;
        let data = bytes.part(at + head as usize, size)?;
        if bytes.number::<2>(at)? == u64::from(PTX) {
            let [compressed, processor] = [bytes.number::<4>(at + 16)?, bytes.number::<4>(at + 28)?];
            let [flags, length] = [bytes.number::<8>(at + 40)?, bytes.number::<8>(at + 56)?];
            let text = unpacked(data, compressed, flags, length)?;
            found.push(Ptx { processor: processor as u32, text });
        }
        at += (head + size).max(16) as usize;
    }
    Ok(found)
}

fn unpacked(data: &[u8], compressed: u64, flags: u64, length: u64) -> Result<String, FatbinError> {
    let problem = |text: String| Err(FatbinError::Compressed(text));
    if flags & (LZ4 | ZSTD) != 0 && length > LONGEST {
        return problem(format!("it would have {length} bytes"));
    }
    // The compressed bytes are followed by padding.
    let packed = || data.get(..compressed as usize).unwrap_or(data);
    let mut text = if flags & ZSTD != 0 {
        let mut text = Vec::new();
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed());
        let read = decoder
            .map_err(|e| e.to_string())
            .and_then(|decoder| decoder.take(length).read_to_end(&mut text).map_err(|e| e.to_string()));
        match read {
            Ok(_) => text,
            Err(error) => return problem(error),
        }
    } else if flags & LZ4 != 0 {
        match lz4_flex::block::decompress(packed(), length as usize) {
            Ok(text) => text,
            Err(error) => return problem(error.to_string()),
        }
    } else {
        data.to_vec()
    };
    while text.last() == Some(&0) {
        text.pop();
    }
    String::from_utf8(text).map_err(|_| FatbinError::Text)
}

#[cfg(test)]
mod tests;
