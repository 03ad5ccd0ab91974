//! `mrf`, the whole register file.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_BANKS, Mrf, MrfIn, MrfOut, MrfProbe, MrfShape};
use gpurf_blocks::share::RegisterLayout;
use gpurf_blocks::unified::{ColumnsIn, ColumnsOut};
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, any_layout, any_write, lane_mask, ports};
use crate::surroundings::base_among;
use crate::unified::{Columns, ColumnsKnobs, ColumnsOf, WithColumns, register_in};
use crate::{Coverage, Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { directed: crate::directed::MRF, coverage, ..crate::entry::<Mrf, MrfDriver, MrfCover>() };

fn coverage(config: &Config) -> Coverage {
    Coverage::new::<MrfCover>(config).and(Coverage::new::<ColumnsOf<Mrf>>(config))
}

impl WithColumns for Mrf {
    fn file(shape: &MrfShape) -> &MrfShape {
        shape
    }

    fn asked(inputs: &MrfIn) -> (&ColumnsIn, u8) {
        (&inputs.columns, inputs.rst_ni)
    }

    fn said(out: &MrfOut) -> &ColumnsOut {
        &out.columns
    }
}

pub(crate) struct MrfDriver {
    shape: MrfShape,
    straps: u8,
    reset: Reset,
    /// Warps and registers on which accesses collide.
    warps: Names,
    registers: Names,
    columns: Columns,
}

/// Most warps of an SM. The rows are divided among them.
const WARPS: usize = 48;
/// Names of registers.
const REGISTERS: u64 = 256;

knobs! {
    pub(crate) struct MrfKnobs {
        issue: "an instruction is offered" = [100, 500, 950],
        write: "a result is offered" = [50, 400, 950],
        ready: "a unit takes what is offered" = [100, 900, 1000],
        source: "a source is a register" = [300, 700, 1000],
        same: "a source is the register of another one" = [0, 300],
        near: "warp and register are among a few, so that accesses collide" = [0, 500, 1000],
        partial: "lanes are inactive" = [0, 300, 900],
        reset,
        ..columns: ColumnsKnobs,
    }
}

impl Driver for MrfDriver {
    type In = MrfIn;
    type Knobs = MrfKnobs;

    fn new(shape: &MrfShape, config: &Config) -> Self {
        let (warps, registers) = (Names::new(2, WARPS as u64), Names::new(6, REGISTERS));
        let (straps, columns) = (config.straps(), Columns::new(shape));
        Self { shape: *shape, straps, reset: Reset::default(), warps, registers, columns }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &MrfKnobs, inputs: &mut MrfIn) {
        let shape = self.shape;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.cfg_i = self.straps;
        // The layout does not change while something is in progress: if the file reads it, it changes only in reset.
        if rng.chance(4) {
            inputs.layout_i = any_layout(rng, shape.banks * shape.depth).0;
            inputs.rst_ni &= u8::from(!shape.places);
        }
        inputs.issue_valid_i = ports(rng, shape.issue_ports, knobs.issue);
        inputs.write_valid_i = ports(rng, shape.issue_ports, knobs.write);
        inputs.dispatch_ready_i = ports(rng, shape.issue_ports, knobs.ready);
        inputs.issue_src_valid_i = 0;
        self.warps.renew(rng);
        self.registers.renew(rng);
        self.columns.drive(rng, &knobs.columns, &mut inputs.columns);
        for port in 0..shape.issue_ports {
            if inputs.issue_valid_i >> port & 1 == 1 {
                let (warp, base, near) = self.place(rng, knobs);
                inputs.issue_warp_i[port] = warp;
                inputs.issue_base_i[port] = base;
                inputs.issue_mask_i[port] = lane_mask(rng, knobs.partial);
                inputs.issue_tag_i[port] = rng.next_u64() & (u64::MAX >> (64 - shape.tag_w));
                let sources = rng.mask(OPERANDS as u32, knobs.source) as u8;
                inputs.issue_src_valid_i |= sources << (OPERANDS * port);
                for source in 0..OPERANDS {
                    let register = if source > 0 && rng.chance(knobs.same) {
                        inputs.issue_src_reg_i[OPERANDS * port + rng.below(source as u64) as usize]
                    } else {
                        self.register(rng, near, base)
                    };
                    inputs.issue_src_reg_i[OPERANDS * port + source] = register;
                }
            }
            if inputs.write_valid_i >> port & 1 == 1 {
                let (warp, base, near) = self.place(rng, knobs);
                let register = self.register(rng, near, base);
                inputs.write_i[port] = any_write(rng, knobs.partial, warp, register);
                inputs.write_base_i[port] = base;
                rng.fill(&mut inputs.write_data_i[port].0);
            }
        }
    }
}

impl MrfDriver {
    /// A warp, its first row, and whether it and its register are among a few.
    fn place(&self, rng: &mut Rng, knobs: &MrfKnobs) -> (u8, u16, bool) {
        let near = rng.chance(knobs.near);
        let warp = if near { self.warps.draw(rng) } else { rng.below(WARPS as u64) };
        // Rows are allocated in order.
        let base = match self.shape.unified {
            true => base_among(warp as usize, self.shape.depth),
            false => warp as usize * self.shape.depth / WARPS,
        };
        (warp as u8, base as u16, near)
    }

    /// A register of a warp whose rows begin at `base`.
    fn register(&self, rng: &mut Rng, near: bool, base: u16) -> u8 {
        let register = if near { self.registers.draw(rng) } else { rng.below(REGISTERS) };
        register_in(&self.shape, base, register as u8)
    }
}

pub(crate) struct MrfCover {
    shape: MrfShape,
    /// Entry that each bank wrote in the cycle before.
    last_write: [Option<u16>; MAX_BANKS],
    /// The layout of the cycle before.
    layout: u64,
}

/// Sources of an issue port that are registers.
fn sources_of(i: &MrfIn, port: usize) -> u8 {
    i.issue_src_valid_i >> (OPERANDS * port) & 7
}

/// Whether a source of an instruction of these ports is private to a guest, and whether one is in the shared part of a guest.
fn guests_sources(i: &MrfIn, ports: u8, layout: RegisterLayout) -> [bool; 2] {
    let mut found = [false; 2];
    for source in (0..OPERANDS * 2).filter(|source| i.issue_src_valid_i >> source & 1 == 1) {
        let port = source / OPERANDS;
        if ports >> port & 1 == 1 && i.issue_warp_i[port] >= layout.host_warps() {
            found[usize::from(i.issue_src_reg_i[source] >= layout.private_registers())] = true;
        }
    }
    found
}

#[cover]
impl MrfCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, last_write: [None; MAX_BANKS], layout: 0 }
    }

    fn observe(&mut self, i: &MrfIn, o: &MrfOut, p: &MrfProbe, points: &mut Points) {
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
        point!("issue stalls", issue_stall > 0);
        point!("dispatch stalls", dispatch_stall > 0);
        point!("write refused", i.write_valid_i & !o.write_ready_o != 0);
        point!("write held by an older read (hazard 9)", held > 0);
        point!("conflict inside an instruction", intra > 0);
        point!("conflict between instructions", inter > 0);
        point!("one read fills several slots", p.fill.count_ones() > p.grant.count_ones());
        point!("all collectors busy", p.busy.count_ones() as usize == shape.collectors);
        point!("complete, but its warp's older instruction is not", behind);
        point!("instruction without register sources", sourceless);
        point!("partial write", partial);
        point!("reset under load", i.rst_ni == 0 && p.busy != 0 && p.head_valid != 0);
        point!(
            "read of what was written in the cycle before",
            (0..shape.banks).any(|b| p.read_valid >> b & 1 == 1 && self.last_write[b] == Some(p.read_entry[b]))
        );
        point!(
            "read and write in one bank",
            shape.dual_port && p.read_valid & p.bank_write_valid != 0,
            given = self.shape.dual_port
        );
        #[given(self.shape.places)]
        {
            let layout = RegisterLayout(i.layout_i);
            let [private, shared] = guests_sources(i, taken, layout);
            let results = (0..shape.issue_ports).filter(|q| (i.write_valid_i & o.write_ready_o) >> q & 1 == 1);
            let own = |q: usize| i.write_i[q].warp() < layout.host_warps();
            let is_private = |q: usize| i.write_i[q].d() < layout.private_registers();
            let hosts = |q: usize| taken >> q & 1 == 1 && i.issue_warp_i[q] < layout.host_warps();
            point!("a source is private to a guest", private);
            point!("a source is in the shared part of a guest", shared);
            point!("a source is a host's", (0..shape.issue_ports).any(|q| hosts(q) && sources_of(i, q) != 0));
            point!("a result is private to a guest", results.clone().any(|q| !own(q) && is_private(q)));
            point!("a result goes to the shared part of a guest", results.clone().any(|q| !own(q) && !is_private(q)));
            point!("a result is a host's", results.clone().any(own));
            point!("the layout changes in reset under load", i.rst_ni == 0 && i.layout_i != self.layout && p.busy != 0);
        }
        self.layout = i.layout_i;
        point!("read waits for a write", read_write > 0, given = !self.shape.dual_port);
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two instructions taken", taken == 3);
            point!("two dispatched", dispatch == 2);
            point!("writes meet at a bank", conflict_write > 0);
        }

        for bank in 0..shape.banks {
            self.last_write[bank] = written(bank).then(|| p.bank_write_entry[bank]);
        }
    }
}
