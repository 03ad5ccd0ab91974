//! Follows the instructions in flight.

use std::io;
use std::sync::Arc;

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, PROBE, Roles, opcode, unit};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_isa::image::Kernel;
use gpurf_oracle::host::KernelLaunch;
use gpurf_oracle::{Geometry, lanes_of};

use super::flight::{Flight, Stage, Text};
use super::sink::Sink;
use super::waits::Seen;
use crate::commits::Owners;
use crate::cycle::Cycle;
use crate::fault::Place;
use crate::hang::pending;

/// Opcode of a shuffle, which the memory pipeline performs without memory.
const SHUFFLE: u8 = 0x13;

/// Follows every instruction from fetch to write.
pub struct Pipeline {
    ports: usize,
    /// Instructions in flight, by warp slot, in the order of fetch.
    warps: Vec<Vec<Flight>>,
    code: Option<Code>,
    owners: Option<Owners>,
    geometry: Geometry,
    next: u64,
    /// Slots whose instructions have steps that the sink may not have seen.
    touched: u64,
    /// Slots whose head issues in this cycle.
    issued: u64,
    /// Instructions are passed to the sink.
    open: bool,
    /// Number of instructions that the sink has seen.
    seen: u64,
    unknown: u64,
}

/// The kernel of a launch.
struct Code {
    kernel: Kernel,
    source: String,
    texts: Vec<Option<Arc<Text>>>,
}

impl Code {
    fn text(&mut self, pc: u32) -> Arc<Text> {
        let at = pc as usize;
        if at >= self.texts.len() {
            return Arc::new(Text {
                kernel: self.kernel.name.clone(),
                instruction: format!("({pc})"),
                ..Text::default()
            });
        }
        let Self { kernel, source, texts } = self;
        let text = texts[at].get_or_insert_with(|| {
            let place = Place::of(kernel, source, pc);
            let file = place.file.rsplit('/').next().unwrap_or_default();
            Arc::new(Text {
                kernel: kernel.name.clone(),
                instruction: place.instruction,
                ptx: (place.line > 0).then(|| format!("{file}:{}", place.line)),
                cuda: place.cuda,
            })
        });
        Arc::clone(text)
    }
}

impl Pipeline {
    /// Of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        Self {
            ports: config.sm_shape().ports(),
            warps: vec![Vec::new(); MAX_WARPS],
            code: None,
            owners: None,
            geometry: Geometry { grid: [1; 3], block: [1; 3], dynamic_shared: 0 },
            next: 0,
            touched: 0,
            issued: 0,
            open: false,
            seen: 0,
            unknown: 0,
        }
    }

    /// A launch begins.
    pub fn begin(&mut self, launch: &KernelLaunch<'_>) {
        let texts = vec![None; launch.kernel.code.len()];
        self.code = Some(Code { kernel: launch.kernel.clone(), source: launch.source.to_owned(), texts });
        self.owners = Some(Owners::new(launch.geometry));
        self.geometry = launch.geometry;
    }

    /// Whether instructions are passed to the sink.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Number of instructions that the sink has seen, and number of ends that belong to no instruction.
    pub fn counts(&self) -> (u64, u64) {
        (self.seen, self.unknown)
    }

    /// Starts to pass instructions to the sink, at once those in flight.
    pub fn open(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        self.open = true;
        let flights = || self.warps.iter().flatten();
        let mut shown: Vec<_> = flights()
            .flat_map(|flight| (0..flight.shown).map(move |step| (flight.steps[step].from, flight.id, step, flight)))
            .collect();
        shown.sort_by_key(|&(from, id, step, _)| (from, id, step));
        self.seen += flights().filter(|flight| flight.shown > 0 && !flight.probe).count() as u64;
        shown.into_iter().try_for_each(|(_, _, step, flight)| sink.enter(flight, step))
    }

    /// Ends the instructions in flight.
    pub fn cut(&mut self, now: u64, sink: &mut dyn Sink) -> io::Result<()> {
        for slot in 0..self.warps.len() {
            for flight in std::mem::take(&mut self.warps[slot]) {
                self.leave(flight, now, false, sink)?;
            }
        }
        Ok(())
    }

    /// Observes a cycle.
    pub fn observe(&mut self, now: u64, cycle: &Cycle<'_>, seen: &Seen, sink: &mut dyn Sink) -> io::Result<()> {
        if let Some(owners) = &mut self.owners {
            owners.observe(cycle);
        }
        self.barriers(now, cycle, sink)?;
        self.results(now, cycle, sink)?;
        self.accesses(now, cycle, sink)?;
        self.dispatches(now, cycle);
        self.issues(now, cycle, sink)?;
        self.heads(now, cycle, seen);
        self.fetches(now, cycle);
        self.show(now, sink)
    }

    /// Handles barriers that have opened.
    fn barriers(&mut self, now: u64, cycle: &Cycle<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let held = cycle.probe.outputs.barrier_unit.held_o;
        for slot in 0..self.warps.len() as u8 {
            if held >> slot & 1 == 0
                && let Some(index) =
                    self.find(slot, |flight| flight.has_issued() && flight.stage() == Some(Stage::Barrier))
            {
                self.end(slot, index, now, sink)?;
            }
        }
        Ok(())
    }

    /// Handles writes to the register file and to the predicates.
    fn results(&mut self, now: u64, cycle: &Cycle<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let o = &cycle.probe.outputs;
        let (back, stage) = (&o.writeback, &o.operand_stage);
        // This comes before new results: these writes belong to results that are complete.
        for bus in lanes_of((back.finish_valid_o & stage.write_done_o).into()) {
            let (slot, register) = stage.written_o[bus].register();
            let written = |flight: &Flight| flight.stage() == Some(Stage::Write) && flight.roles.d() == register;
            self.end_of(slot, written, now + 1, sink)?;
        }
        for bus in lanes_of((back.write_valid_o & stage.write_ready_o).into()) {
            let (slot, register) = back.write_o[bus].register();
            // A further part of the same result changes nothing.
            if let Some(index) = self.find(slot, |flight| flight.gives(register)) {
                self.enter(slot, index, Stage::Write, now);
            }
        }
        for bus in lanes_of(back.reg_valid_o.into()) {
            // If a register is free as soon as its result is taken, a younger instruction may produce it too before it is written.
            let (slot, register) = (back.reg_warp_o[bus], back.reg_o[bus]);
            if let Some(index) = self.find(slot, |flight| flight.gives(register)) {
                self.warps[usize::from(slot)][index].taken = true;
            }
        }
        for bus in lanes_of(back.pred_valid_o.into()) {
            let (slot, predicate) = (back.pred_warp_o[bus], back.pred_o[bus]);
            let gives = |flight: &Flight| flight.is_performed() && flight.roles.p() == predicate;
            if let Some(index) = self.find(slot, gives)
                && !has_register(&self.warps[usize::from(slot)][index])
            {
                self.enter(slot, index, Stage::Write, now);
            }
        }
        for bus in 0..self.ports {
            let finish = self.ports + bus;
            if back.finish_valid_o >> finish & 1 == 0 {
                continue;
            }
            let (first, last) = (bus == 0, bus + 1 == self.ports);
            let from = |set: u8| set >> bus & 1 == 1;
            let source = match () {
                () if from(back.alu_pop_o) => unit::ALU,
                () if from(back.fp_pop_o) => unit::FP,
                () if first && back.side_pop_o == 1 || last && back.memory_pop_o == 1 => unit::MEMORY,
                () if last && back.sfu_pop_o == 1 => unit::SFU,
                () => unit::CONSTANT,
            };
            let slot = back.finish_warp_o[finish];
            let ends =
                |flight: &Flight| flight.is_performed() && flight.roles.unit() == source && !has_register(flight);
            self.end_of(slot, ends, now + 1, sink)?;
        }
        Ok(())
    }

    /// Handles the memory pipeline.
    fn accesses(&mut self, now: u64, cycle: &Cycle<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let unit = &cycle.probe.outputs.address_unit;
        let in_access = |flight: &Flight| flight.stage() == Some(Stage::Access);
        if unit.finish_valid_o == 1 {
            return self.end_of(unit.finish_warp_o, in_access, now + 1, sink);
        }
        if unit.busy_o == 1
            && unit.last_o == 1
            && let Some(index) = self.find(unit.warp_o, in_access)
        {
            let op = self.warps[usize::from(unit.warp_o)][index].opcode;
            let next = if op == SHUFFLE { Stage::Execute } else { Stage::Memory };
            self.enter(unit.warp_o, index, next, now + 1);
        }
        Ok(())
    }

    /// Handles instructions that leave the operand stage, and those that it offers in vain.
    fn dispatches(&mut self, now: u64, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        let stage = &o.operand_stage;
        for port in lanes_of(stage.dispatch_valid_o.into()).filter(|&port| port < MAX_PORTS) {
            let (slot, pc) = (stage.dispatch_warp_o[port], stage.dispatch_instruction_o[port].pc());
            let offered =
                |flight: &Flight| matches!(flight.stage(), Some(Stage::Operands | Stage::Unit)) && flight.pc == pc;
            let Some(index) = self.find(slot, offered) else {
                self.unknown += 1;
                continue;
            };
            if o.dispatcher.dispatch_ready_o >> port & 1 == 0 {
                self.enter(slot, index, Stage::Unit, now);
                continue;
            }
            self.enter(slot, index, Stage::Dispatch, now);
            let next = match self.warps[usize::from(slot)][index].roles.unit() {
                unit::MEMORY => Stage::Access,
                unit::BARRIER => Stage::Barrier,
                _ => Stage::Execute,
            };
            self.enter(slot, index, next, now + 1);
        }
    }

    fn issues(&mut self, now: u64, cycle: &Cycle<'_>, sink: &mut dyn Sink) -> io::Result<()> {
        let o = &cycle.probe.outputs;
        self.issued = 0;
        for port in lanes_of(o.warp_scheduler.issue_valid_o.into()).filter(|&port| port < MAX_PORTS) {
            let (slot, issue) = (o.warp_scheduler.issue_warp_o[port], &o.issue_stage);
            let (instruction, mask) = (&issue.instruction_o[port], issue.exec_o[port]);
            let goes_on = issue.operand_valid_o >> port & 1 == 1;
            let Some(head) = self.find(slot, |flight| !flight.has_issued()) else {
                self.unknown += 1;
                continue;
            };
            let probe = opcode(instruction.op()) == PROBE;
            self.issued |= u64::from(!probe) << slot;
            let index = if probe { self.probe(slot, head, instruction.roles()) } else { head };
            self.enter(slot, index, Stage::Issue, now);
            let flight = &mut self.warps[usize::from(slot)][index];
            flight.mask = Some(mask);
            flight.opcode = opcode(instruction.op());
            if goes_on {
                self.enter(slot, index, Stage::Operands, now + 1);
            } else {
                self.end(slot, index, now + 1, sink)?;
            }
        }
        Ok(())
    }

    /// A head issues as a probe and remains the head.
    fn probe(&mut self, slot: u8, head: usize, roles: Roles) -> usize {
        let warp = &mut self.warps[usize::from(slot)];
        let instruction = warp[head].clone();
        let text =
            Text { instruction: format!("probe of {}", instruction.text.instruction), ..(*instruction.text).clone() };
        let steps = Vec::new();
        let id = self.next;
        warp.push(Flight { id, roles, text: Arc::new(text), probe: true, steps, shown: 0, ..instruction });
        self.next += 1;
        warp.len() - 1
    }

    /// Determines what the instructions in the buffers wait for.
    fn heads(&mut self, now: u64, cycle: &Cycle<'_>, seen: &Seen) {
        for slot in 0..self.warps.len() as u8 {
            // If an instruction issues in this cycle, the next instruction becomes the head from the next cycle on.
            let mut buffered = usize::from(self.issued >> slot & 1 == 1);
            for index in 0..self.warps[usize::from(slot)].len() {
                let flight = &self.warps[usize::from(slot)][index];
                // An instruction that is decoded in one cycle is in the buffer from the next cycle on.
                if flight.has_issued() {
                    continue;
                }
                buffered += 1;
                let stage = if buffered == 1 { seen.of_head(slot) } else { Stage::Older };
                if flight.stage() == Some(stage) {
                    continue;
                }
                let detail = (stage == Stage::Scoreboard).then(|| self.pending(slot, flight.roles, cycle));
                let flight = &mut self.warps[usize::from(slot)][index];
                flight.enter(stage, now, || detail);
                self.touched |= 1 << slot;
            }
        }
    }

    /// What an instruction waits for: registers and predicates, and the instructions that produce them.
    fn pending(&self, slot: u8, roles: Roles, cycle: &Cycle<'_>) -> String {
        let giver = |name: &String| {
            let number = |kind: char| name.strip_prefix(kind).and_then(|number| number.parse::<u8>().ok());
            let flights = self.warps[usize::from(slot)].iter().rev().filter(|flight| flight.has_issued());
            let mut found = flights.filter(|flight| {
                number('R').is_some_and(|r| flight.roles.d() == r) || number('P').is_some_and(|p| flight.roles.p() == p)
            });
            match found.next() {
                Some(flight) => format!("{name} of {}: {}", flight.pc, flight.text.instruction),
                None => name.clone(),
            }
        };
        pending(cycle.probe, slot.into(), roles).iter().map(giver).collect::<Vec<_>>().join("; ")
    }

    /// Handles instructions that have been read and are decoded.
    fn fetches(&mut self, now: u64, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        for path in lanes_of(o.fetch.decode_valid_o.into()).filter(|&path| path < MAX_PORTS) {
            let (slot, pc) = (o.fetch.decode_warp_o[path], o.fetch.decode_pc_o[path]);
            let Some(code) = &mut self.code else { continue };
            let text = code.text(pc);
            let warp = self.owners.as_ref().and_then(|owners| owners.of(slot));
            let [x, y, _] = self.geometry.grid.map(u64::from);
            let block = warp.map_or([0; 3], |id| [id.block % x, id.block / x % y, id.block / (x * y)]);
            let Some(flights) = self.warps.get_mut(usize::from(slot)) else { continue };
            let mut flight = Flight {
                id: self.next,
                slot,
                warp,
                block,
                pc,
                roles: Roles(o.decode[path].roles_o),
                opcode: opcode(o.fetch.decode_op_o[path]),
                text,
                mask: None,
                probe: false,
                taken: false,
                steps: Vec::new(),
                shown: 0,
            };
            flight.enter(Stage::Fetch, now.saturating_sub(1), || None);
            flight.enter(Stage::Decode, now, || None);
            flights.push(flight);
            self.next += 1;
            self.touched |= 1 << slot;
        }
    }

    /// The oldest instruction of a warp for which a test holds.
    fn find(&self, slot: u8, test: impl Fn(&Flight) -> bool) -> Option<usize> {
        self.warps.get(usize::from(slot))?.iter().position(test)
    }

    fn enter(&mut self, slot: u8, index: usize, stage: Stage, from: u64) {
        self.warps[usize::from(slot)][index].enter(stage, from, || None);
        self.touched |= 1 << slot;
    }

    /// Ends the oldest instruction of a warp for which a test holds.
    fn end_of(&mut self, slot: u8, test: impl Fn(&Flight) -> bool, end: u64, sink: &mut dyn Sink) -> io::Result<()> {
        match self.find(slot, test) {
            Some(index) => self.end(slot, index, end, sink),
            None => {
                self.unknown += 1;
                Ok(())
            }
        }
    }

    fn end(&mut self, slot: u8, index: usize, end: u64, sink: &mut dyn Sink) -> io::Result<()> {
        let flight = self.warps[usize::from(slot)].remove(index);
        self.leave(flight, end, true, sink)
    }

    fn leave(&mut self, mut flight: Flight, end: u64, finished: bool, sink: &mut dyn Sink) -> io::Result<()> {
        while flight.steps.last().is_some_and(|last| last.from >= end) && flight.steps.len() > flight.shown {
            flight.steps.pop();
        }
        if !self.open || flight.steps.is_empty() {
            return Ok(());
        }
        show(&mut flight, end, &mut self.seen, sink)?;
        sink.leave(&flight, end, finished)
    }

    /// Passes the steps that have begun to the sink.
    fn show(&mut self, now: u64, sink: &mut dyn Sink) -> io::Result<()> {
        for slot in lanes_of_wide(std::mem::take(&mut self.touched)) {
            for flight in &mut self.warps[slot] {
                if self.open {
                    show(flight, now, &mut self.seen, sink)?;
                } else {
                    flight.shown = begun(flight, now);
                }
                if flight.shown < flight.steps.len() {
                    self.touched |= 1 << slot;
                }
            }
        }
        Ok(())
    }
}

/// The number of steps of an instruction that have begun.
fn begun(flight: &Flight, now: u64) -> usize {
    flight.steps.iter().take_while(|step| step.from <= now).count()
}

fn show(flight: &mut Flight, now: u64, seen: &mut u64, sink: &mut dyn Sink) -> io::Result<()> {
    let until = begun(flight, now);
    for step in flight.shown..until {
        if step == 0 && !flight.probe {
            *seen += 1;
        }
        sink.enter(flight, step)?;
    }
    flight.shown = flight.shown.max(until);
    Ok(())
}

fn has_register(flight: &Flight) -> bool {
    flight.roles.d() != NO_REG
}

/// The numbers in a set of warps.
fn lanes_of_wide(set: u64) -> impl Iterator<Item = usize> {
    (0..u64::BITS as usize).filter(move |slot| set >> slot & 1 == 1)
}
