use std::collections::BTreeMap;

use super::*;
use crate::execute::ResultWord;
use crate::instruction::{Instruction, InstructionFields, Roles, RolesFields};
use crate::{Decode, places};

const PACKAGE: &str = include_str!("../../../../rtl/gpurf_pkg.sv");

/// A packed struct of the package: its fields with their types.
type Struct = Vec<(&'static str, &'static str)>;

/// Numbers and packed structs of the package.
struct Package {
    numbers: BTreeMap<&'static str, u32>,
    structs: BTreeMap<&'static str, Struct>,
}

impl Package {
    fn read() -> Self {
        let lines = || PACKAGE.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
        let mut package = Self { numbers: BTreeMap::new(), structs: BTreeMap::new() };
        for line in lines() {
            let number = line.strip_prefix("localparam int unsigned ").and_then(|rest| rest.split_once(" = "));
            // Those that are not sums are no widths of a field.
            if let Some((name, value)) = number
                && let Some(value) = package.sum(value.trim_end_matches(';'))
            {
                package.numbers.insert(name, value);
            }
        }
        let mut open: Option<Struct> = None;
        for line in lines() {
            if line == "typedef struct packed {" {
                open = Some(Vec::new());
            } else if let Some(name) = line.strip_prefix('}')
                && let Some(fields) = open.take()
            {
                package.structs.insert(name.trim().trim_end_matches(';'), fields);
            } else if let (Some(fields), Some((ty, name))) = (&mut open, line.trim_end_matches(';').rsplit_once(' ')) {
                fields.push((name, ty.trim()));
            }
        }
        package
    }

    /// Names and numbers with + and - between them.
    fn sum(&self, text: &str) -> Option<u32> {
        let text = text.replace('-', "+-");
        let term = |term: &str| -> Option<i64> {
            let (sign, name) = term.trim().strip_prefix('-').map_or((1, term.trim()), |name| (-1, name.trim()));
            Some(sign * name.parse().ok().or_else(|| self.numbers.get(name).map(|&number| i64::from(number)))?)
        };
        let terms: Option<Vec<i64>> = text.split('+').map(term).collect();
        u32::try_from(terms?.into_iter().sum::<i64>()).ok()
    }

    /// Names and widths of all fields of a struct, most significant first.
    fn layout(&self, name: &str) -> Vec<(String, u32)> {
        let mut all = Vec::new();
        for &(field, ty) in &self.structs[name] {
            if self.structs.contains_key(ty) {
                all.extend(self.layout(ty).into_iter().map(|(of, bits)| (format!("{field}.{of}"), bits)));
            } else {
                let range = ty.strip_prefix("logic").map(str::trim).expect("a vector or a packed struct");
                let left = range.strip_prefix('[').and_then(|range| range.strip_suffix(":0]"));
                let bits = left.map_or(Some(1), |left| self.sum(left).map(|left| left + 1));
                all.push((field.to_owned(), bits.unwrap_or_else(|| panic!("{name}.{field}: no width in {ty}"))));
            }
        }
        all
    }
}

fn assert_is_of_the_package<T: Packed>(package: &Package) {
    let ours: Vec<(String, u32)> = T::layout().iter().map(|&(name, bits)| (name.to_owned(), bits)).collect();
    assert_eq!(ours, package.layout(T::NAME), "{}", T::NAME);
    assert_eq!(ours.iter().map(|field| field.1).sum::<u32>(), T::BITS, "a struct inside has the width of its field");
    assert_eq!(packed::<T>().decode, Decode::Packed(T::layout()));
}

#[test]
fn declarations_are_those_of_the_package() {
    let package = Package::read();
    assert_is_of_the_package::<Roles>(&package);
    assert_is_of_the_package::<Instruction>(&package);
    assert_is_of_the_package::<ResultWord>(&package);
}

#[test]
fn the_package_is_read() {
    let package = Package::read();
    assert_eq!((package.numbers["PcW"], package.sum("PcW - 1 + WarpW")), (20, Some(25)));
    assert_eq!(package.sum("$clog2(Lanes)"), None);
    assert_eq!(package.layout("instruction_t")[1], ("roles.unit".to_owned(), 4));
    // Other declarations with other fields are not equal to it.
    assert_ne!(package.layout("sm_event_t"), package.layout("mrf_event_t"));
}

#[test]
fn each_field_has_its_own_bits() {
    let names = Instruction::layout().iter().map(|field| field.0);
    let all: Vec<(u32, u32)> = names.map(Instruction::bits_of).collect();
    let mut end = Instruction::BITS;
    for (low, bits) in all {
        assert_eq!(low + bits, end);
        end = low;
    }
    assert_eq!(end, 0);
    assert!(places(Instruction::layout()).any(|place| place == ("roles.a", 192, 8)));

    // A field that is all ones alone, across the words that it lies in.
    let ones = |change: fn(&mut InstructionFields)| {
        let mut word = Instruction::default();
        word.change(change);
        let bit = |bit: u32| word.0[(bit / 32) as usize] >> (bit % 32) & 1 == 1;
        (0..288).filter(|&at| bit(at)).collect::<Vec<u32>>()
    };
    let range = |name: &str| {
        let (low, bits) = Instruction::bits_of(name);
        (low..low + bits).collect::<Vec<u32>>()
    };
    assert_eq!(ones(|i| i.pc = u32::MAX), range("pc"), "bits beyond the field are dropped");
    assert_eq!(ones(|i| i.op = u64::MAX), range("op"));
    assert_eq!(ones(|i| i.ctl = u64::MAX), range("ctl"));
    assert_eq!((ones(|i| i.s = u32::MAX), ones(|i| i.t = u32::MAX)), (range("s"), range("t")));
    assert_eq!(ones(|i| i.roles = RolesFields { unit: 15, ..RolesFields::default() }.into()), range("roles.unit"));
}

#[test]
fn what_is_put_in_comes_out() {
    let roles =
        RolesFields { unit: 5, b_constant: 1, p: 2, t: 9, s: 4, guard: 15, stop: 1, d: 200, c: 3, b: 99, a: 255 };
    assert_eq!(Roles::from(roles).fields(), roles);
    let fields = InstructionFields {
        pc: 0xabcde,
        roles: roles.into(),
        t: 0x1234_5678,
        s: 0x9abc_def0,
        ctl: 0x0123_4567_89ab_cdef,
        op: 0xfedc_ba98_7654_3210,
    };
    let word = Instruction::from(fields);
    assert_eq!((word.fields(), word.roles().guard(), word.op()), (fields, 15, fields.op));
    // Fields of up to 64 bits may begin anywhere: three words.
    let mut words = [0; 3];
    words.insert(20, 64, u64::MAX);
    assert_eq!((words, words.extract(20, 64)), ([0xfff0_0000, u32::MAX, 0xf_ffff], u64::MAX));
}

#[test]
#[should_panic(expected = "instruction_t has no field opcode")]
fn a_field_that_is_not_there_is_not_found() {
    Instruction::bits_of("opcode");
}
