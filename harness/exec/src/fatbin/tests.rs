use super::*;
use proptest::prelude::*;

const TEXT: &str =
    ".version 9.0\n.target sm_75\n.address_size 64\n// a text that repeats itself, a text that repeats itself\n";

/// An entry of PTX.
fn entry(processor: u32, data: &[u8], compressed: usize, flags: u64, length: usize) -> Vec<u8> {
    let mut padded = data.to_vec();
    padded.resize(data.len().next_multiple_of(8), 0);
    let mut bytes = vec![0; 64];
    bytes[0..2].copy_from_slice(&PTX.to_le_bytes());
    bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
    bytes[8..16].copy_from_slice(&(padded.len() as u64).to_le_bytes());
    bytes[16..20].copy_from_slice(&(compressed as u32).to_le_bytes());
    bytes[28..32].copy_from_slice(&processor.to_le_bytes());
    bytes[40..48].copy_from_slice(&flags.to_le_bytes());
    bytes[56..64].copy_from_slice(&(length as u64).to_le_bytes());
    bytes.extend(padded);
    bytes
}

fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    let mut bytes = MAGIC.to_le_bytes().to_vec();
    bytes.extend(1u16.to_le_bytes());
    bytes.extend(16u16.to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

fn all_kinds() -> Vec<u8> {
    let lz4 = lz4_flex::block::compress(TEXT.as_bytes());
    let zstd = ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    // Machine code for a processor, which is skipped.
    let mut other = entry(75, b"not a text \xff", 0, 0, 0);
    other[0] = 2;
    container(&[
        other,
        entry(52, TEXT.as_bytes(), 0, 0x11, 0),
        entry(70, &lz4, lz4.len(), 0x2011, TEXT.len()),
        entry(75, &zstd, zstd.len(), 0x8011, TEXT.len()),
    ])
}

#[test]
fn ptx_is_read_as_it_is_and_compressed() {
    let found = ptx(&all_kinds()).unwrap();
    assert_eq!(found.iter().map(|ptx| ptx.processor).collect::<Vec<_>>(), [52, 70, 75]);
    assert!(found.iter().all(|ptx| ptx.text == TEXT), "{found:?}");
    assert_eq!(ptx(&container(&[])).unwrap(), []);
}

#[test]
fn what_is_wrong_is_said() {
    assert_eq!(ptx(b"\x7fELF and so on, long enough"), Err(FatbinError::Magic));
    assert_eq!(ptx(&[]), Err(FatbinError::Magic));
    let whole = all_kinds();
    let short = ptx(&whole[..whole.len() - 1]).unwrap_err();
    assert!(matches!(short, FatbinError::Short { .. }), "{short:?}");
    let broken = container(&[entry(75, b"no frame of zstd", 16, 0x8011, 100)]);
    assert!(matches!(ptx(&broken), Err(FatbinError::Compressed(_))));
    let broken = container(&[entry(75, b"\xf0", 1, 0x2011, 100)]);
    assert!(matches!(ptx(&broken), Err(FatbinError::Compressed(_))));
    let endless = container(&[entry(75, b"\x10a", 2, 0x2011, usize::MAX)]);
    assert!(matches!(ptx(&endless), Err(FatbinError::Compressed(text)) if text.contains("18446744073709551615 bytes")));
    assert_eq!(ptx(&container(&[entry(75, b"\xff\xfe", 0, 0x11, 0)])), Err(FatbinError::Text));
}

proptest! {
    /// Whatever a container holds, it gives a result or an error, quickly and with little memory.
    #[test]
    fn no_container_makes_it_fail(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = all_kinds();
        for (place, value) in changes {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        let _ = ptx(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        let _ = ptx(&bytes);
    }
}
