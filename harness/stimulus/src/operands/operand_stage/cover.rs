//! Situations of `operand_stage`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::instruction::{NO_REG, Roles, unit};
use gpurf_blocks::operands::{OperandStageIn, OperandStageOut, OperandStageProbe};
use gpurf_blocks::rfc::{RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT};
use gpurf_blocks::shape::SmShape;

use crate::Cover;
use crate::cover::part;

pub(crate) struct OperandStageCover {
    shape: SmShape,
}

impl Cover for OperandStageCover {
    type In = OperandStageIn;
    type Out = OperandStageOut;
    type Probe = OperandStageProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "issue stalls",
            "dispatch stalls",
            "write refused",
            "all places are busy",
            "a place below busy ones is taken",
            "a place is freed and another one taken",
            "instructions leave in another order than that of places",
            "an instruction without register sources",
            "an instruction with three register sources",
            "a source between registers is none",
            "a warp's rows do not begin at 0",
            "reads meet at a bank",
            "an instruction in reset",
            "reset under load",
        ];
        // With a cache few results go to a bank, and with a port for them they are hardly ever held.
        if super::rfc_of(shape).is_none() || shape.ports() == 2 || !shape.mrf.dual_port {
            points.push("a result is held by an older read");
        }
        if shape.services().takes_candidates {
            points.extend(STEALING);
        } else {
            points.push("rows begin anew behind the last");
        }
        if super::rfc_of(shape).is_none() {
            points.extend(["a slot is empty at once", "slots without a cache"]);
        } else {
            points.extend(CACHED);
        }
        if super::rfc_of(shape).is_some_and(|sizes| sizes.lrf) {
            points.extend(UPPER);
        }
        if super::rfc_of(shape).is_some_and(|sizes| sizes.reads) {
            points.extend(FILLED);
        }
        if shape.ports() == 2 {
            points.extend([
                "two instructions taken",
                "port 1 takes its place alone",
                "only port 0 finds a place",
                "two dispatched",
                "only port 1's is dispatched",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &OperandStageIn,
        o: &OperandStageOut,
        p: &OperandStageProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (shape, nets) = (&self.shape, &p.nets);
        let ports = |mask: u8| (0..shape.ports()).filter(move |p| mask >> p & 1 == 1);
        let taken = i.issue_valid_i & o.issue_ready_o;
        let left = o.dispatch_valid_o & i.dispatch_ready_i;
        let busy = nets.slot_busy_q;
        // With a cache, those in front of the collectors too.
        let most = shape.mrf.collectors + if super::rfc_of(shape).is_none() { 0 } else { shape.ports() };
        let sources = |p: usize| {
            let roles = Roles(i.issue_roles_i[p]);
            [roles.a(), roles.b(), roles.c()].map(|name| name != NO_REG)
        };
        let issues = |pattern: [bool; OPERANDS]| ports(taken).any(|p| sources(p) == pattern);
        let first_row = |p: usize| usize::from(i.issue_warp_i[p]) * usize::from(i.rows_i);
        let lowest_busy = busy.trailing_zeros() as u8;
        let points = [
            ("issue stalls", i.issue_valid_i & !o.issue_ready_o != 0),
            ("dispatch stalls", o.dispatch_valid_o & !i.dispatch_ready_i != 0),
            ("write refused", i.write_valid_i & !o.write_ready_o != 0),
            ("all places are busy", busy.count_ones() as usize == most),
            ("a place below busy ones is taken", ports(taken).any(|p| busy >> nets.issue_tag[p] > 1)),
            ("a place is freed and another one taken", left != 0 && taken != 0),
            (
                "instructions leave in another order than that of places",
                ports(left).any(|p| nets.dispatch_tag[p] > lowest_busy),
            ),
            ("an instruction without register sources", issues([false; OPERANDS])),
            ("an instruction with three register sources", issues([true; OPERANDS])),
            ("a source between registers is none", issues([true, false, true])),
            ("rows begin anew behind the last", ports(taken).any(|p| first_row(p) >= shape.mrf.depth)),
            ("a warp's rows do not begin at 0", ports(taken).any(|p| nets.issue_base[p] != 0)),
            ("a result is held by an older read", o.event_o >> 6 & 3 != 0),
            ("reads meet at a bank", o.event_o >> 16 & 0xfff != 0),
            ("an instruction in reset", i.rst_ni == 0 && taken != 0),
            (
                "reset under load",
                i.rst_ni == 0
                    && busy != 0
                    && shape.organisation.banks(&p.provider).is_some_and(|banks| banks.heads != 0),
            ),
            ("two instructions taken", taken == 0b11),
            ("port 1 takes its place alone", i.issue_valid_i == 0b10 && taken == 0b10),
            ("only port 0 finds a place", i.issue_valid_i == 0b11 && taken == 0b01),
            ("two dispatched", left == 0b11),
            ("only port 1's is dispatched", left == 0b10),
            ("a slot is empty at once", i.flush_i & i.slot_valid_i != 0),
            ("slots without a cache", super::rfc_of(shape).is_none() && i.slot_valid_i != 0 && taken != 0),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        if super::rfc_of(shape).is_some() {
            self.cached(i, o, p, taken, hit);
        }
        if shape.services().takes_candidates {
            self.stealing(i, o, p, left, hit);
        }
    }
}

/// Points of what only a file looks at whose banks are stolen.
const STEALING: [&str; 12] = [
    "a candidate with three register sources",
    "a candidate without register sources",
    "a candidate's rows do not begin at 0",
    "no candidate, and roles that name registers",
    "a dispatched instruction names a dead register",
    "one that its warp does not have",
    "the last one that its warp has",
    "it names none",
    "one that is not dispatched names a dead register",
    "a dead register of a warp whose rows do not begin at 0",
    "a grid begins, and a row is left over",
    "a grid begins, and no row is left over",
];

/// Points of what only a cache looks at.
const CACHED: [&str; 16] = [
    "a last read of source a",
    "a last read of source b",
    "a last read of source c",
    "an operation with a long latency",
    "a load from shared memory",
    "a load without a register",
    "a result with the bypass bit",
    "a result with the LRF's bypass bit",
    "an ALU's instruction",
    "a single precision instruction",
    "another unit's instruction",
    "a result of a shared unit",
    "a slot's rows do not begin at 0",
    "a slot is empty",
    "a source from the cache",
    "a value goes from the cache to its bank",
];

/// Those of an LRF.
const UPPER: [&str; 4] = [
    "a source from the LRF",
    "a result to the LRF",
    "a value goes from the LRF to the cache",
    "a value goes from the LRF to its bank",
];

/// Those of reads that allocate.
const FILLED: [&str; 2] =
    ["an operand of the MRF goes into the cache", "operands that wait keep instructions from dispatch"];

impl OperandStageCover {
    fn stealing(
        &self,
        i: &OperandStageIn,
        o: &OperandStageOut,
        p: &OperandStageProbe,
        left: u8,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let nets = &p.nets;
        let ports = |mask: u8| (0..self.shape.ports()).filter(move |p| mask >> p & 1 == 1);
        let sources = |p: usize| nets.candidate_src_valid >> (OPERANDS * p) & 7;
        let names = |p: usize| i.candidate_roles_i[p] as u32 & 0xff_ffff != 0xff_ffff;
        let none = !i.candidate_valid_i & ((1 << self.shape.ports()) - 1);
        let register = |p: usize| (!(o.dispatch_ctl_o[p] >> 53)) as u8;
        let said = |p: usize| register(p) != NO_REG;
        let hint = |p: usize| nets.hint_valid >> p & 1 == 1;
        let last = |p: usize| usize::from(register(p)) + 1 == self.shape.mrf.banks * usize::from(i.rows_i);
        let points = [
            ("a candidate with three register sources", ports(i.candidate_valid_i).any(|p| sources(p) == 7)),
            ("a candidate without register sources", ports(i.candidate_valid_i).any(|p| sources(p) == 0)),
            ("a candidate's rows do not begin at 0", ports(i.candidate_valid_i).any(|p| nets.candidate_base[p] != 0)),
            ("no candidate, and roles that name registers", ports(none).any(names)),
            ("a dispatched instruction names a dead register", ports(left).any(hint)),
            ("one that its warp does not have", ports(left).any(|p| said(p) && !hint(p))),
            ("the last one that its warp has", ports(left).any(|p| hint(p) && last(p))),
            ("it names none", ports(left).any(|p| !said(p))),
            ("one that is not dispatched names a dead register", ports(o.dispatch_valid_o & !left).any(said)),
            (
                "a dead register of a warp whose rows do not begin at 0",
                ports(left).any(|p| hint(p) && nets.hint_base[p] != 0),
            ),
            ("a grid begins, and a row is left over", i.clear_i == 1 && i.spare_i == 1),
            ("a grid begins, and no row is left over", i.clear_i == 1 && i.spare_i == 0),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }

    fn cached(
        &self,
        i: &OperandStageIn,
        o: &OperandStageOut,
        p: &OperandStageProbe,
        taken: u8,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let event = |name: &str| part(RFC_EVENT, o.design_event_o[0], name);
        let counted = |name: &str| part(RFC_COUNT_EVENT, o.design_event_o[1], name);
        let extra = |name: &str| part(RFC_EXTRA_EVENT, o.design_event_o[2], name);
        let slot_base =
            (0..self.shape.slots()).any(|s| i.slot_valid_i >> s & 1 == 1 && i.slot_warp_i[s] != 0 && i.rows_i != 0);
        let mut points = vec![
            ("a result of a shared unit", i.write_valid_i & o.write_ready_o & !i.write_private_i != 0),
            ("a slot's rows do not begin at 0", slot_base && counted("rfc_evict") > 0),
            ("a slot is empty", o.flush_done_o != 0),
            ("a source from the cache", event("rfc_hit") > 0),
            ("a value goes from the cache to its bank", counted("rfc_flush") > 0),
            ("a source from the LRF", extra("rfc_lrf_read_groups") > 0),
            ("a result to the LRF", extra("rfc_lrf_write_groups") > 0),
            ("a value goes from the LRF to the cache", extra("rfc_lrf_spill_groups") > 0),
            ("a value goes from the LRF to its bank", extra("rfc_lrf_flush_groups") > 0),
            ("an operand of the MRF goes into the cache", extra("rfc_fill_groups") > 0),
            (
                "operands that wait keep instructions from dispatch",
                p.provider.rfc().nets.fills_busy == 1 && p.provider.rfc().nets.mrf_dispatch_valid != 0,
            ),
        ];
        for p in (0..self.shape.ports()).filter(|p| taken >> p & 1 == 1) {
            let (op, ctl, roles) = (i.issue_op_i[p], i.issue_ctl_i[p], Roles(i.issue_roles_i[p]));
            let load = matches!(op & 0x7f, 0x40 | 0x43 | 0x44);
            let (shared, writes) = (op >> 28 & 3 == 1, roles.d() != NO_REG);
            let last = |k: usize, name: u8| ctl >> (20 + k) & 1 == 1 && name != NO_REG;
            points.extend([
                ("a last read of source a", last(0, roles.a())),
                ("a last read of source b", last(1, roles.b())),
                ("a last read of source c", last(2, roles.c())),
                ("an operation with a long latency", load && !shared && writes),
                ("a load from shared memory", load && shared && writes),
                ("a load without a register", load && !shared && !writes),
                ("a result with the bypass bit", ctl >> 26 & 1 == 1 && writes),
                ("a result with the LRF's bypass bit", ctl >> 25 & 1 == 1 && writes),
                ("an ALU's instruction", roles.unit() == unit::ALU),
                ("a single precision instruction", roles.unit() == unit::FP),
                ("another unit's instruction", !matches!(roles.unit(), unit::ALU | unit::FP)),
            ]);
        }
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
