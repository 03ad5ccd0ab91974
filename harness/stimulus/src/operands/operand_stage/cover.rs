//! Situations of `operand_stage`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::operands::{OperandStageIn, OperandStageOut, OperandStageProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::share::RegisterLayout;

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
        let sources = |p: usize| {
            let roles = i.issue_instruction_i[p].roles();
            roles.sources().map(|name| name != NO_REG)
        };
        let issues = |pattern: [bool; OPERANDS]| ports(taken).any(|p| sources(p) == pattern);
        let first_row = |p: usize| usize::from(i.issue_warp_i[p]) * usize::from(i.rows_i);
        let lowest_busy = busy.trailing_zeros() as u8;
        point!("issue stalls", i.issue_valid_i & !o.issue_ready_o != 0);
        point!("dispatch stalls", o.dispatch_valid_o & !i.dispatch_ready_i != 0);
        point!("all places are busy", busy.count_ones() as usize == shape.tags());
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
            "rows begin anew after the last",
            ports(taken).any(|p| first_row(p) >= shape.mrf.depth),
            given = !self.shape.unified()
        );
        #[given(self.shape.places())]
        {
            let layout = RegisterLayout(i.layout_i);
            let guests = || ports(taken).filter(|&p| i.issue_warp_i[p] >= layout.host_warps());
            let names =
                |p: usize| i.issue_instruction_i[p].roles().sources().into_iter().filter(|&name| name != NO_REG);
            let private = |name: u8| name < layout.private_registers();
            point!("a source is private to a guest", guests().any(|p| names(p).any(private)));
            point!("a source is in the shared part of a guest", guests().any(|p| names(p).any(|name| !private(name))));
        }
        point!("a warp's rows do not begin at 0", ports(taken).any(|p| nets.issue_base[p] != 0));
        #[given(self.shape.services().has_conflicts)]
        {
            point!("write refused", i.write_valid_i & !o.write_ready_o != 0);
            point!("a result is held by an older read", o.event_o >> 6 & 3 != 0);
            point!("reads meet at a bank", o.event_o >> 16 & 0xfff != 0);
        }
        point!("an instruction in reset", i.rst_ni == 0 && taken != 0);
        point!(
            "reset under load",
            i.rst_ni == 0 && busy != 0 && shape.organisation.banks(&p.provider).is_some_and(|banks| banks.heads != 0),
            given = self.shape.organisation.design().contains("mrf_bank")
        );
        point!("a slot is empty at once", i.flush_i & i.slot_valid_i != 0);
        point!("slots without a cache", i.slot_valid_i != 0 && taken != 0);
        #[given(self.shape.ports() == 2)]
        {
            point!("two instructions taken", taken == 0b11);
            point!("port 1 takes its place alone", i.issue_valid_i == 0b10 && taken == 0b10);
            point!("only port 0 finds a place", i.issue_valid_i == 0b11 && taken == 0b01);
            point!("two dispatched", left == 0b11);
            point!("only port 1's is dispatched", left == 0b10);
        }
    }
}
