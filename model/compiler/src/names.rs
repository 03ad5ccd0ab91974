//! Naming of registers: which of an allocation's registers is R0, which is R1, and so on.
//!
//! The allocator chooses the names, and for most machines all choices are equally good. But if warps share the registers from some number on, a warp
//! without access to the shared ones executes further the later it first uses one of them (sharing thesis 2.3.2).

use crate::allocate::Allocation;
use crate::mir::{Class, Function};
use gpurf_isa::{Instruction, Operand, Reg};
use serde::{Deserialize, Serialize};

/// The order in which registers are numbered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegisterOrder {
    /// As the allocator numbers them.
    #[default]
    Allocated,
    /// In the order of their first use: from the first instruction on, and within an instruction a, b, c, d.
    FirstUse,
}

impl RegisterOrder {
    /// Both orders.
    pub const ALL: [Self; 2] = [Self::Allocated, Self::FirstUse];
}

/// A new name for each register: a permutation in which `RZ` keeps its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names([Reg; Self::COUNT]);

impl Names {
    /// The number of register names, including `RZ`.
    const COUNT: usize = Reg::ZERO.index() + 1;

    /// Names in the order of first use. Registers that the code does not use come after those that it does, in their old order.
    pub fn by_first_use(code: &[Instruction]) -> Self {
        let mut names = [None; Self::COUNT];
        names[Reg::ZERO.index()] = Some(Reg::ZERO);
        let used = code.iter().flat_map(|instruction| {
            instruction.sources().map(|(_, register)| register).chain(instruction.destination())
        });
        let mut next = 0;
        for register in used.chain((0..Reg::ZERO.0).map(Reg)) {
            names[register.index()].get_or_insert_with(|| {
                next += 1;
                Reg(next - 1)
            });
        }
        Self(names.map(|name| name.expect("every register has got a name")))
    }

    /// The new name of a register.
    pub fn of(&self, register: Reg) -> Reg {
        self.0[register.index()]
    }

    /// Renames the registers of finished code. Marks that name registers must be made again.
    pub fn rename(&self, code: &mut [Instruction]) {
        for instruction in code {
            instruction.d = self.of(instruction.d);
            instruction.a = self.of(instruction.a);
            instruction.c = self.of(instruction.c);
            if let Operand::Reg(register) = instruction.b {
                instruction.b = Operand::Reg(self.of(register));
            }
        }
    }

    /// Renames the registers of an allocation.
    pub(crate) fn rename_allocation(&self, f: &Function, allocation: &mut Allocation) {
        for (place, class) in allocation.place.iter_mut().zip(&f.classes) {
            if let (Some(place), Class::General) = (place, class) {
                *place = self.of(Reg(*place)).0;
            }
        }
    }
}

/// Numbers the registers of finished code in this order. The numbers that the code uses stay below the number of its registers. Must be called before
/// marks are made.
pub fn name_registers(code: &mut [Instruction], order: RegisterOrder) {
    if order == RegisterOrder::FirstUse {
        Names::by_first_use(code).rename(code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::tests::random;
    use gpurf_isa::assemble;
    use std::collections::BTreeSet;

    fn code(text: &str) -> Vec<Instruction> {
        assemble(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn named(text: &str) -> Vec<Instruction> {
        let mut code = code(text);
        name_registers(&mut code, RegisterOrder::FirstUse);
        code
    }

    /// The registers in the order of their first uses.
    fn first_uses(code: &[Instruction]) -> Vec<Reg> {
        let mut seen = BTreeSet::new();
        let used = code.iter().flat_map(|i| i.sources().map(|(_, register)| register).chain(i.destination()));
        used.filter(|&register| seen.insert(register)).collect()
    }

    /// The code of figure 2.10: a comparison of r124, and copies of it to r16, r17, r9, r18, r10. Predicates are not registers here, and the figure's
    /// writes to `$o127` have no counterpart.
    #[test]
    fn figure_2_10_names_registers_by_first_use() {
        let declared = "
            ISETP.GE.AND P0, R124, 60, PT
            MOV R16, R124
            MOV R17, R124
            MOV R9, R124
            MOV R18, R124
            MOV R10, R124
            EXIT";
        let unrolled = "
            ISETP.GE.AND P0, R0, 60, PT
            MOV R1, R0
            MOV R2, R0
            MOV R3, R0
            MOV R4, R0
            MOV R5, R0
            EXIT";
        assert_eq!(named(declared), code(unrolled));
    }

    #[test]
    fn an_instruction_uses_a_b_c_and_then_d() {
        let text = "
            IMAD.LO R7, PT, R5, R3, R1, !PT
            IADD R3, PT, R9, R3, !PT
            EXIT";
        let names = "
            IMAD.LO R3, PT, R0, R1, R2, !PT
            IADD R1, PT, R4, R1, !PT
            EXIT";
        assert_eq!(named(text), code(names));
    }

    #[test]
    fn zero_is_no_register_and_keeps_its_name() {
        let text = "
            IADD RZ, PT, RZ, R200, !PT
            ST.GLOBAL.B32 [R254], RZ
            EXIT";
        let names = "
            IADD RZ, PT, RZ, R0, !PT
            ST.GLOBAL.B32 [R1], RZ
            EXIT";
        assert_eq!(named(text), code(names));
    }

    #[test]
    fn a_name_is_that_of_one_register_in_random_code() {
        for seed in 0..300 {
            let code = code(&random::program(seed));
            let names = Names::by_first_use(&code);
            let all: BTreeSet<Reg> = (0..=u8::MAX).map(|name| names.of(Reg(name))).collect();
            assert_eq!((all.len(), names.of(Reg::ZERO)), (Names::COUNT, Reg::ZERO), "seed {seed}");

            let mut renamed = code.clone();
            names.rename(&mut renamed);
            let uses = first_uses(&renamed);
            let ascending: Vec<Reg> = (0..uses.len()).map(|name| Reg(name as u8)).collect();
            assert_eq!(uses, ascending, "seed {seed}");
            assert_eq!(first_uses(&code).into_iter().map(|old| names.of(old)).collect::<Vec<_>>(), uses, "seed {seed}");

            // Code with these names keeps them when it is named again; the inverse permutation restores the old names.
            assert!((0..=u8::MAX).map(Reg).all(|name| Names::by_first_use(&renamed).of(name) == name), "seed {seed}");
            let mut back = [Reg::ZERO; Names::COUNT];
            (0..=u8::MAX).map(Reg).for_each(|old| back[names.of(old).index()] = old);
            Names(back).rename(&mut renamed);
            assert_eq!(renamed, code, "seed {seed}");
        }
    }

    #[test]
    fn the_allocators_names_stay_where_nothing_else_is_asked_for() {
        let mut code = code(&random::program(1));
        let before = code.clone();
        name_registers(&mut code, RegisterOrder::default());
        assert_eq!(code, before);
    }
}
