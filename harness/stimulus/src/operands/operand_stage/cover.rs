//! Situations of `operand_stage`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles, unit};
use gpurf_blocks::operands::{OperandStageIn, OperandStageOut, OperandStageProbe};
use gpurf_blocks::rfc::{RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT};
use gpurf_blocks::shape::SmShape;

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct OperandStageCover {
    shape: SmShape,
}

#[cover]
impl OperandStageCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &OperandStageIn, o: &OperandStageOut, p: &OperandStageProbe, points: &mut Points) {
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
        point!("issue stalls", i.issue_valid_i & !o.issue_ready_o != 0);
        point!("dispatch stalls", o.dispatch_valid_o & !i.dispatch_ready_i != 0);
        point!("write refused", i.write_valid_i & !o.write_ready_o != 0);
        point!("all places are busy", busy.count_ones() as usize == most);
        point!("a place below busy ones is taken", ports(taken).any(|p| busy >> nets.issue_tag[p] > 1));
        point!("a place is freed and another one taken", left != 0 && taken != 0);
        point!(
            "instructions leave in another order than that of places",
            ports(left).any(|p| nets.dispatch_tag[p] > lowest_busy)
        );
        point!("an instruction without register sources", issues([false; OPERANDS]));
        point!("an instruction with three register sources", issues([true; OPERANDS]));
        point!("a source between registers is none", issues([true, false, true]));
        point!(
            "rows begin anew behind the last",
            ports(taken).any(|p| first_row(p) >= shape.mrf.depth),
            given = !self.shape.services().takes_candidates
        );
        point!("a warp's rows do not begin at 0", ports(taken).any(|p| nets.issue_base[p] != 0));
        // With a cache few results go to a bank, and with a port for them they are hardly ever held.
        point!(
            "a result is held by an older read",
            o.event_o >> 6 & 3 != 0,
            given = super::rfc_of(&self.shape).is_none() || self.shape.ports() == 2 || !self.shape.mrf.dual_port
        );
        point!("reads meet at a bank", o.event_o >> 16 & 0xfff != 0);
        point!("an instruction in reset", i.rst_ni == 0 && taken != 0);
        point!(
            "reset under load",
            i.rst_ni == 0 && busy != 0 && shape.organisation.banks(&p.provider).is_some_and(|banks| banks.heads != 0)
        );
        point!(
            "a slot is empty at once",
            i.flush_i & i.slot_valid_i != 0,
            given = super::rfc_of(&self.shape).is_none()
        );
        point!(
            "slots without a cache",
            super::rfc_of(shape).is_none() && i.slot_valid_i != 0 && taken != 0,
            given = super::rfc_of(&self.shape).is_none()
        );
        #[given(self.shape.ports() == 2)]
        {
            point!("two instructions taken", taken == 0b11);
            point!("port 1 takes its place alone", i.issue_valid_i == 0b10 && taken == 0b10);
            point!("only port 0 finds a place", i.issue_valid_i == 0b11 && taken == 0b01);
            point!("two dispatched", left == 0b11);
            point!("only port 1's is dispatched", left == 0b10);
        }

        if super::rfc_of(shape).is_some() {
            self.cached(i, o, p, taken, points);
        }
        if shape.services().takes_candidates {
            self.stealing(i, o, p, left, points);
        }
    }

    #[given(self.shape.services().takes_candidates)]
    fn stealing(&self, i: &OperandStageIn, o: &OperandStageOut, p: &OperandStageProbe, left: u8, points: &mut Points) {
        let nets = &p.nets;
        let ports = |mask: u8| (0..self.shape.ports()).filter(move |p| mask >> p & 1 == 1);
        let sources = |p: usize| nets.candidate_src_valid >> (OPERANDS * p) & 7;
        let names = |p: usize| i.candidate_roles_i[p] as u32 & 0xff_ffff != 0xff_ffff;
        let none = !i.candidate_valid_i & ((1 << self.shape.ports()) - 1);
        let register = |p: usize| (!(o.dispatch_ctl_o[p] >> 53)) as u8;
        let said = |p: usize| register(p) != NO_REG;
        let hint = |p: usize| nets.hint_valid >> p & 1 == 1;
        let last = |p: usize| usize::from(register(p)) + 1 == self.shape.mrf.banks * usize::from(i.rows_i);
        point!("a candidate with three register sources", ports(i.candidate_valid_i).any(|p| sources(p) == 7));
        point!("a candidate without register sources", ports(i.candidate_valid_i).any(|p| sources(p) == 0));
        point!("a candidate's rows do not begin at 0", ports(i.candidate_valid_i).any(|p| nets.candidate_base[p] != 0));
        point!("no candidate, and roles that name registers", ports(none).any(names));
        point!("a dispatched instruction names a dead register", ports(left).any(hint));
        point!("one that its warp does not have", ports(left).any(|p| said(p) && !hint(p)));
        point!("the last one that its warp has", ports(left).any(|p| hint(p) && last(p)));
        point!("it names none", ports(left).any(|p| !said(p)));
        point!("one that is not dispatched names a dead register", ports(o.dispatch_valid_o & !left).any(said));
        point!(
            "a dead register of a warp whose rows do not begin at 0",
            ports(left).any(|p| hint(p) && nets.hint_base[p] != 0)
        );
        point!("a grid begins, and a row is left over", i.clear_i == 1 && i.spare_i == 1);
        point!("a grid begins, and no row is left over", i.clear_i == 1 && i.spare_i == 0);
    }

    fn cached(&self, i: &OperandStageIn, o: &OperandStageOut, p: &OperandStageProbe, taken: u8, points: &mut Points) {
        let event = |name: &str| part(RFC_EVENT, o.design_event_o[0], name);
        let counted = |name: &str| part(RFC_COUNT_EVENT, o.design_event_o[1], name);
        let extra = |name: &str| part(RFC_EXTRA_EVENT, o.design_event_o[2], name);
        let slot_base =
            (0..self.shape.slots()).any(|s| i.slot_valid_i >> s & 1 == 1 && i.slot_warp_i[s] != 0 && i.rows_i != 0);
        point!(
            "an operand of the MRF goes into the cache",
            extra("rfc_fill_groups") > 0,
            given = super::rfc_of(&self.shape).is_some_and(|sizes| sizes.reads)
        );
        point!(
            "operands that wait keep instructions from dispatch",
            p.provider.rfc().nets.fills_busy == 1 && p.provider.rfc().nets.mrf_dispatch_valid != 0,
            given = super::rfc_of(&self.shape).is_some_and(|sizes| sizes.reads)
        );
        #[given(super::rfc_of(&self.shape).is_some())]
        {
            point!("a result of a shared unit", i.write_valid_i & o.write_ready_o & !i.write_private_i != 0);
            point!("a slot's rows do not begin at 0", slot_base && counted("rfc_evict") > 0);
            point!("a slot is empty", o.flush_done_o != 0);
            point!("a source from the cache", event("rfc_hit") > 0);
            point!("a value goes from the cache to its bank", counted("rfc_flush") > 0);
        }
        #[given(super::rfc_of(&self.shape).is_some_and(|sizes| sizes.lrf))]
        {
            point!("a source from the LRF", extra("rfc_lrf_read_groups") > 0);
            point!("a result to the LRF", extra("rfc_lrf_write_groups") > 0);
            point!("a value goes from the LRF to the cache", extra("rfc_lrf_spill_groups") > 0);
            point!("a value goes from the LRF to its bank", extra("rfc_lrf_flush_groups") > 0);
        }

        for p in (0..self.shape.ports()).filter(|p| taken >> p & 1 == 1) {
            let (op, ctl, roles) = (i.issue_op_i[p], i.issue_ctl_i[p], Roles(i.issue_roles_i[p]));
            let load = matches!(op & 0x7f, 0x40 | 0x43 | 0x44);
            let (shared, writes) = (op >> 28 & 3 == 1, roles.d() != NO_REG);
            let last = |k: usize, name: u8| ctl >> (20 + k) & 1 == 1 && name != NO_REG;
            #[given(super::rfc_of(&self.shape).is_some())]
            {
                point!("a last read of source a", last(0, roles.a()));
                point!("a last read of source b", last(1, roles.b()));
                point!("a last read of source c", last(2, roles.c()));
                point!("an operation with a long latency", load && !shared && writes);
                point!("a load from shared memory", load && shared && writes);
                point!("a load without a register", load && !shared && !writes);
                point!("a result with the bypass bit", ctl >> 26 & 1 == 1 && writes);
                point!("a result with the LRF's bypass bit", ctl >> 25 & 1 == 1 && writes);
                point!("an ALU's instruction", roles.unit() == unit::ALU);
                point!("a single precision instruction", roles.unit() == unit::FP);
                point!("another unit's instruction", !matches!(roles.unit(), unit::ALU | unit::FP));
            }
        }
    }
}
