//! `mrf`, the whole register file.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_BANKS, MrfIn, MrfOut, MrfProbe, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Names, RESET, Reset, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct MrfDriver {
    shape: MrfShape,
    straps: u8,
    reset: Reset,
    /// Warps and registers on which accesses collide.
    warps: Names,
    registers: Names,
}

/// Warps that an SM has at most: every one has room for its registers while they last.
const WARPS: usize = 48;
/// Names of registers.
const REGISTERS: u64 = 256;

const ISSUE: usize = 0;
const WRITE: usize = 1;
const READY: usize = 2;
const SOURCE: usize = 3;
const SAME: usize = 4;
const NEAR: usize = 5;
const PARTIAL: usize = 6;

impl Driver for MrfDriver {
    type In = MrfIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "issue", doc: "an instruction is offered", values: &[100, 500, 950] },
        Knob { name: "write", doc: "a result is offered", values: &[50, 400, 950] },
        Knob { name: "ready", doc: "a unit takes what is offered", values: &[100, 900, 1000] },
        Knob { name: "source", doc: "a source is a register", values: &[300, 700, 1000] },
        Knob { name: "same", doc: "a source is the register of another one", values: &[0, 300] },
        Knob {
            name: "near",
            doc: "warp and register are among a few, so that accesses collide",
            values: &[0, 500, 1000],
        },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        RESET,
    ];

    fn new(shape: &MrfShape, config: &Config) -> Self {
        let (warps, registers) = (Names::new(2, WARPS as u64), Names::new(6, REGISTERS));
        Self { shape: *shape, straps: config.straps(), reset: Reset::default(), warps, registers }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut MrfIn) {
        let shape = self.shape;
        inputs.rst_ni = self.reset.next(rng, knobs.get(7));
        inputs.cfg_i = self.straps;
        inputs.issue_valid_i = ports(rng, shape.issue_ports, knobs.get(ISSUE));
        inputs.write_valid_i = ports(rng, shape.issue_ports, knobs.get(WRITE));
        inputs.dispatch_ready_i = ports(rng, shape.issue_ports, knobs.get(READY));
        inputs.issue_src_valid_i = 0;
        self.warps.renew(rng);
        self.registers.renew(rng);
        for port in 0..shape.issue_ports {
            if inputs.issue_valid_i >> port & 1 == 1 {
                let (warp, base, near) = self.place(rng, knobs);
                inputs.issue_warp_i[port] = warp;
                inputs.issue_base_i[port] = base;
                inputs.issue_mask_i[port] = lane_mask(rng, knobs.get(PARTIAL));
                inputs.issue_tag_i[port] = rng.next_u64() & (u64::MAX >> (64 - shape.tag_w));
                let sources = rng.mask(OPERANDS as u32, knobs.get(SOURCE)) as u8;
                inputs.issue_src_valid_i |= sources << (OPERANDS * port);
                for source in 0..OPERANDS {
                    let register = if source > 0 && rng.chance(knobs.get(SAME)) {
                        inputs.issue_src_reg_i[OPERANDS * port + rng.below(source as u64) as usize]
                    } else {
                        self.register(rng, near)
                    };
                    inputs.issue_src_reg_i[OPERANDS * port + source] = register;
                }
            }
            if inputs.write_valid_i >> port & 1 == 1 {
                let (warp, base, near) = self.place(rng, knobs);
                inputs.write_warp_i[port] = warp;
                inputs.write_base_i[port] = base;
                inputs.write_reg_i[port] = self.register(rng, near);
                inputs.write_mask_i[port] = lane_mask(rng, knobs.get(PARTIAL));
                rng.fill(&mut inputs.write_data_i[port].0);
            }
        }
    }
}

impl MrfDriver {
    /// A warp, its first row, and whether it and its register are among a few.
    fn place(&self, rng: &mut Rng, knobs: &Knobs) -> (u8, u16, bool) {
        let near = rng.chance(knobs.get(NEAR));
        let warp = if near { self.warps.draw(rng) } else { rng.below(WARPS as u64) };
        // Rows are handed out in order.
        (warp as u8, (warp as usize * self.shape.depth / WARPS) as u16, near)
    }

    fn register(&self, rng: &mut Rng, near: bool) -> u8 {
        (if near { self.registers.draw(rng) } else { rng.below(REGISTERS) }) as u8
    }
}

pub(crate) struct MrfCover {
    shape: MrfShape,
    /// Entry that each bank wrote in the cycle before.
    last_write: [Option<u16>; MAX_BANKS],
}

impl Cover for MrfCover {
    type In = MrfIn;
    type Out = MrfOut;
    type Probe = MrfProbe;

    fn points(shape: &MrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "issue stalls",
            "dispatch stalls",
            "write refused",
            "write held by an older read (hazard 9)",
            "conflict inside an instruction",
            "conflict between instructions",
            "one read fills several slots",
            "all collectors busy",
            "complete but behind its warp's older instruction",
            "instruction without register sources",
            "partial write",
            "reset under load",
            "read of what was written in the cycle before",
        ];
        if shape.dual_port {
            points.push("read and write in one bank");
        } else {
            points.push("read waits for a write");
        }
        if shape.issue_ports == 2 {
            points.extend(["two instructions taken", "two dispatched", "writes meet at a bank"]);
        }
        points
    }

    fn new(shape: &MrfShape) -> Self {
        Self { shape: *shape, last_write: [None; MAX_BANKS] }
    }

    fn observe(&mut self, i: &MrfIn, o: &MrfOut, p: &MrfProbe, hit: &mut dyn FnMut(&'static str)) {
        let shape = &self.shape;
        let event = |position: u32, bits: u32| o.event_o >> position & ((1 << bits) - 1);
        let written = |bank: usize| p.bank_write_valid >> bank & 1 == 1;
        let taken = i.issue_valid_i & o.issue_ready_o;
        let sourceless =
            (0..shape.issue_ports).any(|q| taken >> q & 1 == 1 && i.issue_src_valid_i >> (OPERANDS * q) & 7 == 0);
        let partial = (0..shape.issue_ports).any(|q| p.write_grant >> q & 1 == 1 && p.head_mask[q] != u32::MAX);
        let behind = (0..shape.collectors).any(|c| p.complete >> c & 1 == 1 && p.same_warp_q[c] != 0);
        // Fields of the event word, from the least significant end.
        let (dispatch_stall, dispatch, issue_stall, held, conflict_write) =
            (event(0, 2), event(2, 2), event(4, 2), event(6, 2), event(8, 2));
        let (read_write, inter, intra) = (event(10, 6), event(16, 6), event(22, 6));
        let points = [
            ("issue stalls", issue_stall > 0),
            ("dispatch stalls", dispatch_stall > 0),
            ("write refused", i.write_valid_i & !o.write_ready_o != 0),
            ("write held by an older read (hazard 9)", held > 0),
            ("conflict inside an instruction", intra > 0),
            ("conflict between instructions", inter > 0),
            ("one read fills several slots", p.fill.count_ones() > p.grant.count_ones()),
            ("all collectors busy", p.busy.count_ones() as usize == shape.collectors),
            ("complete but behind its warp's older instruction", behind),
            ("instruction without register sources", sourceless),
            ("partial write", partial),
            ("reset under load", i.rst_ni == 0 && p.busy != 0 && p.head_valid != 0),
            (
                "read of what was written in the cycle before",
                (0..shape.banks).any(|b| p.read_valid >> b & 1 == 1 && self.last_write[b] == Some(p.read_entry[b])),
            ),
            ("read and write in one bank", shape.dual_port && p.read_valid & p.bank_write_valid != 0),
            ("read waits for a write", read_write > 0),
            ("two instructions taken", taken == 3),
            ("two dispatched", dispatch == 2),
            ("writes meet at a bank", conflict_write > 0),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        for bank in 0..shape.banks {
            self.last_write[bank] = written(bank).then(|| p.bank_write_entry[bank]);
        }
    }
}
