//! The greedy allocation: values are placed in the order of the energy that they save for each slot that they occupy (thesis, figure 6.6).

use gpurf_isa::{Instruction, LastResultFile, OrfEntry, Reg, ResultLevel, SourceLevel, Upper};

use super::explain::{Explanation, Reason};
use super::read_operands::{self, Operand};
use super::regions::Region;
use super::savings::{Above, Savings};
use super::values::{Source, Values};
use super::{HierarchyOptions, last_result};

/// A value, or a read operand, that may get an entry.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The reads to be served, in the order of the code.
    pub reads: Vec<usize>,
    /// Where the value that they read comes from.
    origin: Origin,
}

impl Candidate {
    /// A value that finds no entry loses its last read to the MRF, and is tried again (thesis 6.4.2). `None` if no read is left.
    fn shortened(mut self) -> Option<Self> {
        self.reads.pop();
        (!self.reads.is_empty()).then_some(self)
    }
}

/// Where a candidate comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// A value of the region.
    Value(usize),
    /// A read of the MRF that copies the register to the ORF.
    Copy(usize),
}

/// The range and the savings of a candidate.
#[derive(Debug)]
struct Plan {
    /// The writes to the level above the MRF, and whether each goes to the MRF too.
    writes: Vec<(usize, bool)>,
    /// Half slots that it occupies, both ends included: reads are even, writes odd. A copy is made when its instruction reads.
    begin: usize,
    end: usize,
    savings: f64,
}

impl Plan {
    /// Savings for each slot that is occupied.
    fn priority(&self) -> f64 {
        self.savings / (self.end / 2 - self.begin / 2) as f64
    }
}

/// Places the values of a region, and writes their levels into the code.
pub fn allocate(
    code: &mut [Instruction],
    region: &Region,
    values: &Values,
    options: &HierarchyOptions,
    savings: &Savings,
    explanation: &mut Explanation,
) {
    explanation.before(values, options);
    let mut allocation = Allocation { code, values, options, savings, explanation };
    let mut left: Vec<usize> = (0..values.values.len()).collect();
    if options.lrf != LastResultFile::None {
        left = allocation.last_results(left);
    }
    if options.orf_entries > 0 {
        let operands = if options.read_operands { read_operands::of(region, values) } else { Vec::new() };
        allocation.operand_file(&left, operands);
    }
}

struct Allocation<'a> {
    code: &'a mut [Instruction],
    values: &'a Values,
    options: &'a HierarchyOptions,
    savings: &'a Savings,
    explanation: &'a mut Explanation,
}

impl Allocation<'_> {
    /// Fills the LRF. Returns the values that are not placed.
    fn last_results(&mut self, values: Vec<usize>) -> Vec<usize> {
        let mut queue = Vec::new();
        for &number in &values {
            let value = &self.values.values[number];
            if let Some(bank) = last_result::bank(self.options.lrf, self.values, value) {
                let candidate = Candidate { reads: value.reads.clone(), origin: Origin::Value(number) };
                if let Ok(plan) = self.plan(&candidate, Above::Lrf) {
                    queue.push((plan, candidate, bank));
                }
            }
        }
        sort(&mut queue, |(plan, candidate, _)| (plan, self.register(candidate)));
        let mut banks = vec![Entry::default(); usize::from(self.options.lrf.banks())];
        let mut placed = vec![false; self.values.values.len()];
        for (plan, candidate, bank) in queue {
            if banks[usize::from(bank.number())].take(&plan) {
                if let Origin::Value(number) = candidate.origin {
                    placed[number] = true;
                }
                self.place(&candidate, &plan, Upper::Lrf(bank));
            }
        }
        values.into_iter().filter(|number| !placed[*number]).collect()
    }

    /// Fills the ORF.
    fn operand_file(&mut self, values: &[usize], operands: Vec<Operand>) {
        let of_value = |number: &usize| {
            let reads = self.values.values[*number].reads.clone();
            Candidate { reads, origin: Origin::Value(*number) }
        };
        let of_operand = |operand: Operand| Candidate { reads: operand.reads, origin: Origin::Copy(operand.copy) };
        let candidates: Vec<Candidate> =
            values.iter().map(of_value).chain(operands.into_iter().map(of_operand)).collect();
        let mut queue = Vec::new();
        for candidate in candidates {
            match self.plan(&candidate, Above::Orf) {
                Ok(plan) => queue.push((plan, candidate)),
                Err(reason) => {
                    // If the encoding does not allow two levels, a shorter range does not help: its result would need the MRF too.
                    self.refuse(&candidate, reason);
                }
            }
        }
        sort(&mut queue, |(plan, candidate)| (plan, self.register(candidate)));
        let mut entries = vec![Entry::default(); self.options.orf_entries.into()];
        for (plan, candidate) in queue {
            self.find_entry(&mut entries, plan, candidate);
        }
    }

    fn find_entry(&mut self, entries: &mut [Entry], mut plan: Plan, mut candidate: Candidate) {
        let whole = candidate.clone();
        loop {
            if let Some(entry) = entries.iter_mut().position(|entry| entry.take(&plan)) {
                let entry = OrfEntry::new(entry as u8).expect("an ORF has so many entries");
                self.place(&candidate, &plan, Upper::Orf(entry));
                self.shorten(&whole, &candidate);
                return;
            }
            let shorter = candidate.shortened().filter(|_| self.options.partial_ranges);
            let Some((next, shorter)) =
                shorter.and_then(|shorter| Some((self.plan(&shorter, Above::Orf).ok()?, shorter)))
            else {
                return self.refuse(&whole, Reason::NoEntry);
            };
            (plan, candidate) = (next, shorter);
        }
    }

    /// Plans a candidate. An error if the plan saves nothing or the encoding cannot express it.
    fn plan(&self, candidate: &Candidate, above: Above) -> Result<Plan, Reason> {
        let Values { writes, reads, values } = self.values;
        let end = 2 * reads[*candidate.reads.last().expect("a candidate has reads")].place;
        let plan = match candidate.origin {
            Origin::Copy(copy) => {
                let savings = self.savings.of_operand(self.values, &candidate.reads);
                Plan { writes: Vec::new(), begin: 2 * reads[copy].place, end, savings }
            }
            Origin::Value(number) => {
                let served = |read: &usize| candidate.reads.binary_search(read).is_ok();
                let to_mrf = |number: usize| writes[number].live_out || !writes[number].reads.iter().all(served);
                let above_mrf = values[number].writes.iter().filter(|number| writes[**number].reads.iter().any(served));
                let planned: Vec<(usize, bool)> = above_mrf.map(|number| (*number, to_mrf(*number))).collect();
                if planned.iter().any(|(_, to_mrf)| *to_mrf) && !self.options.encoding.allows_both(above) {
                    return Err(Reason::Encoding);
                }
                let savings = self.savings.of_results(self.values, above, &candidate.reads, &planned);
                let first = planned.first().expect("what is served is written").0;
                Plan { writes: planned, begin: 2 * writes[first].place + 1, end, savings }
            }
        };
        if plan.savings > 0.0 { Ok(plan) } else { Err(Reason::NoSaving) }
    }

    fn register(&self, candidate: &Candidate) -> Reg {
        self.values.reads[candidate.reads[0]].register
    }

    /// Writes the levels of a candidate into the code.
    fn place(&mut self, candidate: &Candidate, plan: &Plan, level: Upper) {
        for (number, to_mrf) in &plan.writes {
            let write = &self.values.writes[*number];
            self.code[write.pc].control.result_level =
                if *to_mrf { ResultLevel::Both(level) } else { ResultLevel::Upper(level) };
            self.explanation.write_is_placed(write, *to_mrf);
        }
        for number in &candidate.reads {
            self.set_source(*number, SourceLevel::Upper(level));
        }
        if let (Origin::Copy(copy), Upper::Orf(entry)) = (candidate.origin, level) {
            self.set_source(copy, SourceLevel::MrfCopied(entry));
        }
    }

    fn set_source(&mut self, number: usize, level: SourceLevel) {
        let read = &self.values.reads[number];
        for slot in read.slots() {
            self.code[read.pc].control.source_levels[slot.index()] = level;
        }
        self.explanation.read_is_placed(read);
    }

    fn refuse(&mut self, candidate: &Candidate, reason: Reason) {
        for number in &candidate.reads {
            self.explanation.read_stays(&self.values.reads[*number], reason);
        }
        match candidate.origin {
            Origin::Copy(copy) => self.explanation.read_stays(&self.values.reads[copy], reason),
            Origin::Value(number) => {
                for write in &self.values.values[number].writes {
                    self.explanation.write_stays(&self.values.writes[*write], reason);
                }
            }
        }
    }

    /// Records which reads and writes of a candidate were left out of its shortened range.
    fn shorten(&mut self, whole: &Candidate, placed: &Candidate) {
        for number in &whole.reads[placed.reads.len()..] {
            self.explanation.read_stays(&self.values.reads[*number], Reason::Shortened);
        }
        if let Origin::Value(number) = whole.origin {
            for write in self.values.values[number].writes.iter().map(|write| &self.values.writes[*write]) {
                if self.code[write.pc].control.result_level == ResultLevel::Mrf {
                    self.explanation.write_stays(write, Reason::Shortened);
                }
            }
        }
    }
}

/// Sorts a queue: the greatest priority first, then the earliest, then the lowest register.
fn sort<T>(queue: &mut [T], key: impl Fn(&T) -> (&Plan, Reg)) {
    queue.sort_by(|a, b| {
        let ((a, a_register), (b, b_register)) = (key(a), key(b));
        b.priority().total_cmp(&a.priority()).then(a.begin.cmp(&b.begin)).then(a_register.cmp(&b_register))
    });
}

/// The ranges, in half slots, in which an entry is occupied.
#[derive(Clone, Debug, Default)]
struct Entry(Vec<(usize, usize)>);

impl Entry {
    /// Occupies the entry for the range of a plan, if it is free; returns whether it was.
    fn take(&mut self, plan: &Plan) -> bool {
        let free = self.0.iter().all(|(begin, end)| plan.begin > *end || plan.end < *begin);
        if free {
            self.0.push((plan.begin, plan.end));
        }
        free
    }
}

impl Source {
    /// Why a read from this source uses the MRF when no attempt was made to place it.
    pub(super) fn reason(self, options: &HierarchyOptions) -> Reason {
        match self {
            Self::Outside => Reason::Outside,
            Self::Uncertain => Reason::Uncertain,
            Self::Long => Reason::LongLatency,
            Self::Value(_) if options.orf_entries == 0 => Reason::NotForLrf,
            Self::Value(_) => Reason::NoSaving,
        }
    }
}
