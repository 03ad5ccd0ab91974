//! Lowers the tree to instructions.
//!
//! Lowering adds what the tree leaves open: addresses, numbers that follow from the launch, reconvergence points, and at the beginning a prologue.
//! The prologue initialises every register and predicate that is read, and every word of memory that may be read. It has only what the statements
//! need, so that a program that has been shrunk is short.

mod access;
mod flow;
mod joins;
mod prologue;

use gpurf_compiler::marks::private::Threads;
use gpurf_isa::modifiers::{Addition, Half, IntegerCombine, IntegerComparison, LoadType, Special, TruthTable};
use gpurf_isa::{Control, Instruction, Offset, Op, Operand, Pc, Predicate, PredicateSource, Reg};
use gpurf_oracle::commutes;

use super::tree::{Action, Statement, Window, visit};
use super::{Fixed, Program, Release};

/// Kinds of atomic operations, with room for more.
const SUM_KINDS: u32 = 16;
/// Words of each kind of atomic operation, in programs in which different kinds must not access the same word.
const SUM_WORDS: u32 = 8;
/// Bytes of all words for atomic operations.
pub const SUM_BYTES: u32 = 4 * SUM_KINDS * SUM_WORDS;
/// Flags of `Spin`.
const FLAGS: u32 = 8;
/// Words of the table of constants.
pub const CONSTANT_WORDS: u32 = 32;
/// Words of the inputs that no program writes.
pub const INPUT_WORDS: u32 = 2048;
/// Words of the floats.
pub const FLOAT_WORDS: u32 = 128;

/// A label: a position in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Label(usize);

/// An item of the code, before labels have positions.
enum Item {
    /// An instruction.
    Op(Instruction),
    /// A branch.
    Branch(PredicateSource, Label),
    /// The position of a label.
    Label(Label),
    /// A remark on the code that follows.
    Note(String),
}

/// A buffer of global memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BufferKind {
    /// Each warp's own words.
    Own,
    /// Words that no program writes.
    Input,
    /// Floats of all kinds.
    Floats,
    /// Words for atomic operations.
    Sums,
}

impl BufferKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Own, Self::Input, Self::Floats, Self::Sums];

    /// The name of this kind in a manifest.
    pub fn name(self) -> &'static str {
        ["own", "input", "floats", "sums"][self as usize]
    }

    /// Address of its parameter: all buffers have one, so that these addresses do not depend on which of them are used.
    fn parameter(self) -> u32 {
        8 * self as u32
    }
}

/// Interleaved words: contiguous bytes of a warp, or of atomic operations; no access has parts that take more.
pub const UNIT: u32 = 32;
/// Offset of the interleaved words in their buffer: with it, the buffer ends in the middle of a line.
pub const LEAD: u32 = 48;

/// Address of the table of constants: after the buffers' addresses.
pub const CONSTANTS: u32 = 8 * BufferKind::ALL.len() as u32;

/// A program in the machine's form.
#[derive(Clone, PartialEq, Debug)]
pub struct Lowered {
    /// The instructions.
    pub code: Vec<Instruction>,
    /// Remarks for the text of the program, each with the number of the instruction that it precedes.
    pub notes: Vec<(usize, String)>,
    /// The first instruction after the prologue.
    pub body: usize,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Bytes of local memory of a thread.
    pub local: u32,
}

/// Lowers a program to instructions.
pub fn lower(program: &Program) -> Lowered {
    let mut lowering = Lowering::new(program);
    match program.release {
        Release::Early if lowering.shared => lowering.releasing(&program.body),
        _ => lowering.statements(&program.body),
    }
    lowering.end();
    let needs = lowering.needs();
    let body = std::mem::take(&mut lowering.items);
    lowering.prologue(&needs);
    let prologue = std::mem::replace(&mut lowering.items, body);
    let (shared, local) = (lowering.shared_bytes(), lowering.local_bytes());
    let mut lowered = joins::link(prologue, lowering.items, lowering.labels, shared, local);
    gpurf_compiler::reorder(&mut lowered.code, lowered.body, program.compiler.schedule);
    gpurf_compiler::name_registers(&mut lowered.code, program.compiler.register_order);
    mark(&mut lowered.code);
    // A machine without levels ignores the levels that the program was generated with.
    gpurf_compiler::distribute(&mut lowered.code, &program.compiler);
    gpurf_compiler::mark_power(&mut lowered.code, &program.compiler);
    if let Some(share) = program.scratchpad {
        let threads = Threads::of_block(program.block);
        gpurf_compiler::marks::private::mark(&mut lowered.code, share.private_shared(lowered.shared), threads);
    }
    lowered
}

/// Sets the compiler's marks, as for a kernel. The program's own marks are added where an additional mark is always correct: a warp may give up its
/// slot anywhere, and any result may bypass the cache.
fn mark(code: &mut [Instruction]) {
    let own: Vec<Control> = code.iter().map(|instruction| instruction.control).collect();
    gpurf_compiler::marks::run(code);
    for (instruction, own) in code.iter_mut().zip(own) {
        instruction.control.deschedule |= own.deschedule;
        instruction.control.bypass = instruction.control.bypass.union(own.bypass);
    }
}

struct Lowering<'a> {
    program: &'a Program,
    items: Vec<Item>,
    labels: usize,
    /// Labels of the enclosing loops: the next round, the end.
    loops: Vec<(Label, Label)>,
    /// Whether the order of atomic operations affects results: a result is used, or an operation does not commute. This follows from the statements
    /// as they are, not from the program's setting `ordered`: if the order does not affect results, no run replays it.
    ordered: bool,
    /// Whether the statements use shared memory, whether they use local memory, and the flags that they use, a bit each.
    shared: bool,
    local: bool,
    flags: u32,
}

/// What the prologue has to provide.
struct Needs {
    fixed: [bool; Fixed::COUNT],
    registers: Vec<Reg>,
    predicates: Vec<Predicate>,
}

impl<'a> Lowering<'a> {
    fn new(program: &'a Program) -> Self {
        let (mut ordered, mut shared, mut local, mut flags) = (false, false, false, 0);
        visit(&program.body, &mut |statement| match statement {
            Statement::Access(access) => {
                ordered |= match access.action {
                    Action::Atomic(operation, to, _) => !to.is_zero() || !commutes(operation),
                    Action::Cas(..) => true,
                    Action::Load(..) | Action::Store(..) => false,
                };
                for place in [Some(access.place), access.other.map(|(place, _)| place)].into_iter().flatten() {
                    shared |= place.window.is_shared();
                    local |= place.window == Window::Local;
                }
            }
            Statement::Spin(spin) => {
                (ordered, shared) = (true, true);
                flags |= 1 << spin.flag;
            }
            Statement::EndWarp(_) => shared = true,
            _ => {}
        });
        Self { program, items: Vec::new(), labels: 0, loops: Vec::new(), ordered, shared, local, flags }
    }

    fn needs(&self) -> Needs {
        let mut needs = Needs { fixed: [false; Fixed::COUNT], registers: Vec::new(), predicates: Vec::new() };
        let mut predicate = |predicate: Predicate| {
            if !predicate.is_true() && !needs.predicates.contains(&predicate) {
                needs.predicates.push(predicate);
            }
        };
        for item in &self.items {
            let Item::Op(instruction) = item else {
                if let Item::Branch(guard, _) = item {
                    predicate(guard.predicate);
                }
                continue;
            };
            instruction.predicate_sources().for_each(&mut predicate);
            for (_, register) in instruction.sources() {
                match self.program.fixed.iter().position(|fixed| *fixed == register) {
                    Some(role) => needs.fixed[role] = true,
                    None if !needs.registers.contains(&register) => needs.registers.push(register),
                    None => {}
                }
            }
        }
        needs.registers.sort_unstable();
        needs.predicates.sort_unstable();
        needs
    }

    // Sizes of memories.

    fn warps(&self) -> u32 {
        self.program.warps()
    }

    /// Bytes of a warp's part of a half of shared memory.
    fn region(&self) -> u32 {
        4 * self.program.layout.shared_words
    }

    /// Bytes of a half: a power of two, so that an exclusive or switches between the halves.
    fn half(&self) -> u32 {
        (self.warps() * self.region()).next_power_of_two()
    }

    fn shared_sums(&self) -> u32 {
        2 * self.half()
    }

    fn flags_at(&self) -> u32 {
        self.shared_sums() + SUM_BYTES
    }

    fn shared_bytes(&self) -> u32 {
        if self.shared { self.flags_at() + 4 * FLAGS } else { 0 }
    }

    fn local_bytes(&self) -> u32 {
        if self.local { 4 * self.program.layout.local_words } else { 0 }
    }

    // Instructions.

    fn fixed(&self, role: Fixed) -> Reg {
        self.program.fixed[role as usize]
    }

    fn emit(&mut self, instruction: Instruction) {
        self.items.push(Item::Op(instruction));
    }

    fn note(&mut self, text: impl Into<String>) {
        self.items.push(Item::Note(text.into()));
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn place(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    fn branch(&mut self, guard: PredicateSource, to: Label) {
        self.items.push(Item::Branch(guard, to));
    }

    fn mov(&mut self, d: Reg, b: impl Into<Operand>) {
        self.emit(Instruction::new(Op::Mov {}).d(d).b(b));
    }

    fn special(&mut self, d: Reg, source: Special) {
        self.emit(Instruction::new(Op::S2r { source }).d(d));
    }

    fn add(&mut self, d: Reg, a: Reg, b: impl Into<Operand>) {
        let op = Op::Iadd { mode: Addition::Add };
        self.emit(Instruction::new(op).d(d).a(a).b(b).s(PredicateSource::FALSE));
    }

    /// d = a * b + c.
    fn multiply(&mut self, d: Reg, a: Reg, b: impl Into<Operand>, c: Reg) {
        let op = Op::Imad { half: Half::Low, signed: false };
        self.emit(Instruction::new(op).d(d).a(a).b(b).c(c).s(PredicateSource::FALSE));
    }

    fn logic(&mut self, table: u8, d: Reg, a: Reg, b: impl Into<Operand>) {
        let lut = TruthTable::new(table).expect("every byte is a table");
        self.emit(Instruction::new(Op::Lop3 { lut }).d(d).a(a).b(b));
    }

    fn and(&mut self, d: Reg, a: Reg, b: impl Into<Operand>) {
        self.logic(0xc0, d, a, b);
    }

    fn or(&mut self, d: Reg, a: Reg, b: impl Into<Operand>) {
        self.logic(0xfc, d, a, b);
    }

    fn exclusive_or(&mut self, d: Reg, a: Reg, b: impl Into<Operand>) {
        self.logic(0x3c, d, a, b);
    }

    /// p = (a compared with b) and s, unsigned.
    fn compare(
        &mut self,
        p: Predicate,
        comparison: IntegerComparison,
        a: Reg,
        b: impl Into<Operand>,
        s: PredicateSource,
    ) {
        let op = Op::Isetp { comparison, signed: false, combine: IntegerCombine::And };
        self.emit(Instruction::new(op).p(p).a(a).b(b).s(s));
    }

    /// Loads the word of the constant space at an address.
    fn constant(&mut self, d: Reg, address: u32) {
        let op = Op::Ldc { kind: LoadType::B32, align: gpurf_isa::modifiers::Alignment::Natural };
        self.emit(Instruction::new(op).d(d).offset(offset(address as i32)));
    }

    /// Emits the last instructions.
    fn end(&mut self) {
        if self.program.release == Release::Last && self.shared {
            self.release();
        }
        if self.program.split_end {
            // Paths that end have no reconvergence point.
            self.note("two ends");
            let other = self.label();
            self.special(self.fixed(Fixed::T0), Special::LaneId);
            let predicate = Predicate::new(0).expect("there is P0");
            self.compare(predicate, IntegerComparison::Lt, self.fixed(Fixed::T0), 9, PredicateSource::TRUE);
            self.branch(PredicateSource::of(predicate), other);
            self.emit(Instruction::new(Op::Exit {}));
            self.place(other);
        }
        self.emit(Instruction::new(Op::Exit {}));
    }
}

/// A constant offset.
///
/// # Panics
/// If it does not fit; no program of this crate has such an offset.
fn offset(bytes: i32) -> Offset {
    Offset::new(bytes).expect("offsets are small")
}

/// The inverse of a predicate source.
fn inverse(source: PredicateSource) -> PredicateSource {
    PredicateSource { negated: !source.negated, ..source }
}

/// A program counter.
fn pc(index: usize) -> Pc {
    Pc::new(index as u32).expect("programs are short")
}
