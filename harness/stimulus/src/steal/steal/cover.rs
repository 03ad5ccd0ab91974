//! Situations of `steal`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MRF_EVENT, MrfShape};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::steal::{STEAL_EVENT, StealIn, StealOut, StealProbe};

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct StealCover {
    shape: MrfShape,
    /// Straps: reads steal; writes steal; a theft need not remove a conflict; results that are read next are not parked; reads are redirected; values
    /// that are overwritten are dropped.
    read: bool,
    write: bool,
    eager: bool,
    unread: bool,
    redirect: bool,
    drop: bool,
    /// The register that landed in the previous cycle, and the banks in which a value has been parked.
    landed: Option<(u8, u16)>,
    parked: u32,
    /// Ports whose instruction was taken with all operands stolen, one cycle ago and two.
    whole: [u8; 2],
}

/// With more banks than this, not all of them are busy at once, nor do all of them have a value.
const FEW_BANKS: usize = 4;
const MANY_BANKS: usize = 16;
/// With no more collectors than this, few reads wait, and few of many banks have a value.
const FEW_COLLECTORS: usize = 4;

#[cover]
impl StealCover {
    fn new(shape: &MrfShape, config: &Config) -> Self {
        let strap = |bit: u32| cfg_of_block(config, "steal") >> bit & 1 == 1;
        let (read, write, eager, unread) = (strap(1), strap(2), strap(3), strap(4));
        let (redirect, drop) = (strap(5), strap(6));
        Self { shape: *shape, read, write, eager, unread, redirect, drop, landed: None, parked: 0, whole: [0; 2] }
    }

    /// Whether several operands of an instruction can be stolen. With one candidate, at most two of its three operands are rivals, and one of these
    /// is left.
    fn several(&self) -> bool {
        self.read && (self.eager || self.shape.issue_ports == 2)
    }

    fn observe(&mut self, i: &StealIn, o: &StealOut, p: &StealProbe, points: &mut Points) {
        if i.rst_ni == 0 {
            point!("reset under load", p.busy != 0 && p.head_valid != 0);
            *self = StealCover { landed: None, parked: 0, whole: [0; 2], ..*self };
            return;
        }
        self.file(i, o, p, points);
        self.table(i, o, p, points);
        self.thefts(i, o, p, points);
        self.parking(i, o, p, points);
        self.landed = (p.land_valid == 1).then_some((p.land_bank, p.land_entry));
    }

    fn ports(&self, set: u8) -> impl Iterator<Item = usize> + use<> {
        (0..self.shape.issue_ports).filter(move |p| set >> p & 1 == 1)
    }

    fn file(&self, i: &StealIn, o: &StealOut, p: &StealProbe, points: &mut Points) {
        let mrf = |name: &str| part(MRF_EVENT, o.event_o, name);
        let taken = i.issue_valid_i & o.issue_ready_o;
        let sourceless = self.ports(taken).any(|q| i.issue_src_valid_i >> (OPERANDS * q) & 7 == 0);
        let written = p.write_done & !p.park_valid;
        let behind = (0..self.shape.collectors).any(|c| p.complete >> c & 1 == 1 && p.same_warp_q[c] != 0);
        point!("issue stalls", mrf("issue_stall") > 0);
        point!("dispatch stalls", mrf("dispatch_stall") > 0);
        point!("write refused", i.write_valid_i & !o.write_ready_o != 0);
        point!("write held by an older read (hazard 9)", mrf("write_held") > 0);
        point!("conflict inside an instruction", mrf("conflict_intra") > 0);
        point!("conflict between instructions", mrf("conflict_inter") > 0);
        point!("read waits for a write", mrf("conflict_read_write") > 0);
        point!("one read fills several slots", p.fill.count_ones() > (p.grant.count_ones() + p.stolen.count_ones()));
        point!("all collectors busy", p.busy.count_ones() as usize == self.shape.collectors);
        point!("complete, but its warp's older instruction is not", behind);
        point!("instruction without register sources", sourceless);
        point!("partial write", self.ports(written).any(|q| p.head_mask[q] != u32::MAX));
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two instructions taken", taken == 3);
            point!("two dispatched", mrf("dispatch") == 2);
            point!("writes meet at a bank", mrf("conflict_write") > 0);
        }
        let all = u32::MAX >> (32 - self.shape.banks);
        point!(
            "all banks are busy",
            (p.read_valid | p.bank_write_valid) & all == all,
            given = self.shape.banks <= FEW_BANKS
        );
    }

    fn table(&mut self, i: &StealIn, o: &StealOut, p: &StealProbe, points: &mut Points) {
        let clear = i.clear_i == 1;
        let parks = self.ports(p.park_valid).fold(0u32, |set, q| set | 1 << p.park_bank[q]);
        point!("two hints", event(o, "hint") + event(o, "hint_ignored") == 2, given = self.shape.issue_ports == 2);
        for q in self.ports(i.hint_valid_i).filter(|_| !clear) {
            let at = (p.hint_bank[q], p.hint_entry[q]);
            let b = usize::from(at.0);
            let taken = p.hint_taken >> q & 1 == 1;
            let queued = self.ports(p.head_valid).any(|h| (p.head_bank[h], p.head_entry[h]) == at);
            let home = |b: usize| bit(p.parked, b as u32) && (p.parked_bank[b], p.parked_entry[b]) == at;
            point!("a hint is taken", taken);
            let other = bit(p.free_valid, at.0) && p.free_entry[b] != at.1;
            point!("a hint is taken, its bank has another free entry", taken && other);
            point!("a hint is not taken: its register's value is in a queue", !taken && queued);
            point!(
                "a hint is not taken: a value is parked in its bank",
                !taken && bit(p.parked, at.0),
                given = self.write
            );
            point!(
                "a hint is not taken: a value is being parked in its bank",
                !taken && bit(parks, at.0),
                given = self.write && self.shape.banks < MANY_BANKS
            );
            point!(
                "a hint is not taken: its register's value is parked",
                !taken && (0..self.shape.banks).any(home),
                given = self.write && (self.shape.banks <= MANY_BANKS || self.shape.collectors > FEW_COLLECTORS)
            );
        }
        let comes = p.alive & p.free_valid;
        point!("an entry comes alive", comes & !p.parked != 0 && !clear);
        let again = |q: usize| {
            let b = p.head_bank[q];
            p.head_entry[q] == p.free_entry[usize::from(b)] && bit(p.free_valid, b) && p.write_done >> q & 1 == 1
        };
        point!("a register is written again that was free", self.ports(p.head_valid).any(again));
        point!("a grid begins, the last row is free", clear && i.spare_i == 1);
        point!("a grid begins, no row is left", clear && i.spare_i == 0);
        point!("a candidate without a free collector", p.candidates_valid_q & !o.issue_ready_o != 0);
    }

    fn thefts(&mut self, i: &StealIn, o: &StealOut, p: &StealProbe, points: &mut Points) {
        let taken = i.issue_valid_i & o.issue_ready_o;
        let of = |set: u8, q: usize| set >> (OPERANDS * q) & 7;
        let done = |q: usize| p.stolen_taken >> q & 1 == 1;
        let mut whole = 0;
        for q in self.ports(o.steal_o) {
            let stolen = of(p.stolen, q);
            let wants = of(p.want_valid, q);
            let all = wants == stolen && done(q);
            whole |= u8::from(all) << q;
            point!(
                "two operands of an instruction are stolen",
                done(q) && stolen.count_ones() > 1,
                given = self.several()
            );
            point!("everything of an instruction is stolen", all, given = self.several());
            #[given(self.read)]
            {
                point!("an operand is stolen", true);
                point!("no collector takes what was stolen", !done(q));
                point!("another warp issues than the one that is stolen for", !done(q) && taken >> q & 1 == 1);
                point!("an operand is stolen for some lanes", done(q) && i.issue_mask_i[q] != u32::MAX);
                point!("an instruction whose operand is stolen is taken beside reads", done(q) && p.grant != 0);
            }
            let register = |s: usize| i.issue_src_reg_i[OPERANDS * q + s];
            let sources = of(i.issue_src_valid_i, q);
            let twice = |s: usize| (s + 1..OPERANDS).any(|t| sources >> t & 1 == 1 && register(t) == register(s));
            point!(
                "a stolen operand fills two slots",
                done(q) && (0..OPERANDS).any(|s| stolen >> s & 1 == 1 && twice(s)),
                given = self.read
            );
            let rival = |k: usize| {
                let mine = OPERANDS * q..OPERANDS * q + OPERANDS;
                mine.into_iter().any(|s| p.stolen >> s & 1 == 1 && p.want_bank[s] == p.want_bank[k] && s != k)
            };
            let wanted = |k: &usize| (p.want_valid & !p.want_parked) >> k & 1 == 1;
            let rivals = (0..self.shape.sources()).filter(wanted).any(rival);
            point!("a theft removes a conflict", rivals, given = self.read && !self.eager);
            point!("an operand is stolen that no other request wants", !rivals, given = self.read && self.eager);
            let left = (0..OPERANDS * q).filter(wanted).any(rival);
            point!(
                "a candidate's operand is left to the other one's",
                q == 1 && left,
                given = self.read && self.shape.issue_ports == 2
            );
        }
        point!(
            "operands of both candidates are stolen",
            o.steal_o == 3,
            given = self.read && self.shape.issue_ports == 2
        );
        let complete = self.whole[1] != 0;
        point!(
            "an instruction of which everything was stolen is complete two cycles later",
            complete,
            given = self.several()
        );
        self.whole = [whole, self.whole[0]];
    }

    #[given(self.write)]
    fn parking(&mut self, i: &StealIn, o: &StealOut, p: &StealProbe, points: &mut Points) {
        let fetch = p.fetch_valid == 1;
        let last = (self.shape.depth - 1) as u16;
        for q in self.ports(p.park_valid) {
            let b = p.park_bank[q];
            point!("a value is parked", true);
            point!("a value that is read next is parked", bit(p.head_next_q.into(), q as u32), given = !self.unread);
            point!("a value is parked in the last row", p.free_entry[usize::from(b)] == last);
            point!("a value is parked where another one was before", bit(self.parked, b));
            self.parked |= 1 << b;
            let own = p.head_bank[q];
            let wanted = (0..self.shape.sources()).any(|k| p.stolen >> k & 1 == 1 && p.want_bank[k] == own);
            point!("parked, as a theft wants its bank", wanted, given = self.read);
        }
        if i.clear_i == 1 {
            self.parked = 0;
        }
        point!("two values are parked", p.park_valid == 3, given = self.shape.issue_ports == 2);
        point!("it comes back in the next cycle", event(o, "return_next") == 1);
        point!("it comes back later", event(o, "return_later") == 1);
        point!("forced back by a read", fetch && p.force_read == 1, given = !self.redirect);
        point!("forced back by a write", fetch && p.force_write == 1);
        #[given(self.redirect)]
        {
            let moved = |s: usize| p.at_bank[s] != p.req_bank[s] && p.grant >> s & 1 == 1;
            point!("a read is redirected", (0..self.shape.slots()).any(moved));
            let filled = |s: usize| {
                let of = s / OPERANDS * OPERANDS..(s / OPERANDS + 1) * OPERANDS;
                of.into_iter().any(|t| t != s && p.fill >> t & 1 == 1 && usize::from(p.leader_q[t]) == s % OPERANDS)
            };
            point!("a redirected read fills two slots", (0..self.shape.slots()).any(|s| moved(s) && filled(s)));
        }
        #[given(self.drop)]
        {
            point!("a parked value is dropped", p.drop != 0);
            // With one port, nothing else is in progress at the same time as the result.
            point!(
                "a result is parked and drops an older one",
                p.drop & p.park_valid != 0,
                given = self.shape.issue_ports == 2
            );
            point!(
                "a value that would be dropped is forced back",
                self.ports(p.drop_valid & p.write_parked).any(|q| fetch && p.drop_bank[q] == p.fetch_bank),
                given = !self.redirect && self.shape.issue_ports == 2
            );
        }
        point!("forced back by a write of its place", fetch && p.force_alive == 1);
        point!("a read waits for a parked value", event(o, "wait_parked") > 0, given = !self.redirect);
        point!(
            "two reads wait for parked values",
            event(o, "wait_parked") > 1,
            given = self.shape.banks > FEW_BANKS
                && self.shape.collectors > FEW_COLLECTORS
                && !self.unread
                && !self.redirect
        );
        point!("a read waits for a landing or a forced fetch", event(o, "wait_return") > 0);
        point!("a result waits for a parked value", event(o, "write_wait_parked") > 0);
        let lands = p.land_valid == 1;
        point!("a landing meets the result on its bus", event(o, "write_wait_bus") > 0);
        point!(
            "a result goes as a landing has the other bus",
            lands && p.write_done != 0,
            given = self.shape.issue_ports == 2
        );
        point!("a value lands while another one is fetched", lands && fetch);
        let read = |place: (u8, u16)| bit(p.read_valid, place.0) && p.read_entry[usize::from(place.0)] == place.1;
        point!("what has landed is read in the next cycle", self.landed.is_some_and(read));
        point!("a result without all lanes goes before reads", event(o, "write_partial") > 0);
        let barred = event(o, "write_partial") + event(o, "write_next");
        point!("a result without a place goes before reads", event(o, "write_forced") > barred);
        point!("a result that is read next goes before reads", event(o, "write_next") > 0, given = self.unread);
        point!("a blocking read", event(o, "blocking_read") > 0);
        point!("several values are parked", p.parked.count_ones() > 1);
        // With few banks there are few places; with many banks, two accesses rarely need the same one.
        point!("no place is left", p.parked != 0 && p.parked == p.free_valid, given = self.shape.banks <= FEW_BANKS);
        point!(
            "an operand is stolen and a value parked in one cycle",
            o.steal_o != 0 && p.park_valid != 0,
            given = self.read
        );
        point!("an operand of a candidate is parked", p.want_parked != 0, given = self.read);
    }
}

fn bit(set: u32, b: impl Into<u32>) -> bool {
    set >> b.into() & 1 == 1
}

fn event(o: &StealOut, name: &str) -> u64 {
    part(STEAL_EVENT, o.steal_event_o, name)
}
