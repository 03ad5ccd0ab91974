//! Situations of `hrf_reads`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HRF_READS_EVENT, HrfReadsIn, HrfReadsOut, HrfReadsProbe, HrfShape, PARITIES};

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct ReadsCover {
    shape: HrfShape,
}

#[cover]
impl ReadsCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &HrfReadsIn, o: &HrfReadsOut, p: &HrfReadsProbe, points: &mut Points) {
        let reset = i.rst_ni == 0;
        let wants = |c: usize| (i.req_valid_i >> (OPERANDS * c)) as u8 & 7;
        let collectors = 0..self.shape.mrf.collectors;
        let wanting = collectors.clone().filter(|&c| wants(c) != 0).fold(0u16, |set, c| set | 1 << c);
        let chosen = collectors.clone().find(|&c| wants(c) != 0 && i.older_i[c] & wanting == 0);
        let Some(c) = chosen else {
            point!("no operand wants a register", true);
            return;
        };
        let (wanted, mask) = (wants(c), i.col_mask_i[c]);
        let (sources, grant) = ((i.src_valid_i >> (OPERANDS * c)) as u8 & 7, (o.grant_o >> (OPERANDS * c)) as u8 & 7);
        let set = |of: &dyn Fn(usize) -> bool| (0..OPERANDS).fold(0u8, |set, k| set | u8::from(of(k)) << k);
        let at = |set: u8, k: usize| set >> k & 1 == 1;
        let whole = set(&|k| at(i.hit_i, k) && mask & !i.lanes_i[k] == 0);
        let some = set(&|k| at(i.hit_i, k) && mask & i.lanes_i[k] != 0);
        let others = wanted & !whole;
        let under_way = p.left_q != 0;
        let begins = o.stt_valid_o != 0;
        let bank = usize::from(i.col_warp_i[c]) % PARITIES;
        let frozen = i.frozen_i == 1 && !under_way;
        let event = |name: &str| part(HRF_READS_EVENT, o.event_o, name);
        let hits = event("hit");
        let stalled = !under_way && !frozen && others != 0 && !begins;
        let (ready, offered) = (at(i.read_ready_i, bank), at(i.write_valid_i, bank));
        let ends = p.left_q == 1 && grant != 0;
        let name = |k: usize| i.req_reg_i[OPERANDS * c + k];
        let both = |a: usize, b: usize| at(sources, a) && at(sources, b);
        let same = |a: usize, b: usize| both(a, b) && name(a) == name(b);
        let all = same(0, 1) && same(1, 2);
        let alike = |a: usize, b: usize| both(a, b) && (name(a) ^ name(b)).count_ones() == 1;
        let stray = |a: usize, b: usize| at(sources, a) != at(sources, b) && name(a) == name(b);
        let misses = event("miss");
        let served = usize::from(p.source_q);
        let lowest = others.trailing_zeros() as usize;
        let older = collectors.clone().any(|d| i.older_i[c] >> d & 1 == 1);
        let entry = usize::from(i.col_base_i[c]) + usize::from(name(lowest.min(OPERANDS - 1)));
        point!("several want registers, the oldest is not the lowest", wanting.trailing_zeros() as usize != c);
        point!("an older one wants nothing any more", older);
        point!("one, wholly in the buffer", hits == 1);
        point!("two, wholly in the buffer", hits == 2);
        point!("three, wholly in the buffer", hits == 3);
        point!("from buffer and bank at once", hits != 0 && begins);
        point!("one partly in the buffer", event("partial") != 0);
        point!(
            "one in the buffer without a lane of the instruction",
            misses != 0 && grant & i.hit_i & !whole & !some != 0
        );
        point!("one not in the buffer", misses != 0 && grant & !i.hit_i != 0);
        point!("an instruction without lanes hits", mask == 0 && hits != 0);
        point!("an instruction without lanes misses", mask == 0 && misses != 0);
        point!("two not in the buffer: the second waits", begins && others.count_ones() == 2);
        point!("three not in the buffer", begins && others == 7);
        point!("the lowest is in the buffer, the next one is not", begins && at(wanted & whole, 0) && at(others, 1));
        point!("even bank", begins && bank == 0);
        point!("odd bank", begins && bank == 1);
        point!("the bank is busy", stalled && !ready && !offered);
        point!("a write waits for the bank", stalled && ready && offered);
        point!("a write waits for the other bank only", begins && i.write_valid_i != 0);
        point!("the other bank is busy", begins && !at(i.read_ready_i, 1 - bank));
        point!("wholly in the buffer, the bank is busy", hits != 0 && !ready);
        point!("frozen", frozen && others != 0 && ready && !offered);
        point!("frozen, wholly in the buffer", frozen && wanted & whole != 0);
        point!("frozen, a read is under way", under_way && i.frozen_i == 1);
        point!("a read of latency 1", begins && i.cfg_i == 0);
        point!("a read of latency 2", begins && i.cfg_i == 1);
        point!("a read of latency 3", begins && i.cfg_i == 2);
        point!("a read of latency 4", begins && i.cfg_i == 3);
        point!("a read is under way, others wait", under_way && event("conflict_intra") != 0);
        point!("a read is under way, others wait that are in the buffer", under_way && wanted & whole & !grant != 0);
        point!("a read is granted at its end", ends);
        point!("one for source 2 is granted at its end", ends && served == 2);
        point!("what is read has come into the buffer meanwhile", ends && at(whole, served));
        point!("sources 0 and 1 the same", same(0, 1) && !all);
        point!("sources 0 and 2 the same", same(0, 2) && !all);
        point!("sources 1 and 2 the same", same(1, 2) && !all);
        point!("all sources the same", all);
        point!("registers that differ in one bit", alike(0, 1) || alike(1, 2));
        point!("a source that is no register has the name of one that is", stray(0, 1) || stray(1, 2));
        point!("entries begin anew", begins && entry >= self.shape.mrf.depth);
        point!("reset under load", reset && wanting.count_ones() > 1);
        point!("reset while a read is under way", reset && under_way);
    }
}
