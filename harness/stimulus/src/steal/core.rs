//! The surroundings of the register file in an SM, as far as they matter to it: grids of warps that issue instructions without pending registers,
//! name dead registers in them, and write results; schedulers that name the warps which may issue next.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::{MAX_PORTS, MrfShape};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::driver::{alias, lane_mask};
use crate::surroundings::{Offer, Pending, Registers, Results, latency, numbered, parts};

/// An instruction of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) warp: u8,
    pub(crate) mask: u32,
    /// Its sources; `NO_REG` where there is none.
    pub(crate) sources: [u8; OPERANDS],
    pub(crate) dst: u8,
    /// A register that is dead after it; `NO_REG`: it names none.
    pub(crate) hint: u8,
    long: bool,
    /// Whether only its result comes to the file, and not the instruction.
    outside: bool,
}

/// What the file did in a cycle.
#[derive(Default)]
pub(crate) struct Done {
    /// For each port the instruction taken.
    pub(crate) taken: [Option<Instruction>; MAX_PORTS],
    /// For each port the warp of the instruction that was dispatched: the instructions of a warp leave in order.
    pub(crate) dispatched: [Option<u8>; MAX_PORTS],
    /// For each bus the result taken.
    pub(crate) written: [Option<Offer>; MAX_PORTS],
    /// Buses whose result has reached its destination.
    pub(crate) done: u8,
}

#[derive(Clone, Copy)]
struct Warp {
    /// Registers that have a value at the current point of its program.
    defined: Registers,
    pending: Registers,
    /// Number of its instructions in the file and of its pending results.
    under: usize,
    mask: u32,
    head: Option<Instruction>,
    /// Registers that its last instructions have written, and registers that they have named dead.
    written: [u8; RECENT],
    freed: [u8; RECENT],
    /// Sources of its last instruction.
    read: [u8; OPERANDS],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// The grid ends: nothing more is issued.
    Ending,
    /// Cycles until the next grid begins.
    Between(u64),
}

pub(crate) struct Core {
    shape: MrfShape,
    state: State,
    /// Rows of each warp, and registers of each warp.
    rows: usize,
    registers: usize,
    warps: Vec<Warp>,
    /// Numbers of the warps, and the places of their rows: how many warps' rows are before them.
    names: Vec<u8>,
    places: Vec<usize>,
    /// Whether a warp's place is its number.
    in_order: bool,
    /// Instructions in the file, the oldest first.
    held: Vec<Instruction>,
    pub(crate) results: Results,
    /// The warp whose operands are latched, for each port.
    candidates: [Option<usize>; MAX_PORTS],
    /// The warp that issued last, for each port.
    greedy: [usize; MAX_PORTS],
    /// Banks that are used more than others.
    hot: [usize; 2],
}

/// Maximum number of warps: few, so that each has many instructions.
const WARPS: usize = 12;
/// Number of registers that are remembered.
const RECENT: usize = 3;

knobs! {
    pub(crate) struct CoreKnobs {
        offer: "a port issues" = [100, 500, 800, 1000],
        candidate: "a port names a candidate" = [600, 1000],
        head: "a warp gets its next instruction" = [50, 400, 1000],
        register: "a source is a register" = [200, 600, 1000],
        equal: "a source is the register of another one" = [0, 200],
        crowd: "a register is in one of two banks" = [0, 300, 800],
        destination: "an instruction has a result" = [500, 900, 1000],
        hint: "a register is dead after it" = [20, 300, 800],
        long: "an operation has a long latency" = [0, 100, 500],
        parts: "a result comes in parts" = [0, 300],
        slow: "a result takes its time" = [0, 300, 900],
        result: "results are offered" = [300, 800, 1000],
        stop: "a warp whose operands are stolen does not issue" = [0, 100, 500],
        diverge: "a warp takes another path" = [0, 20, 200],
        inactive: "lanes are inactive on it" = [0, 200, 900],
        end: "a warp ends, and another one begins in its place" = [0, 2, 20],
        grid: "a grid comes to its end" = [0, 1, 5],
        again: "a register is one that has just been written or freed" = [0, 300, 800],
        bank: "a source is in the bank of another one" = [0, 500, 950],
        outside: "an instruction does not come to the file, but its result" = [0, 100, 400],
        wrong_next: "write_next_i does not agree with the warp's next instruction" = [0, 500],
    }
}

impl Core {
    pub(crate) fn new(shape: &MrfShape) -> Self {
        Self {
            shape: *shape,
            state: State::Between(1),
            rows: 1,
            registers: shape.banks.min(NO_REG.into()),
            warps: Vec::new(),
            names: Vec::new(),
            places: Vec::new(),
            in_order: false,
            held: Vec::new(),
            results: Results::new(1),
            candidates: [None; MAX_PORTS],
            greedy: [0; MAX_PORTS],
            hot: [0; 2],
        }
    }

    /// As `new`, for a file in which a warp's number determines its rows.
    pub(crate) fn in_order(shape: &MrfShape) -> Self {
        Self { in_order: true, ..Self::new(shape) }
    }

    /// Reset.
    pub(crate) fn clear(&mut self) {
        self.state = State::Between(1);
        self.candidates = [None; MAX_PORTS];
        self.held.clear();
        self.results.clear();
        self.warps.clear();
    }

    /// Rows of each warp.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of a warp.
    pub(crate) fn name(&self, warp: u8) -> u8 {
        self.names[usize::from(warp)]
    }

    /// A warp's first row.
    pub(crate) fn base(&self, warp: u8) -> u16 {
        (self.places[usize::from(warp)] * self.rows) as u16
    }

    /// The warp with this number.
    pub(crate) fn warp_of(&self, name: u8) -> Option<u8> {
        self.names.iter().position(|&known| known == name).map(|warp| warp as u8)
    }

    /// The port that issues a warp's instructions.
    fn port(&self, warp: usize) -> usize {
        usize::from(self.names[warp]) % self.shape.issue_ports
    }

    /// Registers of each warp.
    pub(crate) fn registers(&self) -> usize {
        self.registers
    }

    /// If a grid is about to begin: whether the last row belongs to no warp.
    pub(crate) fn fresh(&self) -> Option<bool> {
        let last = |&place: &usize| (place + 1) * self.rows == self.shape.depth;
        matches!(self.state, State::Between(_)).then_some(!self.places.iter().any(last))
    }

    /// Begins a cycle.
    pub(crate) fn begin(&mut self, rng: &mut Rng, knobs: &CoreKnobs) {
        self.results.begin(rng, knobs.result);
        if rng.chance(5) {
            self.hot = [0; 2].map(|_| rng.below(self.shape.banks as u64) as usize);
        }
        match self.state {
            State::Between(0) => self.state = State::Running,
            State::Between(left) => {
                if self.warps.is_empty() {
                    self.divide(rng);
                }
                self.state = State::Between(left - 1);
            }
            State::Ending if self.idle() => {
                self.warps.clear();
                self.candidates = [None; MAX_PORTS];
                self.divide(rng);
                self.state = State::Between(rng.below(6));
            }
            State::Ending => {}
            State::Running => {
                if rng.chance(knobs.grid) {
                    self.state = State::Ending;
                }
                self.change_warps(rng, knobs);
                for w in 0..self.warps.len() {
                    if self.may_issue(w, true)
                        && let Some(instruction) = self.warps[w].head.take()
                    {
                        self.begins(&instruction);
                        let bus = self.port(w);
                        self.dispatch(rng, knobs, bus, &instruction);
                    }
                }
            }
        }
    }

    /// An instruction of a warp is in flight now.
    fn begins(&mut self, instruction: &Instruction) {
        let warp = &mut self.warps[usize::from(instruction.warp)];
        warp.under += 1;
        warp.pending.put(instruction.dst, true);
    }

    fn idle(&self) -> bool {
        self.warps.iter().all(|warp| warp.under == 0) && self.results.is_taken()
    }

    /// Divides the rows among warps.
    fn divide(&mut self, rng: &mut Rng) {
        let (ports, depth) = (self.shape.issue_ports, self.shape.depth);
        let cap = usize::from(NO_REG).div_ceil(self.shape.banks);
        let most = WARPS.min(depth) / ports;
        let any = ports * (1 + if rng.chance(300) { most - 1 } else { rng.below(most as u64) as usize });
        // A number of warps that share all rows.
        let even: Vec<usize> =
            (ports..=ports * most).filter(|n| n % ports == 0 && depth % n == 0 && depth / n <= cap).collect();
        let shared = !even.is_empty() && rng.chance(400);
        // In a small file, a single warp has more registers than one of several warps can have.
        let small = ports == 2 && depth * self.shape.banks < 2 * usize::from(NO_REG);
        let warps = match rng.below(20) {
            0 if small => 1,
            _ if shared => even[rng.below(even.len() as u64) as usize],
            _ => any,
        };
        let fit = (depth / warps).min(cap);
        self.rows = if shared || rng.chance(500) { fit } else { 1 + rng.below(fit as u64) as usize };
        self.registers = (self.rows * self.shape.banks).min(NO_REG.into());
        let (defined, pending, none) = (Registers::default(), Registers::default(), [NO_REG; RECENT]);
        let warp =
            Warp { defined, pending, under: 0, mask: u32::MAX, head: None, written: none, freed: none, read: none };
        self.warps = vec![warp; warps];
        self.number(rng, warps);
    }

    /// The warps get numbers, of which many differ in one bit, and places. Each port has as many warps as the other.
    fn number(&mut self, rng: &mut Rng, warps: usize) {
        self.names.clear();
        self.places.clear();
        let most = if self.in_order { (self.shape.depth / self.rows).min(MAX_WARPS) } else { MAX_WARPS } as u64;
        let ports = self.shape.issue_ports as u64;
        let first = rng.below(ports.min(most));
        while self.names.len() < warps {
            let count = self.names.len();
            let known = self.names.get(rng.below(count.max(1) as u64) as usize).copied();
            let name = match known {
                Some(known) if rng.chance(700) => alias(rng, known.into(), most),
                _ => rng.below(most),
            };
            if name % ports == (first + count as u64) % ports && !self.names.contains(&(name as u8)) {
                self.names.push(name as u8);
                self.places.insert(rng.below(count as u64 + 1) as usize, count);
            }
        }
        if self.in_order {
            self.places = self.names.iter().map(|&name| name.into()).collect();
        }
    }

    /// Warps get their next instructions, take other paths, and end.
    fn change_warps(&mut self, rng: &mut Rng, knobs: &CoreKnobs) {
        if rng.chance(knobs.end) {
            let w = rng.below(self.warps.len() as u64) as usize;
            let warp = &mut self.warps[w];
            if warp.under == 0 && !self.candidates.contains(&Some(w)) {
                (warp.head, warp.defined, warp.mask) = (None, Registers::default(), u32::MAX);
                (warp.written, warp.read) = ([NO_REG; RECENT], [NO_REG; OPERANDS]);
            }
        }
        for w in 0..self.warps.len() {
            if rng.chance(knobs.diverge) {
                self.warps[w].mask = lane_mask(rng, knobs.inactive);
            }
            if self.warps[w].head.is_none() && rng.chance(knobs.head) {
                self.warps[w].head = Some(self.instruction(rng, knobs, w));
            }
        }
    }

    /// The next instruction of a warp's program.
    fn instruction(&mut self, rng: &mut Rng, knobs: &CoreKnobs, w: usize) -> Instruction {
        let crowd = knobs.crowd;
        let recent = |rng: &mut Rng, of: &[u8; RECENT]| of[rng.below(RECENT as u64) as usize];
        let Warp { written, freed, .. } = self.warps[w];
        let mut sources = [NO_REG; OPERANDS];
        for k in 0..OPERANDS {
            if !rng.chance(knobs.register) {
                continue;
            }
            let again = recent(rng, &written);
            sources[k] = if k > 0 && rng.chance(knobs.equal) {
                sources[k - 1]
            } else if k > 0 && rng.chance(knobs.bank) {
                self.beside(rng, w, sources[k - 1])
            } else if rng.chance(knobs.again) && self.warps[w].defined.has(again) {
                again
            } else {
                self.defined(rng, crowd, w)
            };
        }
        let dst = match rng.below(4) {
            _ if !rng.chance(knobs.destination) => NO_REG,
            0 if rng.chance(knobs.again) => recent(rng, &written),
            1 | 2 if rng.chance(knobs.again) => recent(rng, &freed),
            _ => self.register(rng, crowd, w),
        };
        let hint = match rng.below(8) {
            _ if !rng.chance(knobs.hint) => NO_REG,
            // Any register, the instruction's own result, or one of its sources.
            0 => self.register(rng, crowd, w),
            1 => dst,
            2 | 3 => sources[rng.below(OPERANDS as u64) as usize],
            4 | 5 => recent(rng, &written),
            _ => self.defined(rng, crowd, w),
        };
        let outside = rng.chance(knobs.outside);
        let warp = &mut self.warps[w];
        let (hint, sources, dst) = if outside {
            (NO_REG, [NO_REG; OPERANDS], warp.read[rng.below(OPERANDS as u64) as usize])
        } else {
            (hint, sources, dst)
        };
        warp.read = sources;
        warp.defined.put(dst, true);
        warp.defined.put(hint, false);
        for (register, recent) in [(dst, &mut warp.written), (hint, &mut warp.freed)] {
            if register != NO_REG {
                recent.rotate_right(1);
                recent[0] = register;
            }
        }
        let long = rng.chance(knobs.long);
        Instruction { warp: w as u8, mask: warp.mask, sources, dst, hint, long, outside }
    }

    /// A register with a value in the bank of another one.
    fn beside(&self, rng: &mut Rng, w: usize, register: u8) -> u8 {
        if register == NO_REG {
            return NO_REG;
        }
        let (banks, from) = (self.shape.banks, rng.below(self.rows as u64) as usize);
        let row = |n: usize| (usize::from(register) % banks + banks * ((from + n) % self.rows)) as u8;
        let other = |&one: &u8| one != register && self.warps[w].defined.has(one);
        (0..self.rows).map(row).find(other).unwrap_or(register)
    }

    /// Any register of a warp.
    fn register(&self, rng: &mut Rng, crowd: u32, w: usize) -> u8 {
        let banks = self.shape.banks;
        let register = if rng.chance(crowd) {
            let hot = self.hot[rng.below(2) as usize];
            (hot + banks - usize::from(self.names[w]) % banks) % banks + banks * rng.below(self.rows as u64) as usize
        } else {
            rng.below(self.registers as u64) as usize
        };
        let register = if rng.chance(20) { self.registers } else { register };
        register.min(self.registers - 1) as u8
    }

    /// A register that has a value.
    fn defined(&self, rng: &mut Rng, crowd: u32, w: usize) -> u8 {
        for _ in 0..4 {
            let register = self.register(rng, crowd, w);
            if self.warps[w].defined.has(register) {
                return register;
            }
        }
        let defined = &self.warps[w].defined;
        let from = rng.below(self.registers as u64) as usize;
        let order = (0..self.registers).map(|n| ((from + n) % self.registers) as u8);
        order.into_iter().find(|&register| defined.has(register)).unwrap_or(NO_REG)
    }

    /// Whether a warp's instruction may issue: to the file, or (`outside`) elsewhere.
    fn may_issue(&self, w: usize, outside: bool) -> bool {
        let warp = &self.warps[w];
        let waits = |head: &Instruction| {
            head.sources.iter().any(|&register| warp.pending.has(register)) || warp.pending.has(head.dst)
        };
        // The result of such an instruction may come before older instructions have left, and so before they name their dead register.
        let early = |head: &Instruction| {
            self.held.iter().any(|held| usize::from(held.warp) == w && held.hint == head.dst && held.hint != NO_REG)
        };
        let may = |head: &Instruction| head.outside == outside && !waits(head) && !(outside && early(head));
        warp.head.as_ref().is_some_and(may)
    }

    /// The instruction that a port issues, and that of the warp which it names as candidate. `stolen`: operands of the candidate that was named
    /// before are being read.
    pub(crate) fn schedule(
        &mut self,
        rng: &mut Rng,
        knobs: &CoreKnobs,
        p: usize,
        stolen: bool,
    ) -> (Option<Instruction>, Option<Instruction>) {
        let before = self.candidates[p].take();
        if self.state != State::Running {
            return (None, None);
        }
        let mut able: Vec<usize> =
            (0..self.warps.len()).filter(|&w| self.port(w) == p && self.may_issue(w, false)).collect();
        let again = able.contains(&self.greedy[p]) && rng.chance(500);
        let winner = match able.len() as u64 {
            _ if again => Some(self.greedy[p]),
            0 => None,
            count => Some(able[rng.below(count) as usize]),
        };
        let stops = stolen && rng.chance(knobs.stop);
        let issues = match before.filter(|_| stolen) {
            Some(_) if stops && rng.chance(300) => None,
            Some(candidate) if !stops => Some(candidate),
            _ => winner.filter(|_| rng.chance(knobs.offer)),
        };
        if let Some(w) = issues {
            self.greedy[p] = w;
        }
        able.retain(|&w| Some(w) != issues);
        if !able.is_empty() && rng.chance(knobs.candidate) {
            self.candidates[p] = Some(able[rng.below(able.len() as u64) as usize]);
        }
        let head = |w: Option<usize>| w.and_then(|w| self.warps[w].head);
        (head(issues), head(self.candidates[p]))
    }

    /// `write_next_i` of a result: whether the next instruction of its warp reads it. Operands must be right also where the bit is wrong.
    pub(crate) fn is_read_next(&self, rng: &mut Rng, knobs: &CoreKnobs, result: &Offer) -> bool {
        let head = self.warps[usize::from(result.warp)].head;
        head.is_some_and(|head| head.sources.contains(&result.register)) != rng.chance(knobs.wrong_next)
    }

    /// The instruction of a warp that leaves next.
    pub(crate) fn leaves(&self, warp: u8) -> Option<&Instruction> {
        self.held.iter().find(|held| held.warp == warp)
    }

    /// The clock edge.
    pub(crate) fn end(&mut self, rng: &mut Rng, knobs: &CoreKnobs, done: &Done) {
        for latched in self.results.done(done.done) {
            let warp = &mut self.warps[usize::from(latched.warp)];
            warp.pending.put(latched.register, false);
            warp.under -= 1;
        }
        let mut written = numbered(&done.written);
        written.sort_by_key(|(_, offer)| std::cmp::Reverse(offer.result));
        self.results.taken(rng, knobs.slow, &written);
        for p in 0..MAX_PORTS {
            let leaves = done.dispatched[p].and_then(|warp| self.held.iter().position(|held| held.warp == warp));
            if let Some(place) = leaves {
                let instruction = self.held.remove(place);
                self.dispatch(rng, knobs, p, &instruction);
            }
        }
        for instruction in done.taken.into_iter().flatten() {
            self.held.push(instruction);
            self.warps[usize::from(instruction.warp)].head = None;
            self.begins(&instruction);
        }
    }

    fn dispatch(&mut self, rng: &mut Rng, knobs: &CoreKnobs, p: usize, instruction: &Instruction) {
        if instruction.dst == NO_REG {
            self.warps[usize::from(instruction.warp)].under -= 1;
            return;
        }
        let Instruction { warp, dst, mask, long, .. } = *instruction;
        // All lanes may come in the first part.
        let first = |rng: &mut Rng| if rng.chance(300) { u32::MAX } else { rng.next_u64() as u32 };
        let parts = parts(mask, true, || rng.chance(knobs.parts).then(|| first(rng)));
        let after = latency(rng, knobs.slow, long, (!instruction.outside).into(), 200);
        let bus = if rng.chance(800) { p } else { rng.below(self.shape.issue_ports as u64) as usize };
        self.results.start(after, Pending { warp, register: dst, parts, bus, long, private: rng.chance(500) });
    }
}
