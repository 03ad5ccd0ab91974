//! Looks at each access of registers with power states.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use gpurf_blocks::mrf::bits::{is_set, set_bits};
use gpurf_blocks::power::PowerStatesProbe;
use gpurf_isa::{Instruction, Places, Slot};
use gpurf_kernels::Case;
use gpurf_machine::{Cycle, ModelEngine, Settings};
use gpurf_oracle::host::Session;
use gpurf_sm::SmIn;
use gpurf_stimulus::program::compiler_options;

use super::{FLOATS, INTEGERS, compiled, settings};

/// Looks at each cycle of the model: states, counts and accesses.
struct Observer {
    warps: usize,
    /// Places above the main register file.
    places: Places,
    ports: usize,
    /// Results that are on their way to the main register file.
    written_in_main: HashSet<(u8, u8)>,
    set: u64,
    read: u64,
    written: u64,
}

impl Observer {
    /// Whether a register is ON, and whether an access of it is in progress that changes its state.
    fn state(probe: &PowerStatesProbe, warp: u8, reg: u8) -> (bool, bool) {
        let (word, bit) = (4 * usize::from(warp) + usize::from(reg) / 64, usize::from(reg) % 64);
        let pending = is_set(probe.pending_q[word], bit);
        (pending || !is_set(probe.off_q[word] | probe.asleep_q[word], bit), pending)
    }

    /// The registers that an instruction reads in the main register file, and the one that it writes there.
    fn accesses(&self, instruction: gpurf_blocks::instruction::Instruction) -> (Vec<u8>, Option<u8>) {
        let decoded = Instruction::decode([instruction.op(), instruction.ctl()]).expect("it executes");
        let sources = Slot::ALL.into_iter().filter_map(|slot| decoded.main_source(slot, self.places));
        (sources.map(|reg| reg.0).collect(), decoded.main_destination(self.places).map(|reg| reg.0))
    }

    fn look(&mut self, cycle: &Cycle<'_>) {
        let (outputs, probe) = (&cycle.probe.outputs, &cycle.probe.states.power_states);
        for p in set_bits(outputs.issue_stage.operand_valid_o) {
            let warp = outputs.warp_scheduler.issue_warp_o[p];
            let (sources, result) = self.accesses(outputs.issue_stage.instruction_o[p]);
            for reg in sources.into_iter().chain(result) {
                assert_eq!(Self::state(probe, warp, reg), (true, false), "R{reg} of warp {warp} as it issues");
                self.set += 1;
            }
            if let Some(reg) = result {
                self.written_in_main.insert((warp, reg));
            }
        }
        let stage = &outputs.operand_stage;
        for p in set_bits(stage.dispatch_valid_o) {
            let warp = stage.dispatch_warp_o[p];
            for reg in self.accesses(stage.dispatch_instruction_o[p]).0 {
                assert!(Self::state(probe, warp, reg).0, "R{reg} of warp {warp} as it has been read");
                self.read += 1;
            }
        }
        for p in set_bits(outputs.writeback.reg_valid_o) {
            let (warp, reg) = (outputs.writeback.reg_warp_o[p], outputs.writeback.reg_o[p]);
            let (on, pending) = Self::state(probe, warp, reg);
            if self.written_in_main.remove(&(warp, reg)) {
                assert!(on, "R{reg} of warp {warp} as it is written");
                self.written += 1;
            } else {
                assert!(!pending, "R{reg} of warp {warp} as it is written above alone");
            }
        }
        // The name of no register is OFF.
        let (mut on, mut asleep) = (0, 0);
        for k in 0..4 * self.warps {
            let (off, sleeps, pending) = (probe.off_q[k], probe.asleep_q[k], probe.pending_q[k]);
            on += (pending | !(off | sleeps)).count_ones();
            asleep += (sleeps & !pending).count_ones();
        }
        assert_eq!(cycle.out.power_event_o[0] >> 42, u64::from(on), "registers that are ON");
        assert_eq!(cycle.out.power_event_o[0] >> 28 & 0x3fff, u64::from(asleep), "registers in SLEEP");
        assert!(outputs.issue_stage.operand_valid_o >> self.ports == 0, "ports that there are");
    }
}

/// Runs a kernel on the model before an observer, and gives the observer back.
///
/// # Panics
/// When the kernel fails.
pub fn watched<O: Send + 'static>(
    name: &str,
    settings: Settings,
    observer: O,
    look: impl Fn(&mut O, &Cycle<'_>) + Send + 'static,
) -> O {
    let observer = Arc::new(Mutex::new(observer));
    let case = Case::load(name).unwrap();
    let image = compiled(name, 64, &settings.config).image;
    let mut session = Session::new(case.manifest(), &image).unwrap();
    let (inputs, seen) = (size_of::<SmIn>().next_multiple_of(64), Arc::clone(&observer));
    let watch = Box::new(move |record: &[u8]| {
        let (inputs, compared) = record.split_at(inputs);
        look(&mut seen.lock().unwrap(), &Cycle::of(inputs, compared));
    });
    let mut engine = ModelEngine::watched(settings, watch);
    session.run(&mut engine).unwrap_or_else(|error| panic!("{name}: {error}"));
    drop((session, engine));
    Arc::into_inner(observer).expect("the engine has gone").into_inner().unwrap()
}

/// Kernels with each of these settings, in turn: what they access is ON.
///
/// # Panics
/// When an access meets a register that is not, or a count is wrong.
pub fn every_access_meets_on(sets: &[&[&str]]) {
    for (k, name) in INTEGERS.into_iter().chain(FLOATS).enumerate().filter(|(k, _)| k % 2 == 0) {
        let settings = settings(sets[k / 2 % sets.len()]);
        let shape = settings.config.sm_shape();
        let places = compiler_options(&settings.config, 64).places();
        let observer = Observer {
            warps: shape.warps,
            places,
            ports: shape.ports(),
            written_in_main: HashSet::new(),
            set: 0,
            read: 0,
            written: 0,
        };
        let observer = watched(name, settings, observer, Observer::look);
        assert!(observer.set.min(observer.read).min(observer.written) > 100, "{name}");
    }
}
