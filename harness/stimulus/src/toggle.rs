//! Toggle coverage of inputs: every bit of every input has to be both 0 and 1. A bit that never changes hides errors in the RTL's use of it, such as
//! a comparison that ignores it or a wire that is cut.
//!
//! The check needs only the block's declaration. A bit counts in a cycle that is compared, out of reset, while the payload that it belongs to is
//! valid. Bits that cannot change are listed by the block's driver as [`Unreached`], with the reason. An entry of this list whose bits all change
//! nonetheless is reported too, so that the list stays true.

use std::ops::RangeInclusive;

use gpurf_blocks::shape::STRAP_PORTS;
use gpurf_blocks::{Declaration, Packed, Role, WARP_BITS};

/// Bits of an input that cannot be 0 or cannot be 1 while it is valid, by the block's page.
#[derive(Clone, Debug)]
pub struct Unreached {
    /// Name of the input.
    pub signal: &'static str,
    /// The bits, in every element.
    pub bits: RangeInclusive<u32>,
    /// Elements; `None`: all of them.
    pub elements: Option<RangeInclusive<usize>>,
    /// Why they keep their value.
    pub why: &'static str,
}

impl Unreached {
    /// Bits of every element of an input.
    pub fn bits(signal: &'static str, bits: RangeInclusive<u32>, why: &'static str) -> Self {
        Self { signal, bits, elements: None, why }
    }

    /// Bits of a field of an input that is the packed struct `T`.
    pub fn field<T: Packed>(signal: &'static str, name: &str, bits: RangeInclusive<u32>, why: &'static str) -> Self {
        let (low, width) = T::bits_of(name);
        assert!(*bits.end() < width, "{signal}: {name} has {width} bits");
        Self::bits(signal, low + bits.start()..=low + bits.end(), why)
    }

    /// All bits of an input.
    pub fn all(signal: &'static str, why: &'static str) -> Self {
        Self::bits(signal, 0..=u32::MAX, why)
    }

    /// Upper bits of warp numbers that are constant if there are only this many warps.
    pub fn warps(signals: &[&'static str], warps: usize) -> Vec<Self> {
        let bits = warps.next_power_of_two().ilog2();
        let names = if bits < WARP_BITS { signals } else { &[] };
        names.iter().map(|signal| Self::bits(signal, bits..=WARP_BITS - 1, "there are fewer warps")).collect()
    }

    /// With two issue ports: the lowest bit of the numbers of warps and slots, in inputs with an element for each port or slot.
    pub fn parity(signals: &[&'static str], ports: usize) -> Vec<Self> {
        let names = if ports == 2 { signals } else { &[] };
        names.iter().map(|signal| Self::bits(signal, 0..=0, "a port has the warps and slots of its parity")).collect()
    }

    /// The diagonal of an age matrix with a row for each collector: no collector is older than itself.
    pub fn age(signal: &'static str, collectors: usize) -> impl Iterator<Item = Self> {
        let own = move |c| Self::bits(signal, c as u32..=c as u32, "a collector is not older than itself").of(c..=c);
        (0..collectors).map(own)
    }

    /// Restricts it to these elements.
    pub fn of(mut self, elements: RangeInclusive<usize>) -> Self {
        self.elements = Some(elements);
        self
    }

    fn holds(&self, signal: &str, element: usize, bit: u32) -> bool {
        self.signal == signal
            && self.bits.contains(&bit)
            && self.elements.as_ref().is_none_or(|elements| elements.contains(&element))
    }
}

/// Bits of a comparison in the block's RTL that cannot be the only difference between its operands, by the block's page.
#[derive(Clone, Debug)]
pub struct Unaliased {
    /// The comparison as the RTL has it, with single spaces.
    pub comparison: &'static str,
    /// The bits.
    pub bits: RangeInclusive<u32>,
    /// Why no two values differ in one of them alone.
    pub why: &'static str,
}

impl Unaliased {
    /// Bits of a comparison.
    pub fn bits(comparison: &'static str, bits: RangeInclusive<u32>, why: &'static str) -> Self {
        Self { comparison, bits, why }
    }

    /// Comparisons of a port's number that is computed from a wider number by a remainder.
    pub fn ports(comparisons: &[&'static str]) -> Vec<Self> {
        let upper = |comparison: &&'static str| Self::bits(comparison, 1..=31, "there are two ports");
        comparisons.iter().map(upper).collect()
    }

    /// Comparisons between warps or slots of the same port: with two ports the lowest bit of each is the port's number.
    pub fn parity(comparisons: &[&'static str], ports: usize) -> Vec<Self> {
        let names = if ports == 2 { comparisons } else { &[] };
        let lowest = |comparison: &&'static str| Self::bits(comparison, 0..=0, "both are of the same port");
        names.iter().map(lowest).collect()
    }

    /// Whether this bit of this comparison is excused.
    pub fn holds(&self, comparison: &str, bit: u32) -> bool {
        self.comparison == comparison && self.bits.contains(&bit)
    }
}

/// The reset input: cycles count only while it is high.
const RESET: &str = "rst_ni";
const WORD: usize = u64::BITS as usize;

/// Records which values the bits of a block's inputs have had.
pub struct Toggles {
    declaration: Declaration,
    reset: Option<usize>,
    /// Elements with bits that have not yet been both 0 and 1.
    open: Vec<Watched>,
    bits: usize,
    unreached: Vec<Unreached>,
    /// Excused bits, and the values they have had.
    excused: Vec<Watched>,
}

/// An element of an input.
struct Watched {
    signal: usize,
    element: usize,
    /// Of the bits that are watched: those that have never been 1, and those that have never been 0.
    never_one: Vec<u64>,
    never_zero: Vec<u64>,
}

impl Watched {
    /// Watches the bits that `counts` holds for.
    fn new(signal: usize, element: usize, bits: u32, counts: impl Fn(u32) -> bool) -> Self {
        let mut mask = vec![0; (bits as usize).div_ceil(WORD)];
        (0..bits).filter(|&bit| counts(bit)).for_each(|bit| mask[bit as usize / WORD] |= 1 << (bit as usize % WORD));
        Self { signal, element, never_one: mask.clone(), never_zero: mask }
    }

    fn watched(&self) -> usize {
        self.never_one.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn see(&mut self, bytes: &[u8]) {
        for (index, word) in bytes.chunks(WORD / 8).enumerate().take(self.never_one.len()) {
            let mut value = [0; WORD / 8];
            value[..word.len()].copy_from_slice(word);
            let value = u64::from_le_bytes(value);
            self.never_one[index] &= !value;
            self.never_zero[index] &= value;
        }
    }

    fn done(&self) -> bool {
        self.never_one.iter().chain(&self.never_zero).all(|&word| word == 0)
    }

    fn bits(&self) -> impl Iterator<Item = (u32, bool, bool)> + '_ {
        (0..self.never_one.len() * WORD).map(|bit| {
            let at = |words: &[u64]| words[bit / WORD] >> (bit % WORD) & 1 == 1;
            (bit as u32, at(&self.never_one), at(&self.never_zero))
        })
    }
}

impl Toggles {
    pub(crate) fn new(declaration: &Declaration, unreached: Vec<Unreached>) -> Self {
        let (mut open, mut excused) = (Vec::new(), Vec::new());
        for (signal, of) in declaration.signals.iter().enumerate() {
            let field = &of.field;
            // Straps set policies, which are constant during a run.
            if of.role != Role::Input || field.name == RESET || STRAP_PORTS.contains(&field.name) {
                continue;
            }
            for element in 0..field.count {
                let is_excused = |bit| unreached.iter().any(|u| u.holds(field.name, element, bit));
                open.push(Watched::new(signal, element, field.bits, |bit| !is_excused(bit)));
                excused.push(Watched::new(signal, element, field.bits, is_excused));
            }
        }
        let bits = open.iter().map(Watched::watched).sum();
        excused.retain(|watched| watched.watched() > 0);
        let reset = declaration.signal(RESET).map(|signal| signal.field.offset);
        Self { declaration: declaration.clone(), reset, open, bits, unreached, excused }
    }

    /// Records the inputs of a cycle; `compared` is the compared part of its record.
    pub fn observe(&mut self, inputs: &[u8], compared: &[u8]) {
        if self.open.is_empty() && self.excused.is_empty() || self.reset.is_some_and(|at| inputs[at] == 0) {
            return;
        }
        let Self { declaration, open, excused, .. } = self;
        let see = |watched: &mut Watched| {
            if is_valid(declaration, inputs, compared, watched.signal, watched.element) {
                watched.see(declaration.signals[watched.signal].field.bytes(inputs, watched.element));
            }
        };
        open.retain_mut(|watched| {
            see(watched);
            !watched.done()
        });
        excused.iter_mut().for_each(see);
    }

    /// Number of bits that have to be 0 and 1.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Number of those bits that were.
    pub fn reached(&self) -> usize {
        let open = self.open.iter().flat_map(Watched::bits);
        self.bits - open.filter(|(_, one, zero)| *one || *zero).count()
    }

    /// Number of bits that are excused.
    pub fn excused(&self) -> usize {
        self.declaration
            .signals
            .iter()
            .filter(|s| s.role == Role::Input)
            .map(|s| {
                let field = &s.field;
                let holds = |e: usize, b: u32| self.unreached.iter().any(|u| u.holds(field.name, e, b));
                (0..field.count).map(|e| (0..field.bits).filter(|&b| holds(e, b)).count()).sum::<usize>()
            })
            .sum()
    }

    /// A list of what is missing: bits that kept their value, by input, and exceptions that do not hold.
    pub fn missed(&self) -> Vec<String> {
        // Elements of an array that lack the same bits share a line.
        let mut alike: Vec<(usize, String, Vec<u32>)> = Vec::new();
        for watched in &self.open {
            let bits = |wanted: fn(&(u32, bool, bool)) -> bool, value: u8| {
                let bits = ranges(&watched.bits().filter(wanted).map(|(bit, _, _)| bit).collect::<Vec<_>>());
                (!bits.is_empty()).then(|| format!("bits {bits} were never {value}"))
            };
            for what in [bits(|bit| bit.1, 1), bits(|bit| bit.2, 0)].into_iter().flatten() {
                let known = alike.iter_mut().find(|(signal, known, _)| *signal == watched.signal && *known == what);
                match known {
                    Some((_, _, elements)) => elements.push(watched.element as u32),
                    None => alike.push((watched.signal, what, vec![watched.element as u32])),
                }
            }
        }
        let line = |(signal, what, elements): &(usize, String, Vec<u32>)| {
            let field = &self.declaration.signals[*signal].field;
            let elements = if field.array { format!("[{}]", ranges(elements)) } else { String::new() };
            format!("{}{elements}: {what}", field.name)
        };
        let mut lines: Vec<String> = alike.iter().map(line).collect();
        lines.extend(self.untrue());
        lines
    }

    /// Exceptions that do not hold: all of their bits have been 0 and 1 in every element.
    fn untrue(&self) -> Vec<String> {
        let signals = &self.declaration.signals;
        let holds = |unreached: &Unreached| {
            let of = self.excused.iter().filter(|w| signals[w.signal].field.name == unreached.signal);
            of.flat_map(|w| w.bits().map(move |bit| (w.element, bit)))
                .any(|(element, (bit, one, zero))| (one || zero) && unreached.holds(unreached.signal, element, bit))
        };
        let untrue = self.unreached.iter().filter(|unreached| !holds(unreached));
        untrue
            .map(|u| format!("{}: the exception {:?} does not hold: all its bits were 0 and 1", u.signal, u.why))
            .collect()
    }
}

/// As [`Declaration::is_valid`], for a record in two parts. The valid signal may itself be an input or in the compared part.
fn is_valid(declaration: &Declaration, inputs: &[u8], compared: &[u8], signal: usize, element: usize) -> bool {
    let Some(range) = declaration.valid_range(signal, element) else { return true };
    let by = &declaration.signals[range.signal].field;
    let bit = |bit: usize| {
        let element = if by.array { bit } else { 0 };
        let start = by.offset + element * by.elem_bytes;
        let bytes = match start.checked_sub(declaration.input_bytes) {
            None => &inputs[start..start + by.elem_bytes],
            Some(start) => &compared[start..start + by.elem_bytes],
        };
        if by.array { bytes.iter().any(|&byte| byte != 0) } else { bytes[bit / 8] >> (bit % 8) & 1 == 1 }
    };
    (range.first..range.first + range.len).any(bit)
}

/// Numbers in ascending order, as a person writes them: `3 5-7`.
#[must_use]
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.1 + 1 == number => run.1 = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_blocks::config::Config;
    use gpurf_lockstep::Records;

    /// Feeds the inputs of `mrf_write_queue`: in each cycle all valid signals have the first value, all bits of all other inputs the second one.
    fn watch(unreached: Vec<Unreached>, cycles: &[(bool, u64)]) -> Toggles {
        let twin = gpurf_blocks::registry::find("mrf_write_queue").map(|e| (e.twin)(&Config::default())).unwrap();
        let declaration = twin.declaration().clone();
        let mut toggles = Toggles::new(&declaration, unreached);
        let mut record = Records::zeroed(declaration.record_bytes, 1);
        for &(valid, value) in cycles {
            for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
                let field = &signal.field;
                let is_valid = declaration.signals.iter().any(|s| s.field.valid_by == Some(field.name));
                let end = field.offset + field.count * field.elem_bytes;
                let bytes = &mut record.get_mut(0)[field.offset..end];
                bytes.fill(if value & 1 == 1 { 0xFF } else { 0 });
                if is_valid || field.name == RESET {
                    bytes.fill(u8::from(valid || field.name == RESET));
                }
            }
            let (inputs, compared) = record.get(0).split_at(declaration.input_bytes);
            toggles.observe(inputs, compared);
        }
        toggles
    }

    #[test]
    fn a_payload_counts_while_it_is_valid_only() {
        let all = watch(Vec::new(), &[(true, 0), (true, 1), (false, 0)]);
        assert_eq!((all.reached(), all.missed()), (all.bits(), Vec::new()));
        let invalid = watch(Vec::new(), &[(true, 0), (false, 1)]);
        assert!(invalid.reached() < invalid.bits());
        assert!(invalid.missed().iter().all(|line| line.ends_with("were never 1")), "{:?}", invalid.missed());
    }

    #[test]
    fn straps_do_not_have_to_change() {
        for block in gpurf_blocks::registry::blocks() {
            let declaration = (block.twin)(&Config::default()).declaration().clone();
            let missed = Toggles::new(&declaration, Vec::new()).missed();
            assert!(!missed.iter().any(|line| line.contains("cfg_i")), "{}: {missed:?}", block.name);
        }
    }

    #[test]
    fn an_exception_is_not_asked_for_and_has_to_hold() {
        let open = watch(Vec::new(), &[(true, 0)]);
        let name = open.missed()[1].split([':', '[']).next().unwrap().to_owned();
        let name: &'static str = gpurf_blocks::intern(name);
        let excused = watch(vec![Unreached::all(name, "a reason")], &[(true, 0)]);
        assert!(excused.excused() > 0 && excused.missed().iter().all(|line| !line.starts_with(name)));
        let untrue = watch(vec![Unreached::all(name, "a reason")], &[(true, 0), (true, 1), (false, 0)]);
        assert_eq!(
            untrue.missed(),
            [format!("{name}: the exception \"a reason\" does not hold: all its bits were 0 and 1")]
        );
    }

    #[test]
    fn numbers_in_runs() {
        assert_eq!(ranges(&[3, 5, 6, 7, 9]), "3 5-7 9");
    }
}
