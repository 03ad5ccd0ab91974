//! The stealing paper's worked examples.

use gpurf_blocks::issue::WarpSchedulerIn;
use gpurf_blocks::steal::StealIn;
use gpurf_blocks::{OPERANDS, WarpData};

use super::{Directed, Script, Write};

/// Of `steal`, with two issue ports.
pub(super) const FILE: &[Directed] = &[
    Directed {
        name: "figure-6",
        summary: "an operand is read in the cycle in which its warp issues, and a conflict is gone (stealing paper, figure 6)",
        write: Write::Steal(figure_6),
    },
    Directed {
        name: "figure-6-aborted",
        summary: "its bank is not idle in that cycle, and all is as without stealing (stealing paper, IV-B1)",
        write: Write::Steal(figure_6_aborted),
    },
];

/// Of `warp_scheduler`.
pub(super) const SCHEDULER: &[Directed] = &[
    Directed {
        name: "greedy",
        summary: "two warps of two instructions each: Wa Wa Wb Wb (stealing paper, IV-B3)",
        write: Write::WarpScheduler(greedy),
    },
    Directed {
        name: "greedy-stolen",
        summary: "an operand of the other one is read each time: Wa Wb Wa Wb (stealing paper, IV-B3)",
        write: Write::WarpScheduler(greedy_stolen),
    },
];

/// The warps of figure 6.
const A: u8 = 0;
const B: u8 = 1;
const C: u8 = 2;
const D: u8 = 3;

fn figure_6(s: &mut Script<StealIn>) {
    figure(s, 0);
}

fn figure_6_aborted(s: &mut Script<StealIn>) {
    figure(s, 2);
}

/// Wa and Wb issue while Wc and Wd are named; then these issue, whose operands are in bank 2. Wa's operand is in `bank`.
fn figure(s: &mut Script<StealIn>, bank: usize) {
    for (warp, value) in [(C, 0xc), (D, 0xd)] {
        s.write(warp, 2, value);
        s.step();
        s.wait(2);
    }
    s.issue(0, A, bank);
    s.issue(1, B, 1);
    s.name(0, C, 2);
    s.name(1, D, 2);
    s.step();
    s.issue(0, C, 2);
    s.issue(1, D, 2);
    s.step();
}

impl Script<StealIn> {
    /// The register of a warp that is in this bank, in its first row.
    fn register(&self, warp: u8, bank: usize) -> u8 {
        ((bank + self.shape.banks - usize::from(warp) % self.shape.banks) % self.shape.banks) as u8
    }

    /// Offers an instruction of one operand; its tag is the warp.
    fn issue(&mut self, port: usize, warp: u8, bank: usize) {
        let register = self.register(warp, bank);
        let now = &mut self.now;
        now.issue_valid_i |= 1 << port;
        (now.issue_warp_i[port], now.issue_base_i[port]) = (warp, warp.into());
        (now.issue_mask_i[port], now.issue_tag_i[port]) = (u32::MAX, warp.into());
        now.issue_src_valid_i |= 1 << (OPERANDS * port);
        now.issue_src_reg_i[OPERANDS * port] = register;
    }

    /// Names a candidate with such an instruction.
    fn name(&mut self, port: usize, warp: u8, bank: usize) {
        let register = self.register(warp, bank);
        let now = &mut self.now;
        now.candidate_valid_i |= 1 << port;
        (now.candidate_warp_i[port], now.candidate_base_i[port]) = (warp, warp.into());
        now.candidate_src_valid_i |= 1 << (OPERANDS * port);
        now.candidate_src_reg_i[OPERANDS * port] = register;
    }

    /// Offers a result on bus 0.
    fn write(&mut self, warp: u8, bank: usize, value: u32) {
        let register = self.register(warp, bank);
        let now = &mut self.now;
        now.write_valid_i = 1;
        (now.write_warp_i[0], now.write_base_i[0], now.write_reg_i[0]) = (warp, warp.into(), register);
        (now.write_mask_i[0], now.write_data_i[0]) = (u32::MAX, WarpData([value; 32]));
    }
}

fn greedy(s: &mut Script<WarpSchedulerIn>) {
    for clear in [0b11, 0b11, 0b10, 0b10] {
        s.offer(clear, false);
    }
}

fn greedy_stolen(s: &mut Script<WarpSchedulerIn>) {
    for (cycle, clear) in [0b11, 0b11, 0b11, 0b10].into_iter().enumerate() {
        s.offer(clear, cycle > 0);
    }
}

impl Script<WarpSchedulerIn> {
    /// A cycle in which these of Wa and Wb, neighbours at port 0, may issue.
    fn offer(&mut self, clear: u64, stolen: bool) {
        let (a, b) = (clear & 1, clear >> 1 & 1);
        self.now.clear_i = a | b << self.shape.issue_ports;
        (self.now.operand_i, self.now.ready_i) = (self.now.clear_i, 0b01);
        (self.now.alive_i, self.now.candidate_issue_i) = (1 | 1 << self.shape.issue_ports, stolen.into());
        self.step();
    }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::{Config, Start};
    use gpurf_blocks::issue::{WarpScheduler, WarpSchedulerOut};
    use gpurf_blocks::steal::{Steal, StealOut};
    use gpurf_blocks::{Block, Ports, Shape, view};
    use gpurf_lockstep::Records;

    use super::{C, D};
    use crate::directed::sequence;

    /// The outputs of a twin in each cycle.
    fn outputs<T: Block<Out: Copy>>(config: &Config, inputs: &Records) -> Vec<T::Out> {
        let mut twin = T::new(&Shape::of(config));
        let mut out = T::Out::zeroed();
        let cycle = |n: usize| {
            let inputs: &T::In = view(inputs.get(n));
            twin.early(&mut out);
            twin.late(inputs, &mut out);
            twin.clock(inputs, &out);
            out
        };
        (0..inputs.len()).map(cycle).collect()
    }

    /// The cycles in which Wc and Wd have their operands, from that in which Wa and Wb issue, and those of the thefts.
    fn figure(name: &str, set: &[&str]) -> ([usize; 2], Vec<usize>) {
        let config = Config::load(Start::Preset("steal-8"), set).unwrap();
        let inputs = sequence("steal", name, &config).unwrap();
        let issue = |n: &usize| view::<gpurf_blocks::steal::StealIn>(inputs.get(*n)).issue_valid_i == 3;
        let from = (0..inputs.len()).find(issue).unwrap();
        let out: Vec<StealOut> = outputs::<Steal>(&config, &inputs);
        let leaves = |warp: u8| {
            let of = |o: &StealOut| {
                (0..2).find(|&p| o.dispatch_valid_o >> p & 1 == 1 && o.dispatch_warp_o[p] == warp).map(|p| {
                    assert_eq!(o.dispatch_data_o[3 * p].0, [u32::from(warp) + 0xa; 32]);
                })
            };
            out.iter().position(|o| of(o).is_some()).unwrap() - from
        };
        let thefts = (0..out.len()).filter(|&n| out[n].steal_o != 0).map(|n| n - from).collect();
        ([leaves(C), leaves(D)], thefts)
    }

    #[test]
    fn figure_6_of_the_stealing_paper() {
        // Without stealing one of the two waits a cycle; the operand that is read early is Wd's. Before cycle 4 the dispatch ports are Wa's and Wb's.
        assert_eq!(figure("figure-6", &["steal.read=false"]), ([4, 5], vec![]));
        assert_eq!(figure("figure-6", &[]), ([4, 4], vec![1]));
        assert_eq!(figure("figure-6-aborted", &[]), ([4, 5], vec![]));
    }

    #[test]
    fn greedy_wa_wa_wb_wb_becomes_wa_wb_wa_wb() {
        let config = Config::load(Start::Preset("steal-8"), &["sm.scheduler=greedy_then_oldest"]).unwrap();
        let b = config.mrf.issue_ports as u8;
        for (name, expected) in [("greedy", [0, 0, b, b]), ("greedy-stolen", [0, b, 0, b])] {
            let inputs = sequence("warp_scheduler", name, &config).unwrap();
            let out: Vec<WarpSchedulerOut> = outputs::<WarpScheduler>(&config, &inputs);
            let issued: Vec<u8> = out.iter().filter(|o| o.issue_valid_o & 1 == 1).map(|o| o.issue_warp_o[0]).collect();
            assert_eq!(issued, expected, "{name}");
        }
    }
}
