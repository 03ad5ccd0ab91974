//! The model's packed structs are those of `gpurf_pkg`.

use std::collections::BTreeMap;

use gpurf_blocks::execute::ResultWord;
use gpurf_blocks::instruction::{Instruction, Roles};
use gpurf_blocks::write::{WriteWord, WrittenWord};
use gpurf_blocks::{Decode, Packed, packed};

const PACKAGE: &str = include_str!("../../../rtl/gpurf_pkg.sv");

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
    assert_is_of_the_package::<WriteWord>(&package);
    assert_is_of_the_package::<WrittenWord>(&package);
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
