//! The page `docs/isa.md` lists the operations as they are.

use super::*;

const PAGE: &str = include_str!("../../../../docs/isa.md");

/// A row of the page's table of operations.
fn line(row: &Row) -> String {
    let modifiers: Vec<String> = row.modifiers.iter().map(|(name, bits)| format!("{name} {bits}")).collect();
    let names = [
        (Slots::D, "d"),
        (Slots::P, "p"),
        (Slots::A, "a"),
        (Slots::B, "b"),
        (Slots::C, "c"),
        (Slots::S, "s"),
        (Slots::T, "t"),
        (Slots::OFFSET, "offset"),
        (Slots::JOIN, "reconvergence"),
    ];
    let slots: Vec<&str> = names.iter().filter(|(slot, _)| row.slots.has(*slot)).map(|(_, name)| *name).collect();
    let number = format!("{:#04x}", row.number);
    format!("| {number} | {} | {} | {} | {} |", row.mnemonic, modifiers.join(", "), slots.join(" "), row.meaning)
}

#[test]
fn the_page_lists_every_operation() {
    let missing: Vec<String> = Op::TABLE.iter().map(line).filter(|line| !PAGE.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "docs/isa.md lacks or has otherwise:\n{}", missing.join("\n"));
}
