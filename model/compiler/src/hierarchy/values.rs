//! The writes and reads of a region, and which of them form one value.
//!
//! One pass over the region finds the writes that reach each read; one pass suffices, since no path in the region goes backward. A read can be served
//! above the MRF if all the writes that reach it belong to the region and their results may go there. These writes then form one value, as they have
//! to agree on an entry (thesis 6.4.4, figure 6.9). A guarded write does not end the value before it.

use std::collections::HashMap;

use gpurf_isa::{Instruction, Reg, Slot};

use super::regions::Region;

/// A write of the region.
#[derive(Debug)]
pub struct Write {
    /// The instruction.
    pub pc: usize,
    /// Its index in the region.
    pub place: usize,
    /// Whether the instruction belongs to the private datapath.
    pub private: bool,
    /// Whether its result has a long latency, and so goes to the MRF only.
    pub long: bool,
    /// Whether a lane may read the result after it leaves the region.
    pub live_out: bool,
    /// The reads that this write reaches.
    pub reads: Vec<usize>,
}

/// A register that an instruction of the region reads, in one slot or several.
#[derive(Debug)]
pub struct Read {
    /// The instruction.
    pub pc: usize,
    /// Its index in the region.
    pub place: usize,
    /// The register.
    pub register: Reg,
    /// The slots that read it, in the order a, b, c.
    pub slots: [bool; 3],
    /// Whether the instruction belongs to the private datapath.
    pub private: bool,
    /// Whether the instruction is guarded, so that some lanes may not read.
    pub guarded: bool,
    /// The writes that reach this read.
    pub source: Source,
}

/// What kind of writes reach a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Only the register's value from before the region, on all paths.
    Outside,
    /// A mixture that no entry can serve: on some path the value from before the region or a result of long latency.
    Uncertain,
    /// Results of long latency, on all paths.
    Long,
    /// A value of the region, by number.
    Value(usize),
}

/// Writes that agree on an entry, and the reads that can be served there.
#[derive(Debug, Default)]
pub struct Value {
    /// The writes, in the order of the code.
    pub writes: Vec<usize>,
    /// The reads, in the order of the code.
    pub reads: Vec<usize>,
}

/// All writes, reads and values of a region.
#[derive(Debug)]
pub struct Values {
    /// Writes, in the order of the code.
    pub writes: Vec<Write>,
    /// Reads, in the order of the code.
    pub reads: Vec<Read>,
    /// Values that can be read above the MRF.
    pub values: Vec<Value>,
}

impl Read {
    /// The slots that read the register.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        let slots = self.slots;
        Slot::ALL.into_iter().filter(move |slot| slots[slot.index()])
    }
}

impl Values {
    /// Finds those of a region.
    pub fn of(code: &[Instruction], region: &Region) -> Self {
        let mut flow = Flow { writes: Vec::new(), reads: Vec::new(), reaching: Vec::new(), sets: Sets::new() };
        flow.follow(code, region);
        let Flow { writes, mut reads, reaching, sets } = flow;
        let mut groups = Groups((0..writes.len()).collect());
        let served = |set: &[u32]| !set.contains(&OUTSIDE) && !set.iter().any(|w| writes[*w as usize - 1].long);
        for set in reaching.iter().map(|set| sets.get(*set)).filter(|set| served(set)) {
            set.iter().for_each(|write| groups.join(set[0] as usize - 1, *write as usize - 1));
        }
        let mut values: Vec<Value> = Vec::new();
        let mut numbers = HashMap::new();
        for (number, read) in reads.iter_mut().enumerate() {
            let set = sets.get(reaching[number]);
            read.source = match set {
                [OUTSIDE] => Source::Outside,
                _ if served(set) => {
                    let group = groups.find(set[0] as usize - 1);
                    let value = *numbers.entry(group).or_insert(values.len());
                    if value == values.len() {
                        values.push(Value::default());
                    }
                    values[value].reads.push(number);
                    Source::Value(value)
                }
                _ if set.iter().all(|w| *w != OUTSIDE && writes[*w as usize - 1].long) => Source::Long,
                _ => Source::Uncertain,
            };
        }
        for write in 0..writes.len() {
            if let Some(value) = numbers.get(&groups.find(write)) {
                values[*value].writes.push(write);
            }
        }
        Self { writes, reads, values }
    }
}

/// In sets of writes, the register's value from before the region. Writes are numbered from 1.
const OUTSIDE: u32 = 0;

/// The state of the pass over the region.
struct Flow {
    writes: Vec<Write>,
    reads: Vec<Read>,
    /// For each read, the number of the set of writes that reach it.
    reaching: Vec<usize>,
    sets: Sets,
}

impl Flow {
    fn follow(&mut self, code: &[Instruction], region: &Region) {
        let registers = usize::from(Reg::ZERO.0);
        // Before each instruction, the number of the set of writes that reach each register.
        let mut fronts: Vec<Option<Vec<usize>>> = vec![None; region.members.len()];
        fronts[0] = Some(vec![Sets::OUTSIDE; registers]);
        for (place, &pc) in region.members.iter().enumerate() {
            let mut state = fronts[place].take().expect("a region has one way in");
            let instruction = &code[pc];
            self.read(instruction, pc, place, &state);
            if let Some(register) = instruction.destination() {
                let set = self.write(instruction, pc, place);
                let old = state[register.index()];
                state[register.index()] = if instruction.is_guarded() { self.sets.union(old, set) } else { set };
            }
            self.leave(&state, region.live_out[place]);
            for &to in &region.inside[place] {
                match &mut fronts[to] {
                    None => fronts[to] = Some(state.clone()),
                    Some(front) => front.iter_mut().zip(&state).for_each(|(a, b)| *a = self.sets.union(*a, *b)),
                }
            }
        }
    }

    fn read(&mut self, instruction: &Instruction, pc: usize, place: usize, state: &[usize]) {
        let first = self.reads.len();
        for (slot, register) in instruction.sources() {
            let known = (first..self.reads.len()).find(|read| self.reads[*read].register == register);
            let read = known.unwrap_or_else(|| {
                let set = state[register.index()];
                for write in self.sets.get(set).iter().filter(|write| **write != OUTSIDE) {
                    self.writes[*write as usize - 1].reads.push(self.reads.len());
                }
                self.reaching.push(set);
                self.reads.push(Read {
                    pc,
                    place,
                    register,
                    slots: [false; 3],
                    private: instruction.unit().is_private(),
                    guarded: instruction.is_guarded(),
                    source: Source::Uncertain,
                });
                self.reads.len() - 1
            });
            self.reads[read].slots[slot.index()] = true;
        }
    }

    /// Records a write. Returns the number of the set that holds only this write.
    fn write(&mut self, instruction: &Instruction, pc: usize, place: usize) -> usize {
        self.writes.push(Write {
            pc,
            place,
            private: instruction.unit().is_private(),
            long: instruction.is_long_latency(),
            live_out: false,
            reads: Vec::new(),
        });
        self.sets.number(vec![self.writes.len() as u32])
    }

    /// Marks the writes that reach a register in `live`, which lanes that leave the region may read.
    fn leave(&mut self, state: &[usize], live: crate::marks::flow::Registers) {
        for (register, set) in state.iter().enumerate().filter(|(_, set)| **set != Sets::OUTSIDE) {
            if live.contains(Reg(register as u8)) {
                for write in self.sets.get(*set).iter().filter(|write| **write != OUTSIDE) {
                    self.writes[*write as usize - 1].live_out = true;
                }
            }
        }
    }
}

/// Sets of writes; equal sets have one number.
struct Sets {
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, usize>,
    unions: HashMap<(usize, usize), usize>,
}

impl Sets {
    /// The number of the set that holds only `OUTSIDE`.
    const OUTSIDE: usize = 0;

    fn new() -> Self {
        let outside = vec![OUTSIDE];
        Self { sets: vec![outside.clone()], numbers: HashMap::from([(outside, 0)]), unions: HashMap::new() }
    }

    fn get(&self, number: usize) -> &[u32] {
        &self.sets[number]
    }

    fn number(&mut self, set: Vec<u32>) -> usize {
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        })
    }

    fn union(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return a;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let mut set = [self.get(a), self.get(b)].concat();
        set.sort_unstable();
        set.dedup();
        let number = self.number(set);
        self.unions.insert((a, b), number);
        number
    }
}

/// Disjoint groups of writes (union-find).
struct Groups(Vec<usize>);

impl Groups {
    fn find(&mut self, mut write: usize) -> usize {
        while self.0[write] != write {
            self.0[write] = self.0[self.0[write]];
            write = self.0[write];
        }
        write
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}
