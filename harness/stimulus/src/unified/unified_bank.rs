//! `unified_bank`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::unified::{CLUSTERS, UnifiedBank, UnifiedBankIn, UnifiedBankOut};
use gpurf_lockstep::Rng;

use super::{ALL, bytes_of_store, clusters, clusters_of, some_bytes, some_clusters};
use crate::driver::{Names, Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<UnifiedBank, UnifiedBankDriver, UnifiedBankCover>();

/// Driver of `unified_bank`: registers and memory. Memory's accesses do not depend on whether they will be served.
pub(crate) struct UnifiedBankDriver {
    depth: u64,
    reset: Reset,
    /// Entries on which accesses meet.
    entries: Names,
}

knobs! {
    pub(crate) struct UnifiedBankKnobs {
        read: "a register is read" = [50, 500, 950],
        write: "a register is written" = [50, 500, 950],
        partial: "its write leaves lanes out" = [0, 300, 900],
        memory_read: "memory reads" = [100, 500, 950],
        memory_write: "memory writes" = [100, 500, 950],
        line: "it accesses a line of the cache: one entry in all clusters" = [100, 500],
        near: "an entry is one of a few" = [0, 500, 1000],
        reset,
    }
}

impl Driver for UnifiedBankDriver {
    type In = UnifiedBankIn;
    type Knobs = UnifiedBankKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        let depth = shape.depth as u64;
        Self { depth, reset: Reset::default(), entries: Names::new(3, depth) }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &UnifiedBankKnobs, i: &mut UnifiedBankIn) {
        self.entries.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.read_valid_i = rng.chance(knobs.read).into();
        i.read_entry_i = self.entry(rng, knobs);
        i.write_valid_i = rng.chance(knobs.write).into();
        i.write_entry_i = self.entry(rng, knobs);
        i.write_mask_i = lane_mask(rng, knobs.partial);
        if i.write_valid_i == 1 {
            rng.fill(&mut i.write_data_i.0);
        }
        (i.memory_read_i, i.memory_write_i) = (0, 0);
        if rng.chance(knobs.memory_read) {
            (i.memory_read_i, i.memory_read_entry_i) = self.access(rng, knobs);
        }
        if rng.chance(knobs.memory_write) {
            let line = rng.chance(knobs.line);
            (i.memory_write_i, i.memory_write_entry_i) = self.access(rng, knobs);
            i.memory_write_bytes_i = std::array::from_fn(|_| some_bytes(rng));
            if line {
                (i.memory_write_i, i.memory_write_entry_i) = (ALL, [self.entry(rng, knobs); CLUSTERS]);
                i.memory_write_bytes_i = if rng.chance(300) { [u16::MAX; CLUSTERS] } else { bytes_of_store(rng) };
            }
            rng.fill(&mut i.memory_write_data_i.0);
        }
    }
}

impl UnifiedBankDriver {
    fn entry(&self, rng: &mut Rng, knobs: &UnifiedBankKnobs) -> u16 {
        let near = rng.chance(knobs.near);
        (if near { self.entries.draw(rng) } else { rng.below(self.depth) }) as u16
    }

    /// Clusters and the entry of each: of a pass of the scratchpad, or of a line.
    fn access(&self, rng: &mut Rng, knobs: &UnifiedBankKnobs) -> (u8, [u16; CLUSTERS]) {
        if rng.chance(knobs.line) {
            return (ALL, [self.entry(rng, knobs); CLUSTERS]);
        }
        (some_clusters(rng), std::array::from_fn(|_| self.entry(rng, knobs)))
    }
}

/// What wrote an entry of a cluster.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Register,
    Memory,
}

/// The write in each cluster at a clock edge.
type Written = [Option<(Writer, u16)>; CLUSTERS];

pub(crate) struct UnifiedBankCover {
    depth: usize,
    /// Whether registers and memory have ports of their own.
    separate: bool,
    /// The writes at the previous clock edge.
    written: Written,
    /// What the output of each cluster was read for: a register, or memory.
    output: [Option<Writer>; CLUSTERS],
    /// Whether a register was read at the previous clock edge.
    was_read: bool,
}

#[cover]
impl UnifiedBankCover {
    const WRITERS: [&str; 2] = ["a register", "memory"];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        let (depth, separate) = (shape.depth, shape.separate);
        Self { depth, separate, written: [None; CLUSTERS], output: [None; CLUSTERS], was_read: false }
    }

    fn observe(&mut self, i: &UnifiedBankIn, o: &UnifiedBankOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        if self.separate {
            self.apart(i, o, points);
        }
        let written = self.written_by(i, o);
        self.reads(i, o, &written, points);
        self.writes(i, o, points);
        self.written = written;
        self.was_read = i.read_valid_i == 1;
        for g in 0..CLUSTERS {
            if i.read_valid_i == 1 {
                self.output[g] = Some(Writer::Register);
            } else if i.memory_read_i >> g & 1 == 1 {
                self.output[g] = Some(Writer::Memory);
            }
        }
    }

    fn written_by(&self, i: &UnifiedBankIn, o: &UnifiedBankOut) -> Written {
        std::array::from_fn(|g| match o.memory_write_ready_o >> g & 1 == 1 {
            false => Some((Writer::Register, i.write_entry_i)),
            true => (i.memory_write_i >> g & 1 == 1).then(|| (Writer::Memory, i.memory_write_entry_i[g])),
        })
    }

    /// Points for registers and memory with ports of their own.
    #[given(self.separate)]
    fn apart(&self, i: &UnifiedBankIn, o: &UnifiedBankOut, points: &mut Points) {
        let (read, reads) = (i.read_valid_i == 1, i.memory_read_i);
        let lanes = if i.write_valid_i == 1 { i.write_mask_i } else { 0 };
        let (taken, writes) = (clusters_of(lanes), i.memory_write_i);
        let same = |entries: &[u16; CLUSTERS], set: u8, entry: u16| clusters(set).any(|g| entries[g] == entry);
        let running = i.rst_ni == 1;
        let ready = o.memory_read_ready_o == 1 && o.memory_write_ready_o == ALL;
        point!("memory is ready as a register is read and written", ready && read && taken == ALL);
        point!("a register and memory are read", running && read && reads != 0);
        point!("a register and all clusters of memory are read", running && read && reads == ALL);
        point!(
            "a register and memory are read, of entries of one number",
            running && read && same(&i.memory_read_entry_i, reads, i.read_entry_i)
        );
        point!("lanes of a register and memory are written in a cluster", taken & writes != 0);
        point!(
            "lanes of a register and memory are written in a cluster, in entries of one number",
            same(&i.memory_write_entry_i, taken & writes, i.write_entry_i)
        );
        point!("registers and memory are read and written", running && read && reads != 0 && taken & writes != 0);
        point!(
            "memory reads what it writes, beside a register of the same entry",
            running
                && clusters(reads & writes & taken).any(|g| {
                    let entry = i.memory_read_entry_i[g];
                    entry == i.memory_write_entry_i[g] && entry == i.write_entry_i
                })
        );
        point!("memory sees another word than registers", o.read_data_valid_o == 1 && o.read_data_o != o.memory_data_o);
        point!("both are read under reset", !running && read && reads != 0);
    }

    /// Points for registers and memory that share their ports.
    #[given(!self.separate)]
    fn reads(&self, i: &UnifiedBankIn, o: &UnifiedBankOut, written: &Written, points: &mut Points) {
        let (register, memory, reset) = (i.read_valid_i == 1, i.memory_read_i, i.rst_ni == 0);
        let served = if o.memory_read_ready_o == 1 { memory } else { 0 };
        let entry = |g: usize| if register { i.read_entry_i } else { i.memory_read_entry_i[g] };
        // Clusters that read.
        let reads = if register { ALL } else { served };
        let last = |g: usize| usize::from(entry(g)) == self.depth - 1;
        let differ = clusters(served)
            .any(|g| i.memory_read_entry_i[g] != i.memory_read_entry_i[served.trailing_zeros() as usize]);
        let outputs = |writer: Writer| clusters(!reads).any(|g| self.output[g] == Some(writer));
        point!("a register is read", register);
        point!("a register is read, memory reads nothing", register && memory == 0);
        point!("memory's reads are not performed", register && memory != 0);
        point!("memory reads all clusters of one entry", served == ALL && !differ);
        point!("memory reads several entries", differ);
        point!("memory reads one cluster", served.is_power_of_two());
        point!("nothing is read", !register && memory == 0);
        point!("the last entry is read for a register", register && last(0));
        point!("the last entry is read for memory", clusters(served).any(last));
        point!("a register is read after a register", register && self.was_read);
        point!("memory reads after a register", served != 0 && self.was_read);
        point!("a register is read after memory's reads", register && self.output.contains(&Some(Writer::Memory)));
        point!("a cluster keeps a register's lanes as another one is read", served != 0 && outputs(Writer::Register));
        point!("a cluster keeps what memory has read", !register && outputs(Writer::Memory));
        point!("a register is read under reset", reset && register);
        point!("memory reads under reset", reset && served != 0);
        for (w, writer) in [Writer::Register, Writer::Memory].into_iter().enumerate() {
            let meets = |of: &Written| clusters(reads).any(|g| of[g] == Some((writer, entry(g))));
            point!("a register is read that {WRITERS[w]} writes at this edge", register && meets(written));
            point!("a register is read that {WRITERS[w]} wrote at the edge before", register && meets(&self.written));
            point!("memory reads what {WRITERS[w]} writes at this edge", !register && meets(written));
            point!("memory reads what {WRITERS[w]} wrote at the edge before", !register && meets(&self.written));
        }
    }

    #[given(!self.separate)]
    fn writes(&self, i: &UnifiedBankIn, o: &UnifiedBankOut, points: &mut Points) {
        let (register, reset) = (i.write_valid_i == 1, i.rst_ni == 0);
        let lanes = if register { i.write_mask_i } else { 0 };
        let (taken, memory) = (clusters_of(lanes), i.memory_write_i);
        let served = memory & o.memory_write_ready_o;
        let bytes = |g: usize| i.memory_write_bytes_i[g];
        let last = |entry: u16| usize::from(entry) == self.depth - 1;
        point!("a register is written", register && lanes == u32::MAX);
        point!("some lanes of each cluster are written", taken == ALL && lanes != u32::MAX);
        point!("lanes of some clusters are written", taken != 0 && taken != ALL);
        point!("one lane of a register is written", lanes.is_power_of_two());
        point!("a register is written without lanes", register && lanes == 0);
        point!("memory's writes are not performed, they are of the same clusters", memory != 0 && memory & !taken == 0);
        point!(
            "memory's write is not performed for one lane in the cluster",
            clusters(memory & taken).any(|g| (lanes >> (4 * g) & 0xf).is_power_of_two())
        );
        point!("memory writes beside lanes of a register", served != 0 && taken != 0);
        point!("memory writes some of the clusters that it wants", served != 0 && served != memory);
        point!(
            "memory writes beside a register of the same entry",
            register && taken != 0 && clusters(served).any(|g| i.memory_write_entry_i[g] == i.write_entry_i)
        );
        point!("memory writes as a register is written without lanes", register && lanes == 0 && served != 0);
        point!("memory writes, no register is written", !register && served != 0);
        point!(
            "memory writes all bytes of all clusters",
            served == ALL && clusters(served).all(|g| bytes(g) == u16::MAX)
        );
        point!("memory writes one byte of a cluster", clusters(served).any(|g| bytes(g).is_power_of_two()));
        point!("memory writes parts of a word", clusters(served).any(|g| bytes(g) & 0xf != 0 && bytes(g) & 0xf != 0xf));
        point!("memory writes no byte of a cluster", clusters(served).any(|g| bytes(g) == 0));
        point!("nothing is written", !register && memory == 0);
        point!("the last entry of a register is written", taken != 0 && last(i.write_entry_i));
        point!("memory writes the last entry", clusters(served).any(|g| last(i.memory_write_entry_i[g])));
        point!("a register is written under reset", reset && taken != 0);
        point!("memory writes under reset", reset && served != 0);
        point!(
            "memory reads and writes, registers do neither",
            i.read_valid_i == 0 && !register && i.memory_read_i & served != 0
        );
        point!(
            "registers are read and written, memory wants to do both",
            i.read_valid_i == 1 && taken != 0 && i.memory_read_i != 0 && memory & taken != 0
        );
    }
}
