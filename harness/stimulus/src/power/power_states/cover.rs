//! Coverage of `power_states`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::power::{PowerStatesIn, PowerStatesOut, PowerStatesProbe};
use gpurf_blocks::shape::{SmShape, cfg_of_block};

use crate::{Points, cover};

pub(crate) struct PowerStatesCover {
    shape: SmShape,
    mode: u64,
}

/// The states of a warp's registers.
struct States<'a>(&'a PowerStatesProbe, usize);

impl States<'_> {
    fn bit(&self, words: &[u64], r: u8) -> bool {
        words[4 * self.1 + usize::from(r / 64)] >> (r % 64) & 1 == 1
    }

    fn pending(&self, r: u8) -> bool {
        self.bit(&self.0.pending_q, r)
    }

    fn off(&self, r: u8) -> bool {
        self.bit(&self.0.off_q, r)
    }

    fn asleep(&self, r: u8) -> bool {
        self.bit(&self.0.asleep_q, r)
    }
}

/// Registers of an instruction by place: sources, then the result.
fn names(roles: Roles) -> [u8; 4] {
    [roles.a(), roles.b(), roles.c(), roles.d()]
}

/// The registers of an instruction, each once.
fn once(roles: Roles) -> Vec<u8> {
    let mut all: Vec<u8> = names(roles).into_iter().filter(|&r| r != NO_REG).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The states of an instruction's source slots in these bits, and whether the slot is the third one; `None`: no register.
fn slots(roles: Roles, states: u8) -> [Option<(u8, bool)>; 3] {
    let mut taken = 0;
    roles.sources().map(|r| {
        (r != NO_REG).then(|| {
            taken += 1;
            ([1, states & 3, states >> 2 & 3, 1][taken], taken == 3)
        })
    })
}

const ALWAYS_ON: u64 = 0;
const SLEEP_ALWAYS: u64 = 1;
const GREENER: u64 = 3;

#[cover]
impl PowerStatesCover {
    const PLACES: [&str; 4] = ["a", "b", "c", "d"];
    const SOURCES: [&str; 3] = ["a", "b", "c"];
    const NUMBERS: [&str; 4] = ["one register", "two registers", "three registers", "four registers"];
    const LEFT: [&str; 4] = ["ON", "in SLEEP", "OFF", "OFF by 3"];
    const WORDS: [&str; 4] = ["0 to 63", "64 to 127", "128 to 191", "192 to 255"];

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self { shape: *shape, mode: cfg_of_block(config, "power_states") & 3 }
    }

    fn observe(&mut self, i: &PowerStatesIn, o: &PowerStatesOut, p: &PowerStatesProbe, points: &mut Points) {
        let sets = set_bits(i.set_valid_i).count();
        point!("a head is clear", o.clear_o != 0);
        point!("two instructions go to the operand stage", sets == 2, given = self.shape.ports() == 2);
        point!("a grid is taken", i.launch_valid_i == 1);
        point!("a warp begins", i.start_valid_i == 1);
        self.always_on(i, points);
        self.heads(i, o, p, points);
        self.accesses(i, p, points);
        self.marks(i, points);
        self.table(i, p, points);
        self.warps(i, o, p, points);
        self.begins(i, p, points);
    }

    /// The mode in which registers have no states.
    #[given(self.mode == ALWAYS_ON)]
    fn always_on(&mut self, i: &PowerStatesIn, points: &mut Points) {
        point!("an access would change a state", i.set_valid_i & 1 == 1 && i.set_states_i[0] != 0);
        point!("a read would change one", i.read_valid_i & 1 == 1 && i.read_states_i[0] != 0);
        point!("a register is written", i.reg_valid_i != 0);
        point!("a warp has ended", !i.alive_i & i.idle_i != 0);
        point!("a head has registers", i.clear_i & 1 == 1 && !once(Roles(i.head_roles_i[0])).is_empty());
    }

    #[given(self.mode != ALWAYS_ON)]
    fn heads(&mut self, i: &PowerStatesIn, o: &PowerStatesOut, p: &PowerStatesProbe, points: &mut Points) {
        let (wake_sleep, wake_off) = (i.cfg_i >> 2 & 15, i.cfg_i >> 6);
        let mut ends = 0;
        for w in set_bits(i.clear_i) {
            let states = States(p, w);
            let roles = Roles(i.head_roles_i[w]);
            let registers = once(roles);
            let wake = p.wake_q[w];
            point!("a head without registers", registers.is_empty());
            point!("a head's registers are all ON", !registers.is_empty() && o.clear_o >> w & 1 == 1);
            let pending: Vec<u8> = registers.iter().copied().filter(|&r| states.pending(r)).collect();
            let off = registers.iter().filter(|&&r| states.off(r)).count();
            let asleep = registers.iter().filter(|&&r| states.asleep(r)).count();
            if !pending.is_empty() {
                let places = names(roles).map(|r| pending.contains(&r));
                let place = places.iter().position(|&is| is).unwrap_or(0);
                let alone = places.iter().filter(|&&is| is).count() == 1;
                point!("a head waits for an access of {PLACES[place]}", alone);
                let sleeps = registers.iter().any(|r| !pending.contains(r) && (states.off(*r) || states.asleep(*r)));
                point!("of a head that waits for an access another register is not ON", sleeps);
                point!("a head that waits for an access has a wake-up in progress", wake != 0);
                continue;
            }
            if off + asleep == 0 {
                point!("a head is clear, and a wake-up of its warp has not ended", wake != 0);
                continue;
            }
            let begins = wake == 0;
            let sleep = if asleep > 0 { wake_sleep } else { 0 };
            let longest = sleep.max(if off > 0 { wake_off } else { 0 });
            point!("a wake-up begins", begins && longest > 1);
            point!("a wake-up begins and ends", begins && longest == 1);
            point!("a latency of 0", begins && longest == 0);
            point!("a latency of 15", begins && longest == 15);
            point!("a wake-up goes on", wake > 1);
            point!("a wake-up that began before ends", wake == 1);
            point!("only registers that are OFF are woken", begins && asleep == 0);
            point!("only registers in SLEEP are woken", begins && off == 0);
            point!("of both the one that is OFF takes longer", begins && sleep > 0 && wake_off > sleep && off > 0);
            point!("of both the one in SLEEP takes longer", begins && off > 0 && sleep > wake_off);
            if wake == 1 || begins && longest <= 1 {
                ends += 1;
                point!("a wake-up of {NUMBERS[off + asleep - 1]} ends", true);
                let named = names(roles).iter().filter(|&&r| r != NO_REG).count();
                point!("a register that wakes is named twice", named > registers.len());
                point!("a head whose other register is ON wakes", off + asleep < registers.len());
                let ending = |q: usize| i.read_valid_i >> q & 1 == 1 && usize::from(i.read_warp_i[q]) == w;
                point!("a wake-up ends while an instruction of the warp is dispatched", ending(0));
                point!("register 254 wakes", registers.contains(&254));
            }
        }
        point!("two heads' registers wake at once", ends > 1);
        let waits = set_bits(!i.clear_i & self.shape.all_warps()).any(|w| p.wake_q[w] != 0);
        point!("a head that is not clear has a wake-up in progress", waits);
    }

    /// Accesses that end.
    #[given(self.mode != ALWAYS_ON)]
    fn accesses(&mut self, i: &PowerStatesIn, p: &PowerStatesProbe, points: &mut Points) {
        let mut ends: Vec<usize> = Vec::new();
        for q in set_bits(i.read_valid_i) {
            let warp = usize::from(i.read_warp_i[q]);
            let states = States(p, warp);
            let roles = Roles(i.read_roles_i[q]);
            for (s, &r) in roles.sources().iter().enumerate().filter(|(_, r)| **r != NO_REG) {
                let is_result = r == roles.d();
                if states.pending(r) && !is_result && !roles.sources()[..s].contains(&r) {
                    ends.push(warp);
                    point!("a read of {SOURCES[s]} leaves SLEEP", states.asleep(r));
                    point!("a read of {SOURCES[s]} leaves OFF", states.off(r), given = self.mode > SLEEP_ALWAYS);
                }
                let stays = !states.pending(r) && !is_result;
                point!("a read leaves ON", stays, given = self.mode > SLEEP_ALWAYS);
                point!("a source is the result, whose state changes", is_result && states.pending(r));
            }
        }
        for q in set_bits(i.reg_valid_i) {
            let (warp, r) = (usize::from(i.reg_warp_i[q]), i.reg_i[q]);
            let states = States(p, warp);
            if states.pending(r) {
                ends.push(warp);
                point!("a write leaves SLEEP", states.asleep(r));
                point!("a write leaves OFF", states.off(r), given = self.mode > SLEEP_ALWAYS);
            }
            point!("a write leaves ON", !states.pending(r));
            let set = set_bits(i.set_valid_i).any(|s| {
                usize::from(i.set_warp_i[s]) == warp && once(Roles(i.set_roles_i[s])).contains(&r) && r != NO_REG
            });
            point!("an access begins of a register that is written", set);
        }
        let twice = (1..ends.len()).any(|n| ends[..n].contains(&ends[n]));
        point!("two accesses of a warp end at once", twice);
    }

    /// States of instructions that go to the operand stage.
    #[given(self.mode > SLEEP_ALWAYS)]
    fn marks(&mut self, i: &PowerStatesIn, points: &mut Points) {
        for q in set_bits(i.set_valid_i) {
            let (roles, marks) = (Roles(i.set_roles_i[q]), i.set_states_i[q]);
            let slots = slots(roles, marks);
            let sources = roles.sources();
            for (s, slot) in slots.iter().enumerate() {
                let alone = names(roles).iter().filter(|&&r| r == sources[s]).count() == 1;
                let Some((state, third)) = slot.filter(|_| alone) else { continue };
                point!("a source is left {LEFT[usize::from(state)]}", !third);
                point!("a third source is left in SLEEP", third);
            }
            point!("the second source is c", slots[2].is_some_and(|(_, third)| !third));
            let twice = (0..3).find(|&s| sources[s] != NO_REG && sources[..s].contains(&sources[s]));
            let first = twice.and_then(|s| sources.iter().position(|r| *r == sources[s]));
            if let (Some(first), Some(second)) = (first, twice) {
                point!("a register is in two slots with different states", slots[first] != slots[second]);
            }
            let state = marks >> 4 & 3;
            point!("a result is left {LEFT[usize::from(state)]}", roles.d() != NO_REG);
            let both = sources.iter().position(|&r| r == roles.d() && r != NO_REG);
            if let Some(s) = both {
                point!("a source is the result with another state", slots[s].is_some_and(|(of, _)| of != state));
            }
        }
    }

    /// The access table's outputs count in one mode only.
    #[given(self.mode != ALWAYS_ON)]
    fn table(&mut self, i: &PowerStatesIn, p: &PowerStatesProbe, points: &mut Points) {
        let table = self.mode == GREENER;
        for q in set_bits(i.read_valid_i) {
            let states = States(p, i.read_warp_i[q].into());
            let roles = Roles(i.read_roles_i[q]);
            for (s, &r) in roles.sources().iter().enumerate() {
                let ends = states.pending(r) && r != roles.d() && !roles.sources()[..s].contains(&r);
                let kept = i.read_keep_i >> (3 * q + s) & 1 == 1;
                point!("a read keeps {SOURCES[s]} ON", ends && kept && table, given = self.mode == GREENER);
                point!("a read would keep its source ON", ends && kept && !table, given = self.mode != GREENER);
            }
        }
        for q in set_bits(i.reg_valid_i & i.reg_keep_i) {
            let ends = States(p, i.reg_warp_i[q].into()).pending(i.reg_i[q]);
            point!("a write keeps its register ON", ends && table, given = self.mode == GREENER);
            point!("a write would keep its register ON", ends && !table, given = self.mode != GREENER);
        }
    }

    #[given(self.mode != ALWAYS_ON)]
    fn warps(&mut self, i: &PowerStatesIn, o: &PowerStatesOut, p: &PowerStatesProbe, points: &mut Points) {
        let last = self.shape.warps - 1;
        for w in set_bits(!i.alive_i & self.shape.all_warps()) {
            let (on, asleep) = (p.on_count_q[w], p.asleep_count_q[w]);
            let idle = i.idle_i >> w & 1 == 1;
            point!("a warp ends with registers ON", idle && on > 0);
            point!("a warp ends with registers in SLEEP only", idle && on == 0 && asleep > 0);
            point!("a warp without lanes is not idle", !idle && (on | asleep) > 0);
            point!("an ended warp has only registers that are OFF", idle && on | asleep == 0);
            point!("the last warp ends", w == last && idle && on | asleep > 0);
        }
        let waits = o.wait_event_o;
        point!("several heads wait for wake-ups", waits >> 6 > 1);
        point!("several heads wait for accesses", waits & 63 > 1);
        point!("16 registers of a warp are ON", p.on_count_q[..=last].iter().any(|&count| count >= 16));
        point!("16 registers of a warp are in SLEEP", p.asleep_count_q[..=last].iter().any(|&count| count >= 16));
        point!("reset under load", i.rst_ni == 0 && p.on_count_q[..=last].iter().any(|&count| count > 0));
    }

    /// Warps that begin with registers in SLEEP.
    #[given(self.mode == SLEEP_ALWAYS)]
    fn begins(&mut self, i: &PowerStatesIn, p: &PowerStatesProbe, points: &mut Points) {
        let starts = i.start_valid_i == 1;
        let r = p.registers_q;
        point!("a warp begins with {WORDS[usize::from(r / 64)]} registers", starts);
        point!("a warp begins with whole words of registers", starts && r > 0 && r.is_multiple_of(64));
        point!("a warp begins with one register more than a word", starts && r % 64 == 1 && r > 64);
        point!("a warp begins without registers", starts && r == 0);
        point!("a warp begins with 255 registers", starts && r == 255);
        let w = usize::from(i.start_warp_i) % self.shape.warps;
        point!("a warp begins as the one before ends", starts && (p.on_count_q[w] | p.asleep_count_q[w]) > 0);
        point!("a grid is taken as a warp begins", starts && i.launch_valid_i == 1);
    }
}
