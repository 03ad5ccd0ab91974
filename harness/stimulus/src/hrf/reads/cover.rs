//! Situations of `hrf_reads`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::hrf::{HRF_READS_EVENT, HrfReadsIn, HrfReadsOut, HrfReadsProbe, HrfShape, PARITIES};

use crate::Cover;
use crate::cover::part;

pub(crate) struct ReadsCover {
    shape: HrfShape,
}

impl Cover for ReadsCover {
    type In = HrfReadsIn;
    type Out = HrfReadsOut;
    type Probe = HrfReadsProbe;

    fn points(_: &HrfShape) -> Vec<&'static str> {
        vec![
            "nobody wants a register",
            "several want registers, the oldest is not the lowest",
            "an older one wants nothing any more",
            "one, wholly in the buffer",
            "two, wholly in the buffer",
            "three, wholly in the buffer",
            "from buffer and bank at once",
            "one partly in the buffer",
            "one in the buffer without a lane of the instruction",
            "one not in the buffer",
            "an instruction without lanes hits",
            "an instruction without lanes misses",
            "two not in the buffer: the second waits",
            "three not in the buffer",
            "the lowest is in the buffer, the next one is not",
            "even bank",
            "odd bank",
            "the bank is busy",
            "a write waits for the bank",
            "a write waits for the other bank only",
            "the other bank is busy",
            "wholly in the buffer, the bank is busy",
            "frozen",
            "frozen, wholly in the buffer",
            "frozen, a read is under way",
            "a read of latency 1",
            "a read of latency 2",
            "a read of latency 3",
            "a read of latency 4",
            "a read is under way, others wait",
            "a read is under way, others wait that are in the buffer",
            "a read is granted at its end",
            "one for source 2 is granted at its end",
            "what is read has come into the buffer meanwhile",
            "sources 0 and 1 the same",
            "sources 0 and 2 the same",
            "sources 1 and 2 the same",
            "all sources the same",
            "registers that differ in one bit",
            "a source that is no register has the name of one that is",
            "entries begin anew",
            "reset under load",
            "reset while a read is under way",
        ]
    }

    fn new(shape: &HrfShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &HrfReadsIn, o: &HrfReadsOut, p: &HrfReadsProbe, hit: &mut dyn FnMut(&'static str)) {
        let reset = i.rst_ni == 0;
        let wants = |c: usize| (i.req_valid_i >> (OPERANDS * c)) as u8 & 7;
        let collectors = 0..self.shape.mrf.collectors;
        let wanting = collectors.clone().filter(|&c| wants(c) != 0).fold(0u16, |set, c| set | 1 << c);
        let chosen = collectors.clone().find(|&c| wants(c) != 0 && i.older_i[c] & wanting == 0);
        let Some(c) = chosen else {
            hit("nobody wants a register");
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
        let points = [
            ("several want registers, the oldest is not the lowest", wanting.trailing_zeros() as usize != c),
            ("an older one wants nothing any more", older),
            ("one, wholly in the buffer", hits == 1),
            ("two, wholly in the buffer", hits == 2),
            ("three, wholly in the buffer", hits == 3),
            ("from buffer and bank at once", hits != 0 && begins),
            ("one partly in the buffer", event("partial") != 0),
            (
                "one in the buffer without a lane of the instruction",
                misses != 0 && grant & i.hit_i & !whole & !some != 0,
            ),
            ("one not in the buffer", misses != 0 && grant & !i.hit_i != 0),
            ("an instruction without lanes hits", mask == 0 && hits != 0),
            ("an instruction without lanes misses", mask == 0 && misses != 0),
            ("two not in the buffer: the second waits", begins && others.count_ones() == 2),
            ("three not in the buffer", begins && others == 7),
            ("the lowest is in the buffer, the next one is not", begins && at(wanted & whole, 0) && at(others, 1)),
            ("even bank", begins && bank == 0),
            ("odd bank", begins && bank == 1),
            ("the bank is busy", stalled && !ready && !offered),
            ("a write waits for the bank", stalled && ready && offered),
            ("a write waits for the other bank only", begins && i.write_valid_i != 0),
            ("the other bank is busy", begins && !at(i.read_ready_i, 1 - bank)),
            ("wholly in the buffer, the bank is busy", hits != 0 && !ready),
            ("frozen", frozen && others != 0 && ready && !offered),
            ("frozen, wholly in the buffer", frozen && wanted & whole != 0),
            ("frozen, a read is under way", under_way && i.frozen_i == 1),
            ("a read of latency 1", begins && i.cfg_i == 0),
            ("a read of latency 2", begins && i.cfg_i == 1),
            ("a read of latency 3", begins && i.cfg_i == 2),
            ("a read of latency 4", begins && i.cfg_i == 3),
            ("a read is under way, others wait", under_way && event("conflict_intra") != 0),
            ("a read is under way, others wait that are in the buffer", under_way && wanted & whole & !grant != 0),
            ("a read is granted at its end", ends),
            ("one for source 2 is granted at its end", ends && served == 2),
            ("what is read has come into the buffer meanwhile", ends && at(whole, served)),
            ("sources 0 and 1 the same", same(0, 1) && !all),
            ("sources 0 and 2 the same", same(0, 2) && !all),
            ("sources 1 and 2 the same", same(1, 2) && !all),
            ("all sources the same", all),
            ("registers that differ in one bit", alike(0, 1) || alike(1, 2)),
            ("a source that is no register has the name of one that is", stray(0, 1) || stray(1, 2)),
            ("entries begin anew", begins && entry >= self.shape.mrf.depth),
            ("reset under load", reset && wanting.count_ones() > 1),
            ("reset while a read is under way", reset && under_way),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
