//! `address_unit`: the memory instruction at hand. `docs/blocks/address_unit.md`.

use crate::instruction::{Instruction, Issued, NO_PRED, NO_REG, cause, constant, modifiers, opcode};
use crate::memory::LINE_BITS;
use crate::memory::access::{Access, WORD, atomic, kind, lanes_where, masked};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::shape::SmShape;
use crate::write::WrittenWord;
use crate::{Block, LANES, LaneMask, OPERANDS, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Bit of a load's modifiers: the load bypasses the data cache.
const LOAD_BYPASS: usize = 7;

ports! {
    /// Inputs of [`AddressUnit`].
    pub struct AddressUnitIn(s: &SmShape) {
        /// Operands: element 3p+k is source k of port p.
        in_data_i: [WarpData; OPERANDS * MAX_PORTS] =
            field(1024).count(OPERANDS * s.ports()).valid_by("in_src_valid_i"),
        /// Instruction of each dispatch port.
        in_instruction_i: [Instruction; MAX_PORTS] =
            packed::<Instruction>().count(s.ports()).valid_by("in_valid_i"),
        /// Lanes that execute the instruction.
        in_mask_i: [u32; MAX_PORTS] = field(32).count(s.ports()).valid_by("in_valid_i"),
        /// First byte of the block's part of shared memory.
        place_base_i: u32 = field(19).valid_by("in_valid_i"),
        /// First byte of the shared memory of the host of the block's pair.
        place_common_i: u32 = field(19).valid_by("in_valid_i"),
        /// Bytes of shared memory in front of the common area.
        private_bytes_i: u32 = field(17),
        /// Bytes of shared memory of a block.
        shared_bytes_i: u32 = field(17),
        /// Lanes that the coalescer serves at this edge.
        global_served_i: u32 = field(32),
        /// Lanes that shared memory serves.
        shared_served_i: u32 = field(32),
        /// Lanes that constant memory serves.
        constant_served_i: u32 = field(32),
        /// Lanes that the lane crossbar serves.
        shuffle_served_i: u32 = field(32),
        /// Words of local memory of a thread.
        local_words_i: u16 = field(16),
        /// The completed write.
        written_i: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.ports()).valid_by("write_done_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered.
        in_valid_i: u8 = field(1),
        /// Dispatch port on which the instruction is offered.
        in_port_i: u8 = field(1).valid_by("in_valid_i"),
        /// Warp of the instruction on each port.
        in_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("in_valid_i"),
        /// Bit 3p+k: source k of port p is a register.
        in_src_valid_i: u8 = field(OPERANDS * s.ports()),
        /// The block may not access the common area any more.
        place_released_i: u8 = field(1).valid_by("in_valid_i"),
        /// The result on bus p is in the register file from this edge on.
        write_done_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`AddressUnit`].
    pub struct AddressUnitOut(s: &SmShape) {
        /// Address of each lane; a of a shuffle or a texture fetch.
        addr_o: WarpData = field(1024).valid_by("busy_o").early().shows("addr_q"),
        /// Source c of each lane.
        store_o: WarpData = field(1024).valid_by("busy_o").early().shows("store_q"),
        /// Source b of each lane.
        compare_o: WarpData = field(1024).valid_by("busy_o").early().shows("compare_q"),
        /// Lanes of this pass.
        lanes_o: u32 = field(32).valid_by("busy_o").early(),
        /// Lanes of the probe or release.
        answer_mask_o: u32 = field(32).valid_by("answer_valid_o").early(),
        /// Value that belongs to the cause of the fault.
        fault_value_o: u32 = field(32).valid_by("fault_valid_o").early().shows("fault_value_q"),
        /// Handle's constant word, channel and access of a texture fetch; 0 for other instructions.
        texture_o: u32 = field(LINE_BITS).valid_by("busy_o").early().shows("texture_q"),
        /// Modifiers of the instruction held.
        modifiers_o: u16 = field(16).valid_by("busy_o").early().shows("modifiers_q"),
        /// The instruction is taken at this edge if also valid.
        in_ready_o: u8 = field(1),
        /// Warp whose place in shared memory is looked up.
        place_warp_o: u8 = field(WARP_BITS).valid_by("in_valid_i"),
        /// An instruction is held.
        busy_o: u8 = field(1).early().shows("busy_q"),
        /// Lanes are offered to the coalescer.
        global_valid_o: u8 = field(1).early(),
        /// Lanes are offered to shared memory.
        shared_valid_o: u8 = field(1).early(),
        /// Lanes are offered to constant memory.
        constant_valid_o: u8 = field(1).early(),
        /// Lanes are offered to the lane crossbar.
        shuffle_valid_o: u8 = field(1).early(),
        /// The addresses are in local memory.
        local_o: u8 = field(1).valid_by("global_valid_o").early(),
        /// The coalescer has served no lane of the instruction yet.
        line_first_o: u8 = field(1).valid_by("global_valid_o").early(),
        /// No lane is left after this pass.
        last_o: u8 = field(1),
        /// Warp of the instruction held.
        warp_o: u8 = field(WARP_BITS).valid_by("busy_o").early().shows("warp_q"),
        /// Kind of access: 0 load, 1 store, 2 atomic operation, 3 texture fetch.
        kind_o: u8 = field(2).valid_by("busy_o").early().shows("kind_q"),
        /// Bytes as a power of two.
        size_o: u8 = field(2).valid_by("busy_o").early().shows("size_q"),
        /// Sign extension.
        signed_o: u8 = field(1).valid_by("busy_o").early().shows("signed_q"),
        /// Atomic operation.
        atomic_o: u8 = field(4).valid_by("busy_o").early().shows("atomic_q"),
        /// A register is written.
        reg_valid_o: u8 = field(1).early().shows_while("reg_valid_q", "busy_o"),
        /// Register that is written.
        reg_o: u8 = field(REG_BITS).valid_by("reg_valid_o").early().shows("reg_q"),
        /// A predicate is written.
        pred_valid_o: u8 = field(1).early().shows_while("pred_valid_q", "busy_o"),
        /// Predicate that is written.
        pred_o: u8 = field(3).valid_by("pred_valid_o").early().shows("pred_q"),
        /// An instruction that has no result has been performed.
        finish_valid_o: u8 = field(1),
        /// Warp of the instruction that has been performed.
        finish_warp_o: u8 = field(WARP_BITS).valid_by("finish_valid_o"),
        /// A probe or a release was taken in the cycle before.
        answer_valid_o: u8 = field(1).early().shows("answer_q"),
        /// The answer is that of a release, not of a probe.
        answer_release_o: u8 = field(1).valid_by("answer_valid_o").early().shows("answer_release_q"),
        /// Of a probe: a lane lies in the common area.
        answer_shared_o: u8 = field(1).valid_by("answer_valid_o").early().shows("answer_shared_q"),
        /// The instruction taken in the cycle before is at fault.
        fault_valid_o: u8 = field(1).early().shows("fault_q"),
        /// Warp of the instruction at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early().shows("fault_warp_q"),
        /// Cause of the fault.
        fault_cause_o: u8 = field(4).valid_by("fault_valid_o").early().shows("fault_cause_q"),
    }
}

ports! {
    /// State of [`AddressUnit`] that no output shows.
    pub struct AddressUnitProbe(s: &SmShape) {
        /// Lanes that are left.
        lanes_q: u32 = field(32).valid_by("busy_o"),
        /// Lanes whose address is in shared memory.
        shared_q: u32 = field(32).valid_by("busy_o"),
        /// Lanes whose address is in local memory.
        local_q: u32 = field(32).valid_by("busy_o"),
        /// Lanes whose address is in the constant space.
        constant_q: u32 = field(32).valid_by("busy_o"),
        /// The instruction is a shuffle.
        shuffle_q: u8 = field(1).valid_by("busy_o"),
        /// Parts of the result that are not written yet.
        parts_q: u8 = field(5).valid_by("busy_o"),
        /// Space of the last pass that was performed.
        space_q: u8 = field(2).valid_by("busy_o"),
        /// The coalescer has served no lane of the instruction yet.
        line_first_q: u8 = field(1).valid_by("busy_o"),
    }
}

/// Opcodes of the memory pipeline.
mod operation {
    pub(super) const LD: u8 = 0x40;
    pub(super) const ST: u8 = 0x41;
    pub(super) const ATOM: u8 = 0x43;
    pub(super) const CAS: u8 = 0x44;
    pub(super) const TEX: u8 = 0x46;
    pub(super) use crate::instruction::{PROBE, RELSSP};
}

/// Upper words of generic addresses.
mod window {
    pub(super) const SHARED: u32 = 1;
    pub(super) const LOCAL: u32 = 2;
    pub(super) const CONSTANT: u32 = 3;
}

/// Address space of an instruction's addresses, as far as the instruction states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Global,
    Shared,
    Local,
    Constant,
    Generic,
}

impl Space {
    /// The space of loads, stores and atomic operations.
    fn of(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Global,
            1 => Self::Shared,
            2 => Self::Local,
            _ => Self::Generic,
        }
    }

    /// The space of compare and swap, whose upper word is zero.
    fn of_cas(bits: u32) -> Self {
        match Self::of(bits) {
            Self::Shared => Self::Shared,
            _ => Self::Global,
        }
    }
}

/// What an instruction does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Access,
    /// Reads a texture at the coordinates of the operands.
    Fetch,
    Shuffle,
    /// Asks whether the access of the head of its warp lies in the common area.
    Probe,
    /// States that the lanes do not access the common area any more.
    Release,
}

/// An access to memory as its operation and modifiers describe it.
#[derive(Clone, Copy, Debug)]
struct Form {
    deed: Deed,
    space: Space,
    /// The address has an upper word, source b.
    wide: bool,
    kind: u8,
    size: u8,
    signed: bool,
    atomic: u8,
    /// Addresses are multiples of this.
    align: u32,
}

impl Form {
    /// A shuffle: the registers of accesses are zero.
    const SHUFFLE: Self = Self {
        deed: Deed::Shuffle,
        space: Space::Global,
        wide: false,
        kind: kind::LOAD,
        size: 0,
        signed: false,
        atomic: 0,
        align: 1,
    };

    fn of(opcode: u8, m: u32) -> Self {
        match opcode {
            operation::LD => Self::access(kind::LOAD, Space::of(m)).read_as(m >> 2).aligned(m >> 5),
            operation::ST => Self::access(kind::STORE, Space::of(m)).sized((m >> 2 & 3) as u8).aligned(m >> 4),
            operation::ATOM => Self { atomic: (m >> 2 & 15) as u8, ..Self::access(kind::ATOMIC, Space::of(m)) },
            operation::CAS => Self { wide: false, atomic: atomic::CAS, ..Self::access(kind::ATOMIC, Space::of_cas(m)) },
            operation::TEX => Self { deed: Deed::Fetch, kind: kind::TEXTURE, size: WORD, ..Self::SHUFFLE },
            operation::RELSSP => Self { deed: Deed::Release, ..Self::SHUFFLE },
            operation::PROBE => {
                let Self { space, wide, .. } = Self::access(kind::LOAD, Space::of(m));
                Self { deed: Deed::Probe, space, wide, ..Self::SHUFFLE }
            }
            _ => Self::SHUFFLE,
        }
    }

    fn access(kind: u8, space: Space) -> Self {
        let wide = matches!(space, Space::Global | Space::Generic);
        Self { deed: Deed::Access, space, wide, kind, ..Self::SHUFFLE }.sized(WORD)
    }

    fn sized(self, size: u8) -> Self {
        Self { size, align: 1 << size, ..self }
    }

    /// The size and sign of a load: unsigned and signed byte, the same of two bytes, word.
    fn read_as(self, bits: u32) -> Self {
        let bits = bits & 7;
        let signed = matches!(bits, 1 | 3);
        Self { signed, ..self.sized((bits >> 1).min(WORD.into()) as u8) }
    }

    /// The first part of a longer access is aligned like the whole.
    fn aligned(self, bits: u32) -> Self {
        match bits & 3 {
            1 => Self { align: 8, ..self },
            2 => Self { align: 16, ..self },
            _ => self,
        }
    }

    /// The fault cause that any address in a space has, if there is one.
    #[inline]
    fn forbidden(&self, space: Space) -> Option<u8> {
        match space {
            Space::Constant if self.kind != kind::LOAD => Some(cause::CONSTANT_WRITTEN),
            Space::Local if self.kind == kind::ATOMIC => Some(cause::LOCAL_ATOMIC),
            _ => None,
        }
    }
}

/// The memory that the threads of a warp have.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// First byte of the block's part of shared memory.
    pub shared_base: u32,
    /// Bytes of the block's part of shared memory.
    pub shared_bytes: u32,
    /// The common area, where blocks share scratchpad memory.
    pub common: Option<Common>,
    /// Words of local memory of a thread.
    pub local_words: u16,
}

/// The area that two blocks have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// Bytes of a block's shared memory in front of the common area.
    pub private_bytes: u32,
    /// First byte of the host's part of shared memory.
    pub base: u32,
    /// The block may not access the common area any more.
    pub released: bool,
}

/// A probe or a release that has been performed.
#[derive(Clone, Copy, Debug)]
pub struct ScratchpadAnswered {
    /// Warp of the instruction.
    pub warp: u8,
    /// The instruction is a release.
    pub release: bool,
    /// For a probe: a lane lies in the common area.
    pub shared: bool,
    /// Lanes of the instruction.
    pub mask: u32,
}

/// The unit to which lanes are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// The coalescer, with addresses in global memory.
    Global,
    /// The coalescer, with addresses in local memory.
    Local,
    /// Shared memory.
    Shared,
    /// Constant memory.
    Constant,
    /// The lane crossbar.
    Shuffle,
}

impl Server {
    /// Number of the space in which the lanes lie.
    fn space(self) -> u8 {
        match self {
            Self::Global | Self::Shuffle => 0,
            Self::Shared => 1,
            Self::Local => 2,
            Self::Constant => 3,
        }
    }
}

/// An instruction that cannot be performed.
#[derive(Clone, Copy, Debug)]
pub struct AddressFault {
    /// Warp.
    pub warp: u8,
    /// Cause of the fault: see [`cause`].
    pub cause: u8,
    /// Lower word of the address.
    pub value: u32,
}

/// Head of the memory pipeline: holds one instruction with an address for each lane, and offers the lanes that are left to the unit
/// that serves their space. Instructions pass one after the other, which is what keeps the accesses of a warp, and those of
/// warps on both sides of a barrier, in program order.
#[derive(Clone)]
pub struct AddressUnit {
    const_bytes: u32,
    /// Blocks may share scratchpad memory.
    shares: bool,
    busy_q: bool,
    fault_q: Option<AddressFault>,
    answer_q: bool,
    answer_release_q: bool,
    answer_shared_q: bool,
    shuffle_q: bool,
    lanes_q: u32,
    shared_q: u32,
    local_q: u32,
    constant_q: u32,
    /// Passes whose results are not in the register file yet.
    parts_q: u8,
    /// Space of the last pass.
    space_q: u8,
    line_first_q: bool,
    warp_q: u8,
    kind_q: u8,
    size_q: u8,
    signed_q: bool,
    atomic_q: u8,
    modifiers_q: u16,
    texture_q: u32,
    reg_q: Option<u8>,
    pred_q: Option<u8>,
    addr_q: WarpData,
    store_q: WarpData,
    compare_q: WarpData,
}

impl AddressUnit {
    /// Whether an instruction is held.
    #[inline]
    pub fn busy(&self) -> bool {
        self.busy_q
    }

    /// Lanes offered in this pass, and their unit. None are offered while parts of the result in another space are not written yet.
    #[inline]
    pub fn offer(&self) -> Option<(Server, u32)> {
        self.pass().filter(|(server, _)| self.parts_q == 0 || self.space_q == server.space())
    }

    /// Lanes of this pass, and the unit that has to serve them.
    #[inline]
    fn pass(&self) -> Option<(Server, u32)> {
        if !self.busy_q {
            return None;
        }
        let left = self.lanes_q;
        if self.shuffle_q {
            return Some((Server::Shuffle, left));
        }
        let lowest = left & left.wrapping_neg();
        let spaces =
            [(Server::Shared, self.shared_q), (Server::Local, self.local_q), (Server::Constant, self.constant_q)];
        let (server, lanes) = spaces
            .into_iter()
            .find(|(_, lanes)| lanes & lowest != 0)
            .unwrap_or((Server::Global, !(self.shared_q | self.local_q | self.constant_q)));
        Some((server, left & lanes))
    }

    /// The instruction, with the lanes that are offered.
    #[inline]
    pub fn access(&self, lanes: u32) -> Access<'_> {
        Access {
            lanes,
            warp: self.warp_q,
            kind: self.kind_q,
            size: self.size_q,
            signed: self.signed_q,
            atomic: self.atomic_q,
            reg: self.reg_q,
            addr: &self.addr_q,
            store: &self.store_q,
            compare: &self.compare_q,
            bypass: self.kind_q == kind::LOAD && is_set(self.modifiers_q, LOAD_BYPASS),
            texture: self.texture_q,
        }
    }

    /// Modifiers of the instruction.
    #[inline]
    pub fn modifiers(&self) -> u16 {
        self.modifiers_q
    }

    /// Predicate that the instruction writes.
    #[inline]
    pub fn pred(&self) -> Option<u8> {
        self.pred_q
    }

    /// Whether the coalescer has served no lane of the instruction yet.
    #[inline]
    pub fn line_first(&self) -> bool {
        self.line_first_q
    }

    /// Whether no lane is left once these lanes are served.
    #[inline]
    pub fn last(&self, served: u32) -> bool {
        self.busy_q && self.lanes_q & !served == 0
    }

    /// Whether an instruction that is offered is taken at this edge.
    #[inline]
    pub fn ready(&self, served: u32) -> bool {
        !self.busy_q || self.last(served)
    }

    /// The warp whose instruction ends when these lanes are served: it has no result, or has been answered.
    #[inline]
    pub fn finish(&self, served: u32) -> Option<u8> {
        let silent = self.kind_q == kind::STORE || self.kind_q == kind::ATOMIC && self.reg_q.is_none();
        (silent && self.last(served) || self.answer_q).then_some(self.warp_q)
    }

    /// The probe or release taken in the cycle before.
    #[inline]
    pub fn answer(&self) -> Option<ScratchpadAnswered> {
        self.answer_q.then_some(ScratchpadAnswered {
            warp: self.warp_q,
            release: self.answer_release_q,
            shared: self.answer_shared_q,
            mask: self.lanes_q,
        })
    }

    /// The fault of the instruction taken in the cycle before.
    #[inline]
    pub fn fault(&self) -> Option<AddressFault> {
        self.fault_q
    }

    /// Whether a result of this warp and register is part of the instruction's: the scoreboard allows no other one in flight.
    #[inline]
    pub fn has_part(&self, (warp, reg): (u8, u8)) -> bool {
        self.warp_q == warp && self.reg_q == Some(reg)
    }

    /// Clock edge at which lanes are served; [`take`](Self::take) follows where an instruction is taken.
    ///
    /// `written`: a part of the instruction's result goes into the register file.
    #[inline]
    pub fn serve(&mut self, served: u32, written: bool) {
        if served != 0
            && let Some((server, _)) = self.pass()
        {
            self.space_q = server.space();
            self.line_first_q &= !matches!(server, Server::Global | Server::Local);
        }
        let made = served != 0 && self.reg_q.is_some();
        // The count may reach 32 in the last pass, or a part may arrive when nothing is held: then the count has no meaning.
        self.parts_q = self.parts_q.wrapping_add(made.into()).wrapping_sub(written.into());
        self.busy_q &= !self.last(served);
        self.lanes_q &= !served;
        self.fault_q = None;
        self.answer_q = false;
    }

    /// Clock edge at which an instruction is taken.
    ///
    /// `operands`: the sources that are registers.
    pub fn take(&mut self, issued: &Issued, operands: [Option<&WarpData>; OPERANDS], bounds: &Bounds) {
        let Issued { instruction, mask, warp } = *issued;
        let (op, roles) = (instruction.op(), instruction.roles());
        let m = modifiers(op, instruction.ctl());
        let form = Form::of(opcode(op), m);
        self.shuffle_q = form.deed == Deed::Shuffle;
        self.texture_q = if form.deed == Deed::Fetch { texture(op, m) } else { 0 };
        (self.warp_q, self.lanes_q) = (warp, mask);
        (self.parts_q, self.space_q, self.line_first_q) = (0, 0, true);
        (self.kind_q, self.size_q, self.signed_q) = (form.kind, form.size, form.signed);
        (self.atomic_q, self.modifiers_q) = (form.atomic, m as u16);
        self.reg_q = Some(roles.d()).filter(|&d| d != NO_REG);
        self.pred_q = Some(roles.p()).filter(|&p| p != NO_PRED);

        let [a, b, c] = operands;
        let a = a.unwrap_or(&WarpData::ZERO);
        self.compare_q = match b {
            Some(b) => masked(b, mask),
            None if roles.b_constant() != 0 => masked(&WarpData([constant(op); LANES]), mask),
            None => WarpData::ZERO,
        };
        self.store_q = c.map_or(WarpData::ZERO, |c| masked(c, mask));
        (self.shared_q, self.local_q, self.constant_q) = (0, 0, 0);
        let fault = match form.deed {
            Deed::Shuffle => {
                // A lane that does not take part may be chosen by one that does, which then keeps its own value.
                self.addr_q = *a;
                None
            }
            Deed::Fetch => {
                self.addr_q = masked(a, mask);
                None
            }
            Deed::Access => self.place(form, offset(op), a, mask, bounds),
            Deed::Probe | Deed::Release => {
                self.ask(form, offset(op), a, mask, bounds);
                None
            }
        };
        self.busy_q = fault.is_none() && !self.answer_q;
        self.fault_q = fault.map(|(cause, value)| AddressFault { warp, cause, value });
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.busy_q = false;
        self.fault_q = None;
        self.answer_q = false;
    }

    /// Takes a probe or a release; it is answered in the next cycle.
    fn ask(&mut self, form: Form, offset: u32, a: &WarpData, mask: u32, bounds: &Bounds) {
        (self.answer_q, self.answer_release_q, self.answer_shared_q) = (true, form.deed == Deed::Release, false);
        if let (Deed::Probe, Some(common)) = (form.deed, &bounds.common) {
            self.form_addresses(&form, offset, a, mask);
            let inside = |lane: usize| (common.private_bytes..bounds.shared_bytes).contains(&self.addr_q.0[lane]);
            self.answer_shared_q = self.shared_q & lanes_where(inside) != 0;
        }
        self.addr_q = WarpData::ZERO;
    }

    /// Forms address and space of each lane. Returns the upper words, and whether one of them is not 0.
    fn form_addresses(&mut self, form: &Form, offset: u32, a: &WarpData, mask: u32) -> (WarpData, bool) {
        let low = WarpData(std::array::from_fn(|lane| a.0[lane].wrapping_add(offset)));
        let mut upper = WarpData::ZERO;
        if form.wide {
            let extension = (offset.cast_signed() >> (u32::BITS - 1)).cast_unsigned();
            // The upper words of lanes outside the mask are zero in `compare_q`; their sums are not.
            let sum = std::array::from_fn(|lane| {
                let carry = u32::from(low.0[lane] < a.0[lane]);
                self.compare_q.0[lane].wrapping_add(extension).wrapping_add(carry)
            });
            upper = masked(&WarpData(sum), mask);
        }
        self.addr_q = masked(&low, mask);

        let all = |space: Space| if form.space == space { mask } else { 0 };
        (self.shared_q, self.local_q, self.constant_q) = (all(Space::Shared), all(Space::Local), 0);
        let any_upper = upper.0.iter().fold(0, |any, word| any | word);
        let mixed = form.space == Space::Generic && any_upper != 0;
        if mixed {
            let lanes_in = |window: u32| lanes_where(|lane| upper.0[lane] == window);
            (self.shared_q, self.local_q, self.constant_q) =
                (lanes_in(window::SHARED), lanes_in(window::LOCAL), lanes_in(window::CONSTANT));
        }
        (upper, any_upper != 0)
    }

    /// Finds address and space of each lane. Returns cause and address of the lowest lane that is at fault.
    fn place(&mut self, form: Form, offset: u32, a: &WarpData, mask: u32, bounds: &Bounds) -> Option<(u8, u32)> {
        let (upper, any_upper) = self.form_addresses(&form, offset, a, mask);
        let space = if form.space == Space::Generic { Space::Global } else { form.space };
        let fine = !any_upper && self.all_fine(&form, space, bounds);
        let fault = if fine { None } else { self.first_fault(&form, &upper, mask, bounds) };
        if self.shared_q != 0 {
            let based = std::array::from_fn(|lane| {
                let address = self.addr_q.0[lane];
                let base = match &bounds.common {
                    Some(common) if address >= common.private_bytes => common.base,
                    _ => bounds.shared_base,
                };
                address.wrapping_add(base)
            });
            self.addr_q.merge(&WarpData(based), LaneMask(self.shared_q));
        }
        fault
    }

    /// The lanes that are served by the unit to which they are offered.
    fn served(&self, inputs: &AddressUnitIn) -> u32 {
        self.offer().map_or(0, |(server, _)| match server {
            Server::Global | Server::Local => inputs.global_served_i,
            Server::Shared => inputs.shared_served_i,
            Server::Constant => inputs.constant_served_i,
            Server::Shuffle => inputs.shuffle_served_i,
        })
    }

    /// Whether lanes of one space whose upper words are zero certainly have no fault, as in nearly all instructions.
    fn all_fine(&self, form: &Form, space: Space, bounds: &Bounds) -> bool {
        let (any, greatest) = self.addr_q.0.iter().fold((0, 0), |(any, top), &word| (any | word, word.max(top)));
        form.forbidden(space).is_none()
            && any & (form.align - 1) == 0
            && self.end(space, bounds).is_none_or(|end| u64::from(greatest) + (1 << form.size) <= end)
            && !(space == Space::Shared && is_released(bounds, greatest))
    }

    /// Cause and address of the lowest lane that is at fault.
    fn first_fault(&self, form: &Form, upper: &WarpData, mask: u32, bounds: &Bounds) -> Option<(u8, u32)> {
        set_bits(mask).find_map(|lane| {
            let address = self.addr_q.0[lane];
            let space = if is_set(self.shared_q, lane) {
                Space::Shared
            } else if is_set(self.local_q, lane) {
                Space::Local
            } else if is_set(self.constant_q, lane) {
                Space::Constant
            } else {
                Space::Global
            };
            let past = |end: u64| u64::from(address) + (1 << form.size) > end;
            let found = form
                .forbidden(space)
                .or_else(|| (address & (form.align - 1) != 0).then_some(cause::MISALIGNED))
                .or_else(|| (space == Space::Global && upper.0[lane] != 0).then_some(cause::WIDE_ADDRESS))
                .or_else(|| self.end(space, bounds).is_some_and(past).then_some(cause::OUT_OF_BOUNDS))
                .or_else(|| (space == Space::Shared && is_released(bounds, address)).then_some(cause::RELEASED));
            found.map(|cause| (cause, address))
        })
    }

    /// Size in bytes of a space that has an end.
    fn end(&self, space: Space, bounds: &Bounds) -> Option<u64> {
        const BYTES_OF_A_WORD: u64 = 4;
        match space {
            Space::Shared => Some(bounds.shared_bytes.into()),
            Space::Local => Some(BYTES_OF_A_WORD * u64::from(bounds.local_words)),
            Space::Constant => Some(self.const_bytes.into()),
            Space::Global | Space::Generic => None,
        }
    }
}

/// Whether an address of shared memory is in a common area that the block may not access any more.
fn is_released(bounds: &Bounds, address: u32) -> bool {
    bounds.common.is_some_and(|common| common.released && address >= common.private_bytes)
}

/// What a fetch says of the texture: the number of the constant word with its handle, then channel and access.
fn texture(op: u64, m: u32) -> u32 {
    const NUMBER_BITS: u32 = 15;
    const MODIFIER_BITS: u32 = 7;
    const NUMBER_AT: u32 = 10;
    let number = offset(op) >> 2 & ((1 << NUMBER_BITS) - 1);
    number << NUMBER_AT | m & ((1 << MODIFIER_BITS) - 1)
}

/// The offset of an address: 24 bits, signed.
fn offset(op: u64) -> u32 {
    ((op >> 32) as u32).cast_signed().wrapping_shr(8).cast_unsigned()
}

impl Block for AddressUnit {
    const NAME: &'static str = "address_unit";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "ConstWords", "Shares"];

    type Shape = SmShape;
    type In = AddressUnitIn;
    type Out = AddressUnitOut;
    type Probe = AddressUnitProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            const_bytes: 4 * shape.const_words as u32,
            shares: shape.shares_scratchpad(),
            busy_q: false,
            fault_q: None,
            answer_q: false,
            answer_release_q: false,
            answer_shared_q: false,
            shuffle_q: false,
            lanes_q: 0,
            shared_q: 0,
            local_q: 0,
            constant_q: 0,
            parts_q: 0,
            space_q: 0,
            line_first_q: false,
            warp_q: 0,
            kind_q: kind::LOAD,
            size_q: 0,
            signed_q: false,
            atomic_q: 0,
            modifiers_q: 0,
            texture_q: 0,
            reg_q: None,
            pred_q: None,
            addr_q: WarpData::ZERO,
            store_q: WarpData::ZERO,
            compare_q: WarpData::ZERO,
        }
    }

    fn early(&self, out: &mut AddressUnitOut) {
        *out = AddressUnitOut { busy_o: self.busy().into(), ..crate::Ports::zeroed() };
        if let Some(fault) = self.fault() {
            out.fault_valid_o = 1;
            (out.fault_warp_o, out.fault_cause_o, out.fault_value_o) = (fault.warp, fault.cause, fault.value);
        }
        if let Some(answer) = self.answer() {
            out.answer_valid_o = 1;
            (out.answer_release_o, out.answer_shared_o) = (answer.release.into(), answer.shared.into());
            (out.answer_mask_o, out.warp_o) = (answer.mask, answer.warp);
        }
        let Some((_, lanes)) = self.pass() else { return };
        match self.offer() {
            None => {}
            Some((Server::Global, _)) => out.global_valid_o = 1,
            Some((Server::Local, _)) => (out.global_valid_o, out.local_o) = (1, 1),
            Some((Server::Shared, _)) => out.shared_valid_o = 1,
            Some((Server::Constant, _)) => out.constant_valid_o = 1,
            Some((Server::Shuffle, _)) => out.shuffle_valid_o = 1,
        }
        out.line_first_o = out.global_valid_o & u8::from(self.line_first_q);
        let access = self.access(lanes);
        (out.addr_o, out.store_o, out.compare_o) = (*access.addr, *access.store, *access.compare);
        (out.lanes_o, out.warp_o, out.modifiers_o) = (lanes, access.warp, self.modifiers());
        (out.kind_o, out.size_o) = (access.kind, access.size);
        (out.signed_o, out.atomic_o) = (access.signed.into(), access.atomic);
        out.texture_o = access.texture;
        (out.reg_valid_o, out.reg_o) = (access.reg.is_some().into(), access.reg.unwrap_or_default());
        (out.pred_valid_o, out.pred_o) = (self.pred().is_some().into(), self.pred().unwrap_or_default());
    }

    fn late(&mut self, inputs: &AddressUnitIn, out: &mut AddressUnitOut) {
        let served = self.served(inputs);
        out.in_ready_o = self.ready(served).into();
        out.place_warp_o = if inputs.in_valid_i != 0 { inputs.in_warp_i[usize::from(inputs.in_port_i)] } else { 0 };
        out.last_o = self.last(served).into();
        let finish = self.finish(served);
        (out.finish_valid_o, out.finish_warp_o) = (finish.is_some().into(), finish.unwrap_or_default());
    }

    fn clock(&mut self, inputs: &AddressUnitIn, out: &AddressUnitOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let mut done = set_bits(inputs.write_done_i);
        let written = done.any(|p| self.has_part(inputs.written_i[p].register()));
        self.serve(self.served(inputs), written);
        if inputs.in_valid_i != 0 && out.in_ready_o != 0 {
            let port = usize::from(inputs.in_port_i);
            let source = |k: usize| {
                let place = OPERANDS * port + k;
                is_set(inputs.in_src_valid_i, place).then(|| &inputs.in_data_i[place])
            };
            let issued = Issued {
                instruction: inputs.in_instruction_i[port],
                mask: inputs.in_mask_i[port],
                warp: inputs.in_warp_i[port],
            };
            let bounds = Bounds {
                shared_base: inputs.place_base_i,
                shared_bytes: inputs.shared_bytes_i,
                common: self.shares.then_some(Common {
                    private_bytes: inputs.private_bytes_i,
                    base: inputs.place_common_i,
                    released: inputs.place_released_i != 0,
                }),
                local_words: inputs.local_words_i,
            };
            self.take(&issued, std::array::from_fn(source), &bounds);
        }
    }

    fn probe(&self, _: &AddressUnitIn, _: &AddressUnitOut, probe: &mut AddressUnitProbe) {
        *probe = crate::Ports::zeroed();
        if self.busy_q {
            probe.lanes_q = self.lanes_q;
            (probe.shared_q, probe.local_q, probe.constant_q) = (self.shared_q, self.local_q, self.constant_q);
            probe.shuffle_q = self.shuffle_q.into();
            (probe.parts_q, probe.space_q) = (self.parts_q, self.space_q);
            probe.line_first_q = self.line_first_q.into();
        }
    }
}

#[cfg(test)]
mod tests;
