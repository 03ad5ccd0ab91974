//! `cache_tags`.

use gpurf_blocks::cache::{CacheTags, CacheTagsIn, CacheTagsOut, CacheTagsProbe};
use gpurf_blocks::config::{Config, Replacement, least_lines};
use gpurf_blocks::memory::LINE_BITS;
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, Twin, alias};
use crate::unified::cache_sizes;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<CacheTags, CacheTagsDriver, CacheTagsCover>();

/// Sets and ways of a cache.
#[derive(Clone, Copy)]
struct Places {
    sets: u32,
    ways: usize,
}

impl Places {
    /// The sets and ways of the largest cache.
    fn of(shape: &SmShape) -> Self {
        Self { sets: shape.sets() as u32, ways: shape.ways() }
    }

    /// The sets and ways of a cache whose number of lines has this logarithm. Without a cache (0), those of the smallest one, which then holds
    /// nothing.
    fn of_size(self, log: u8) -> Self {
        Self { sets: sets_of_size(self.ways, log) as u32, ..self }
    }

    fn set(self, line: u32) -> usize {
        (line % self.sets) as usize
    }

    /// The entries of the set of a line, way by way.
    fn entries(self, line: u32) -> impl Iterator<Item = usize> {
        (0..self.ways).map(move |way| way * self.sets as usize + self.set(line))
    }
}

/// Sets of a cache whose number of lines has this logarithm. Without a cache (0), as many as the smallest cache has.
pub(super) fn sets_of_size(ways: usize, log: u8) -> usize {
    let lines = if log == 0 { least_lines(ways) } else { 1 << log };
    lines / ways
}

/// A few lines in a few sets: tags and sets that differ in one bit.
pub(super) struct Lines {
    sets: Names,
    tags: Names,
    count: u64,
}

impl Lines {
    /// Lines of a cache with `sets` sets; there are more tags than a set has ways.
    pub(super) fn new(sets: usize, ways: usize) -> Self {
        let tags = 1 << (LINE_BITS - sets.ilog2());
        Self { sets: Names::new(3, sets as u64), tags: Names::new(ways + 2, tags), count: sets as u64 }
    }

    /// Chooses other lines, for a cache with `sets` sets.
    pub(super) fn resize(&mut self, rng: &mut Rng, sets: usize, ways: usize) {
        *self = Self::new(sets, ways);
        self.sets.roll(rng);
        self.tags.roll(rng);
    }

    /// Now and then chooses other lines.
    pub(super) fn renew(&mut self, rng: &mut Rng) {
        self.sets.renew(rng);
        self.tags.renew(rng);
    }

    /// One of the lines.
    pub(super) fn draw(&self, rng: &mut Rng) -> u32 {
        let (set, tag) = (self.sets.draw(rng), self.tags.draw(rng));
        (tag * self.count + set) as u32
    }

    /// A line that does not compete with others from this function: the one with the first tag, of any of the sets.
    pub(super) fn alone(&self, rng: &mut Rng) -> u32 {
        (self.tags.nth(0) * self.count + self.sets.draw(rng)) as u32
    }

    /// One of the lines in the set of `line`.
    pub(super) fn beside(&self, rng: &mut Rng, line: u32) -> u32 {
        (self.tags.draw(rng) * self.count + u64::from(line) % self.count) as u32
    }
}

/// The cache's contents, derived from the block's ports.
struct Held {
    places: Places,
    /// The line of each entry, and the cycles in which it came and in which it was used last.
    line: Vec<Option<u32>>,
    came: Vec<u64>,
    used: Vec<u64>,
    now: u64,
    /// The line that each entry had when it became invalid.
    gone: Vec<Option<u32>>,
}

impl Held {
    fn new(shape: &SmShape) -> Self {
        let lines = shape.lines();
        let (line, gone) = (vec![None; lines], vec![None; lines]);
        Self { places: Places::of(shape), line, gone, came: vec![0; lines], used: vec![0; lines], now: 0 }
    }

    /// Sets another number of lines, all of which are invalid.
    fn resize(&mut self, log: u8) {
        self.places = self.places.of_size(log);
        self.gone.fill(None);
        self.came.fill(0);
        self.used.fill(0);
    }

    fn has(&self, line: u32) -> bool {
        self.places.entries(line).any(|entry| self.line[entry] == Some(line))
    }

    /// The line in the set of `line` that came first (`fifo`), or that was used longest ago.
    fn oldest(&self, line: u32, fifo: bool) -> Option<u32> {
        let time = if fifo { &self.came } else { &self.used };
        self.places.entries(line).min_by_key(|&entry| time[entry]).and_then(|entry| self.line[entry])
    }

    fn step(&mut self, i: &CacheTagsIn, o: &CacheTagsOut) {
        self.now += 1;
        let entry = usize::from(o.entry_o);
        if i.touch_i & o.hit_o == 1 {
            self.used[entry] = self.now;
        }
        if i.invalidate_i & o.hit_o == 1 {
            self.gone[entry] = self.line[entry].take();
        }
        if o.fill_keep_o == 1 {
            let entry = usize::from(o.fill_entry_o);
            (self.line[entry], self.gone[entry]) = (Some(i.fill_line_i), None);
            (self.came[entry], self.used[entry]) = (self.now, self.now);
        }
        if i.flush_i == 1 || i.rst_ni == 0 {
            for (line, gone) in self.line.iter_mut().zip(&mut self.gone) {
                *gone = line.take().or(*gone);
            }
        }
    }
}

/// Driver of `cache_tags`. A twin tells which lines are present, and which way is replaced next.
pub(crate) struct CacheTagsDriver {
    cfg: u8,
    entries: u64,
    reset: Reset,
    twin: Twin<CacheTags>,
    held: Held,
    lines: Lines,
    /// The line whose set was read last, and whether that was at the previous clock edge.
    line: u32,
    read: bool,
    /// If the number of lines is chosen at each launch: the values that its logarithm may have. Then the ways, and whether every line became invalid
    /// at the previous clock edge.
    sizes: Vec<u8>,
    ways: usize,
    empty: bool,
}

knobs! {
    pub(crate) struct CacheTagsKnobs {
        resize: "the number of lines changes when all are invalid" = [100, 500, 1000],
        read: "the tags of a set are read" = [100, 700, 1000],
        stay: "the line that is looked up is read again" = [0, 300, 800],
        other: "another line of the set is looked up" = [0, 0, 200],
        touch: "a line that is there is used" = [200, 700, 1000],
        invalidate: "it becomes invalid" = [0, 100, 500],
        fill: "a line comes" = [50, 400, 900],
        beside: "it is in the set that is looked up" = [100, 500, 900],
        oldest: "it is that of the line that makes room next" = [0, 200, 700],
        meet: "the set that is read is that of the line that comes" = [0, 300, 800],
        pin: "an entry is pinned" = [100, 500, 950],
        victim: "it is that of the way that makes room, or its neighbour" = [100, 700],
        flush: "every line becomes invalid" = [0, 0, 10, 50],
        // Rarely, since sets fill slowly.
        reset = [0, 0, 2, 10],
    }
}

impl Driver for CacheTagsDriver {
    type In = CacheTagsIn;
    type Knobs = CacheTagsKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            cfg: (config.cache.replacement == Replacement::Fifo).into(),
            entries: shape.lines() as u64,
            reset: Reset::default(),
            twin: Twin::new(shape),
            held: Held::new(shape),
            lines: Lines::new(shape.sets(), shape.ways()),
            line: 0,
            read: false,
            sizes: if shape.unified() { cache_sizes(shape.ways(), shape.lines()) } else { Vec::new() },
            ways: shape.ways(),
            empty: true,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        if shape.unified() { no_size(shape) } else { Vec::new() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CacheTagsKnobs, i: &mut CacheTagsIn) {
        self.twin.early();
        self.lines.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.cfg;
        if self.empty && !self.sizes.is_empty() && rng.chance(knobs.resize) {
            i.log_i = self.sizes[rng.below(self.sizes.len() as u64) as usize];
            self.held.resize(i.log_i);
            self.lines.resize(rng, sets_of_size(self.ways, i.log_i), self.ways);
            self.entries = 1 << i.log_i.max(1);
        }
        i.flush_i = rng.chance(knobs.flush).into();
        // Without a read at the previous clock edge nothing is looked up, and the line stays.
        i.line_i = match self.read && rng.chance(knobs.other) {
            true => self.lines.beside(rng, self.line),
            false => self.line,
        };
        self.fill(rng, knobs, i);
        (i.touch_i, i.invalidate_i, i.pin_valid_i) = (0, 0, 0);
        self.twin.late(i);
        let (hit, victim) = (self.read && self.twin.out.hit_o == 1, self.twin.out.fill_entry_o);
        i.invalidate_i = (hit && rng.chance(knobs.invalidate)).into();
        i.touch_i = (hit && i.invalidate_i == 0 && rng.chance(knobs.touch)).into();
        // Without a cache there is no hit that could pin an entry.
        let cache = self.sizes.is_empty() || i.log_i != 0;
        i.pin_valid_i = (cache && rng.chance(knobs.pin)).into();
        i.pin_entry_i = match rng.chance(knobs.victim) {
            true if rng.chance(500) => victim,
            true => alias(rng, victim.into(), self.entries) as u16,
            false => rng.below(self.entries) as u16,
        };
        i.read_valid_i = rng.chance(knobs.read).into();
        i.read_line_i = if i.fill_valid_i == 1 && rng.chance(knobs.meet) {
            self.lines.beside(rng, i.fill_line_i)
        } else if rng.chance(knobs.stay) {
            i.line_i
        } else {
            self.lines.draw(rng)
        };
        if rng.chance(knobs.oldest) {
            i.read_line_i = self.held.oldest(i.read_line_i, self.cfg == 1).unwrap_or(i.read_line_i);
        }
        self.twin.late(i);
        self.twin.clock(i);
        self.held.step(i, &self.twin.out);
        self.read = i.read_valid_i == 1;
        self.empty = i.flush_i == 1 || i.rst_ni == 0;
        if self.read {
            self.line = i.read_line_i;
        }
    }
}

/// Bits of `log_i` that no size of the cache has.
pub(super) fn no_size(shape: &SmShape) -> Vec<Unreached> {
    let used = cache_sizes(shape.ways(), shape.lines()).into_iter().fold(0, |used, log| used | log);
    let unused = (0..4).filter(|bit| used >> bit & 1 == 0);
    unused.map(|bit| Unreached::bits("log_i", bit..=bit, "no size of the cache has it")).collect()
}

impl CacheTagsDriver {
    /// Offers a line that is not present yet.
    fn fill(&self, rng: &mut Rng, knobs: &CacheTagsKnobs, i: &mut CacheTagsIn) {
        i.fill_line_i = match rng.chance(knobs.beside) {
            true => self.lines.beside(rng, i.line_i),
            false => self.lines.draw(rng),
        };
        i.fill_valid_i = (!self.held.has(i.fill_line_i) && rng.chance(knobs.fill)).into();
    }
}

pub(crate) struct CacheTagsCover {
    ways: usize,
    sets: usize,
    fifo: bool,
    held: Held,
    /// The line whose set was read at the previous clock edge, if one was.
    read: Option<u32>,
    /// The line that was replaced at the previous clock edge.
    dropped: Option<u32>,
    /// If the number of lines is chosen at each launch: the values that its logarithm may have. Then the logarithm in the previous cycle, and whether
    /// reset was asserted there.
    sizes: Vec<u8>,
    log: u8,
    reset: bool,
}

#[cover]
impl CacheTagsCover {
    fn new(shape: &SmShape, config: &Config) -> Self {
        let fifo = config.cache.replacement == Replacement::Fifo;
        let sizes = if shape.unified() { cache_sizes(shape.ways(), shape.lines()) } else { Vec::new() };
        let held = Held::new(shape);
        Self {
            ways: shape.ways(),
            sets: shape.sets(),
            fifo,
            held,
            read: None,
            dropped: None,
            sizes,
            log: u8::MAX,
            reset: false,
        }
    }

    fn observe(&mut self, i: &CacheTagsIn, o: &CacheTagsOut, p: &CacheTagsProbe, points: &mut Points) {
        if !self.sizes.is_empty() {
            self.sizes(i, o, points);
        }
        self.lookup(i, o, p, points);
        self.fill(i, o, points);
        self.all(i, o, points);
        let kept = o.fill_keep_o == 1;
        self.dropped = kept.then(|| self.held.line[usize::from(o.fill_entry_o)]).flatten();
        self.held.step(i, o);
        self.read = (i.read_valid_i == 1).then_some(i.read_line_i);
    }

    fn way(&self, entry: u16) -> usize {
        usize::from(entry) / self.held.places.sets as usize
    }

    /// Points about the size of the cache.
    #[given(!self.sizes.is_empty())]
    fn sizes(&mut self, i: &CacheTagsIn, o: &CacheTagsOut, points: &mut Points) {
        let (log, before) = (i.log_i, self.log);
        let resized = log != before && before != u8::MAX;
        point!("the cache becomes larger", resized && before != 0 && log > before);
        point!("the cache becomes smaller", resized && log != 0 && log < before);
        point!("there is no cache any more", resized && log == 0);
        point!("there is a cache again", resized && before == 0);
        point!("another size after a reset", resized && self.reset);
        point!("another size after a flush", resized && !self.reset);
        point!("the set that was read is that of another size", resized && self.read.is_some());
        if log != before {
            self.log = log;
            self.held.resize(log);
        }
        self.reset = i.rst_ni == 0;
        let (smallest, largest) = (log == self.sizes[1], Some(&log) == self.sizes.last());
        let hit = self.read.is_some() && o.hit_o == 1;
        let (fill, kept) = (i.fill_valid_i == 1, o.fill_keep_o == 1);
        let lines = if log == 0 { 0 } else { 1 << log };
        // A bit of the tag, in this size, that belongs to the set in the largest one.
        let above = self.sets as u32 - self.held.places.sets;
        let one = |line: u32| (line ^ i.line_i) & above != 0 && (line ^ i.line_i).is_power_of_two();
        let alias = self.held.places.entries(i.line_i).any(|entry| self.held.line[entry].is_some_and(one));
        point!("hit in the smallest cache", hit && smallest);
        point!("hit in the largest cache", hit && largest);
        point!("hit in a cache between", hit && !smallest && !largest, given = self.sizes.len() > 3);
        point!(
            "hit in the last entry of a cache that is not the largest",
            hit && !largest && usize::from(o.entry_o) == lines - 1
        );
        point!("a line comes into the smallest cache", kept && smallest);
        point!("a line comes into the largest cache", kept && largest);
        point!(
            "a line comes into the last entry of a cache that is not the largest",
            kept && !largest && usize::from(o.fill_entry_o) == lines - 1
        );
        point!(
            "a line makes room in the smallest cache",
            kept && smallest && self.held.line[usize::from(o.fill_entry_o)].is_some()
        );
        point!(
            "a line differs in a bit that is of the set in the largest cache",
            self.read.is_some() && !hit && alias && !largest
        );
        point!("no cache, and a line is looked up", log == 0 && self.read.is_some());
        point!("no cache, and a line comes", log == 0 && fill);
        point!("no cache, and a line comes in the set that is read", log == 0 && fill && i.read_valid_i == 1);
    }

    fn lookup(&self, i: &CacheTagsIn, o: &CacheTagsOut, p: &CacheTagsProbe, points: &mut Points) {
        let (read, entry) = (self.read.is_some(), usize::from(o.entry_o));
        let hit = read && o.hit_o == 1;
        let way = self.way(o.entry_o);
        let (bypass, new) = (p.bypass_valid_q == 1, usize::from(p.bypass_way_q));
        let gone = |entry: usize| self.held.line[entry].is_none() && self.held.gone[entry] == Some(i.line_i);
        let newer = |entry: usize| self.held.used[entry] > self.held.used[usize::from(o.entry_o)];
        let first = hit && !self.held.places.entries(i.line_i).any(newer);
        point!("hit in the first way", hit && way == 0);
        point!("hit in the last way", hit && way == self.ways - 1);
        point!("hit in a way between", hit && way != 0 && way != self.ways - 1, given = self.ways > 2);
        point!("hit of the line that came at the edge of the read", hit && bypass && way == new);
        point!(
            "hit beside the line that came at the edge of the read",
            hit && bypass && way != new,
            given = self.ways > 1
        );
        let left = bypass && self.dropped == Some(i.line_i);
        point!("the line that made room at the edge of the read", left && !hit);
        point!("a line that has become invalid", read && !hit && self.held.places.entries(i.line_i).any(gone));
        point!("not there", read && !hit);
        point!("nothing is looked up", !read);
        point!("another line than was read", hit && self.read != Some(i.line_i));
        point!("the line used last is used", i.touch_i == 1 && first, given = self.ways > 1);
        point!("another line is used", i.touch_i == 1 && !first, given = self.ways > 1);
        point!("a line that is there is neither used nor invalidated", hit && i.touch_i == 0 && i.invalidate_i == 0);
        point!("a line becomes invalid", i.invalidate_i == 1 && self.held.line[entry].is_some());
    }

    fn fill(&self, i: &CacheTagsIn, o: &CacheTagsOut, points: &mut Points) {
        if i.fill_valid_i == 0 {
            return;
        }
        let held = &self.held;
        let entries = || held.places.entries(i.fill_line_i);
        let free = entries().filter(|&entry| held.line[entry].is_none()).count();
        let (kept, entry) = (o.fill_keep_o == 1, usize::from(o.fill_entry_o));
        let replaces = kept && free == 0;
        let way = self.way(o.fill_entry_o);
        let one_set = held.places.set(i.line_i) == held.places.set(i.fill_line_i);
        let same_way = self.way(o.entry_o) == way;
        let pinned = i.pin_valid_i == 1 && held.places.set(i.pin_entry_i.into()) == held.places.set(i.fill_line_i);
        let pinned_way = self.way(i.pin_entry_i);
        let before = |time: &[u64]| entries().any(|other| other != entry && time[other] < time[entry]);
        let (touch, invalidate) = (i.touch_i == 1, i.invalidate_i == 1);
        point!("a line comes to a way that is invalid", kept && free != 0);
        point!("several ways are invalid", kept && free > 1, given = self.ways > 1);
        point!("a line makes room", replaces);
        point!("the last way makes room", replaces && way == self.ways - 1);
        point!("the first way makes room", replaces && way == 0);
        point!(
            "an invalid way is not that of the line used longest ago",
            kept && free == 1 && before(&held.used),
            given = self.ways > 1
        );
        point!(
            "a line that came first and was used stays",
            replaces && before(&held.came),
            given = !self.fifo && self.ways > 1
        );
        point!("a line used longest ago stays", replaces && before(&held.used), given = self.fifo && self.ways > 1);
        point!("not kept, the entry is pinned", !kept && pinned && !(touch && one_set));
        point!("not kept, the line is used", !kept && i.pin_valid_i == 0 && touch);
        point!("not kept, pinned and used", !kept && pinned && touch && o.entry_o == i.pin_entry_i);
        point!("kept beside a pinned way", kept && pinned, given = self.ways > 1);
        point!("kept, the way is pinned in another set", kept && i.pin_valid_i == 1 && !pinned && pinned_way == way);
        point!("kept, the way is used in another set", kept && touch && !one_set && same_way);
        point!(
            "kept, the line that would make room is there and not used",
            kept && !touch && o.hit_o == 1 && o.entry_o == o.fill_entry_o
        );
        point!("kept, another line of the set is used", kept && touch && one_set, given = self.ways > 1);
        point!(
            "kept, a line of the set becomes invalid",
            kept && invalidate && one_set && (self.ways == 1 || !same_way)
        );
        point!(
            "kept, the line that makes room becomes invalid",
            kept && invalidate && one_set && same_way && free == 0
        );
        point!("kept, a line of another set becomes invalid", kept && invalidate && !one_set);
        point!(
            "the set of the line that comes is read",
            kept && i.read_valid_i == 1 && held.places.set(i.read_line_i) == held.places.set(i.fill_line_i)
        );
    }

    fn all(&self, i: &CacheTagsIn, o: &CacheTagsOut, points: &mut Points) {
        let there = self.held.line.iter().flatten().count();
        let kept = o.fill_keep_o == 1;
        point!("reset under load", i.rst_ni == 0 && there > 1);
        point!("a line comes under reset", i.rst_ni == 0 && kept);
        point!("flush with several lines", i.flush_i == 1 && there > 1);
        point!("flush as a line comes", i.flush_i == 1 && kept);
        point!("flush as a line is used", i.flush_i == 1 && i.touch_i == 1);
        point!("flush as a line becomes invalid", i.flush_i == 1 && i.invalidate_i == 1);
    }
}
