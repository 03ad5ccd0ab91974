//! Comparison of results with what is expected.

use std::fs;

use gpurf_launch::{Buffer, BufferId, Check, CheckRow, Init, ManifestError, Mismatch, Origin, Type};

fn row(ty: Type, expected: &[u8], actual: &[u8], rel: Option<f64>, abs: Option<f64>) -> CheckRow {
    evaluate(ty, (expected.len() / ty.size()) as u64, expected, actual, rel, abs).unwrap()
}

fn evaluate(
    ty: Type,
    len: u64,
    expected: &[u8],
    actual: &[u8],
    rel: Option<f64>,
    abs: Option<f64>,
) -> Result<CheckRow, ManifestError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.bin");
    fs::write(&path, expected).unwrap();
    let buffer = Buffer {
        name: "y".into(),
        ty,
        len,
        init: Init::Zero,
        output: true,
        address: None,
        symbol: None,
        origin: Origin::default(),
    };
    Check { buffer: BufferId(0), expected: path, origin: Origin::default(), rel, abs }.evaluate(&buffer, actual)
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn without_tolerance_the_bytes_are_equal() {
    let equal = row(Type::F32, &f32s(&[1.0, f32::NAN]), &f32s(&[1.0, f32::NAN]), None, None);
    assert!(equal.ok);
    assert_eq!((equal.max_abs, equal.max_rel, equal.mismatches), (0.0, 0.0, 0));
    let zeros = row(Type::F32, &f32s(&[1.0, 0.0]), &f32s(&[1.0, -0.0]), None, None);
    assert!(!zeros.ok);
    let mismatch = Mismatch { index: 1, expected: "0.0".into(), actual: "-0.0".into() };
    assert_eq!((zeros.mismatches, zeros.first_mismatch), (1, Some(mismatch)));
    let bytes = row(Type::U8, &[1, 2, 3], &[1, 5, 3], None, None);
    assert_eq!((bytes.ok, bytes.max_abs, bytes.max_rel), (false, 3.0, 3.0 / 5.0));
}

#[test]
fn either_tolerance_is_enough() {
    let (expected, actual) = (f32s(&[1000.0, 0.001]), f32s(&[1001.0, 0.002]));
    let check = |rel, abs| row(Type::F32, &expected, &actual, rel, abs);
    assert_eq!(check(Some(1e-2), None).mismatches, 1);
    assert_eq!(check(None, Some(1e-2)).mismatches, 1);
    let both = check(Some(1e-2), Some(1e-2));
    assert!(both.ok);
    assert_eq!(both.max_abs, 1.0);
    assert!((both.max_rel - 0.5).abs() < 1e-6);
    // Zeros of both signs are equal, and the relative difference of any other value from zero is 1.
    assert!(row(Type::F32, &f32s(&[0.0]), &f32s(&[-0.0]), Some(0.0), None).ok);
    assert_eq!(row(Type::F32, &f32s(&[0.0]), &f32s(&[1e-30]), Some(0.5), None).max_rel, 1.0);
}

#[test]
fn nan_and_infinity_equal_their_like_only() {
    let check = |expected: f32, actual: f32| row(Type::F32, &f32s(&[expected]), &f32s(&[actual]), Some(1.0), Some(1.0));
    assert!(check(f32::NAN, f32::from_bits(0x7fff_ffff)).ok);
    assert!(check(f32::INFINITY, f32::INFINITY).ok);
    for (expected, actual) in
        [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::INFINITY, f32::NEG_INFINITY), (f32::MAX, f32::INFINITY)]
    {
        let row = check(expected, actual);
        assert_eq!((row.ok, row.max_abs, row.max_rel), (false, f64::MAX, 2.0), "{expected} {actual}");
    }
}

#[test]
fn large_values_differ_without_overflow() {
    let bytes = |value: f64| value.to_le_bytes();
    let row1 = row(Type::F64, &bytes(f64::MAX), &bytes(-f64::MAX), Some(0.1), None);
    assert_eq!((row1.max_abs, row1.max_rel), (f64::MAX, 2.0));
    // A difference of one that double precision cannot distinguish.
    let row2 = row(Type::U64, &u64::MAX.to_le_bytes(), &(u64::MAX - 1).to_le_bytes(), None, Some(0.5));
    assert_eq!((row2.ok, row2.max_abs), (false, 1.0));
    assert!(row(Type::S8, &[128], &[127], None, Some(255.0)).ok);
    // The smallest subnormal number has no half.
    assert_eq!(row(Type::F64, &bytes(f64::from_bits(1)), &bytes(0.0), Some(0.5), None).max_rel, 1.0);
}

#[test]
fn sizes_must_agree() {
    let short = evaluate(Type::F32, 2, &[0; 7], &[0; 8], None, None).unwrap_err().to_string();
    assert!(short.ends_with("e.bin: has 7 bytes, but buffer `y` has 8"), "{short}");
    assert!(evaluate(Type::F32, 2, &[0; 8], &[0; 7], None, None).is_err());
    assert!(row(Type::F32, &[], &[], None, None).ok);
}

#[test]
fn a_row_is_the_documented_json() {
    let passed = row(Type::F32, &f32s(&[1.0]), &f32s(&[1.0]), None, None);
    let json = serde_json::to_string(&passed).unwrap();
    assert_eq!(json, r#"{"buffer":"y","max_abs":0.0,"max_rel":0.0,"ok":true,"mismatches":0}"#);
    let failed = row(Type::F32, &f32s(&[1.0]), &f32s(&[f32::NAN]), None, None);
    let json = serde_json::to_string(&failed).unwrap();
    assert_eq!(serde_json::from_str::<CheckRow>(&json).unwrap(), failed);
}
