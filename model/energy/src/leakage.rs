//! Leakage of a register file whose registers are ON, in SLEEP or OFF: sharing thesis, section 4.3.
//!
//! The unit is the leakage of one warp register that is ON, for one cycle, with its part of the routing: a file whose registers are all ON leaks one
//! unit for each register and cycle. Results are relative to a baseline run, so no absolute leakage is needed, except for the energy of transitions,
//! which the thesis prints in nJ.

/// Cycles a second (table 4.2).
pub const CLOCK: f64 = 732e6;

/// Energy of a change between ON and SLEEP, in nJ (table 4.4).
pub const SLEEP_TRANSITION: f64 = 0.0373;

/// Energy of a change between ON and OFF, in nJ (table 4.4).
pub const OFF_TRANSITION: f64 = 0.11774;

/// Leakage of a warp register of 1024 bits that is ON, in mW. The thesis prints none. This is what the SRAM of the hybrid paper's table 1 leaks for each 1024 bits:
/// 248.7 mW for 128 KB, at 32 nm; the thesis has 22 nm.
pub const REGISTER_LEAKAGE: f64 = 248.7 / 1024.0;

/// The routing's part of a file's leakage that the thesis's means (4.3.1 to 4.3.3, 4.3.7) imply: 0.552 by GREENER's, 0.556 by Sleep-Reg's.
pub const ROUTING: f64 = 0.554;

/// The unit that the energies of table 4.4 refer to, which the thesis does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TransitionOf {
    /// The whole file of 256 KB.
    File,
    /// One of its 32 banks.
    #[default]
    Bank,
    /// One warp register.
    Register,
}

impl TransitionOf {
    /// Warp registers of 1024 bits that change together for this energy.
    pub const fn registers(self) -> f64 {
        match self {
            Self::File => 2048.0,
            Self::Bank => 64.0,
            Self::Register => 1.0,
        }
    }
}

/// Counts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StateCounts {
    /// Cycles.
    pub cycles: u64,
    /// Warp registers of the file, allocated or not.
    pub registers: u64,
    /// Registers that are ON, summed over cycles.
    pub on: u64,
    /// Registers in SLEEP, summed over cycles.
    pub sleep: u64,
    /// Registers that are OFF, summed over cycles.
    pub off: u64,
    /// Changes of a register to SLEEP.
    pub to_sleep: u64,
    /// Changes to OFF, from ON or from SLEEP.
    pub to_off: u64,
    /// Changes from SLEEP to ON.
    pub from_sleep: u64,
    /// Changes from OFF to ON.
    pub from_off: u64,
}

impl StateCounts {
    /// A run in which all registers are ON all the time: the thesis's baseline.
    pub const fn always_on(registers: u64, cycles: u64) -> Self {
        let on = registers.saturating_mul(cycles);
        Self { cycles, registers, on, sleep: 0, off: 0, to_sleep: 0, to_off: 0, from_sleep: 0, from_off: 0 }
    }

    /// Refuses counts that no run can have.
    fn check(&self) -> Result<(), LeakageError> {
        let &Self { cycles, registers, on, sleep, off, .. } = self;
        if cycles == 0 || registers == 0 {
            return Err(LeakageError::Nothing { cycles, registers });
        }
        if u128::from(on) + u128::from(sleep) + u128::from(off) != u128::from(registers) * u128::from(cycles) {
            return Err(LeakageError::Sum { cycles, registers, on, sleep, off });
        }
        Ok(())
    }
}

/// The parameters. [`Self::thesis`] has those of the thesis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leakage {
    /// Leakage of a register in SLEEP, relative to that of one that is ON.
    pub sleep: f64,
    /// Leakage of a register that is OFF, relative to that of one that is ON.
    pub off: f64,
    /// Energy of a change to or from SLEEP, in cycles of a register that is ON.
    pub sleep_transition: f64,
    /// Energy of a change to or from OFF, in cycles of a register that is ON.
    pub off_transition: f64,
    /// The routing's part of the leakage of a file whose registers are all ON. The routing leaks whatever the states of the registers.
    pub routing: f64,
}

/// A run relative to its baseline.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Relative {
    /// Cycles.
    pub cycles: f64,
    /// Leakage power, with the power of transitions.
    pub power: f64,
    /// Leakage energy: power times cycles.
    pub energy: f64,
}

/// How a set of runs is averaged: over their energies relative to those of their baselines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mean {
    /// The sum divided by the number of values.
    Arithmetic,
    /// The root of the product of the values.
    Geometric,
}

impl Mean {
    /// The mean of the values. The mean of no values is a NaN.
    pub fn of(self, values: &[f64]) -> f64 {
        let mean = |map: fn(f64) -> f64| values.iter().map(|&value| map(value)).sum::<f64>() / values.len() as f64;
        match self {
            Self::Arithmetic => mean(|value| value),
            Self::Geometric => mean(f64::ln).exp(),
        }
    }
}

impl Leakage {
    /// The parameters of the thesis: registers that are OFF leak nothing (they have 0 V there), transitions of table 4.4, no routing.
    /// `register_leakage` is the leakage of a register that is ON in mW, usually [`REGISTER_LEAKAGE`].
    pub fn thesis(sleep: f64, transition_of: TransitionOf, register_leakage: f64) -> Self {
        let cycles = |nanojoules: f64| {
            let register = nanojoules * 1e-9 / transition_of.registers();
            register / (register_leakage * 1e-3 / CLOCK)
        };
        let [sleep_transition, off_transition] = [SLEEP_TRANSITION, OFF_TRANSITION].map(cycles);
        Self { sleep, off: 0.0, sleep_transition, off_transition, routing: 0.0 }
    }

    /// The leakage energy of a run, in cycles of a register that is ON.
    ///
    /// # Errors
    /// If a parameter is out of its range, or the counts contradict each other.
    pub fn energy(&self, run: &StateCounts) -> Result<f64, LeakageError> {
        self.check()?;
        run.check()?;
        let states = run.on as f64 + self.sleep * run.sleep as f64 + self.off * run.off as f64;
        // Summed as floats: the sum of two counts may not fit their type.
        let changes = |there: u64, back: u64| there as f64 + back as f64;
        let transitions = self.sleep_transition * changes(run.to_sleep, run.from_sleep)
            + self.off_transition * changes(run.to_off, run.from_off);
        let all = run.registers as f64 * run.cycles as f64;
        Ok(self.routing * all + (1.0 - self.routing) * (states + transitions))
    }

    /// A run relative to its baseline.
    ///
    /// # Errors
    /// Those of [`Self::energy`]; if the two runs have files of different sizes; if the baseline leaks nothing.
    pub fn relative(&self, run: &StateCounts, baseline: &StateCounts) -> Result<Relative, LeakageError> {
        let (energy, base) = (self.energy(run)?, self.energy(baseline)?);
        if run.registers != baseline.registers {
            return Err(LeakageError::OtherFile { run: run.registers, baseline: baseline.registers });
        }
        if base == 0.0 {
            return Err(LeakageError::NoBaseline);
        }
        let cycles = run.cycles as f64 / baseline.cycles as f64;
        let energy = energy / base;
        Ok(Relative { cycles, power: energy / cycles, energy })
    }

    /// The same parameters with the leakage in SLEEP at which these runs, each with its baseline, save this part of the leakage energy on average.
    ///
    /// # Errors
    /// Those of [`Self::relative`]; if there are no runs, if the saving does not depend on registers in SLEEP, or if no leakage from 0 to 1 gives
    /// this saving.
    pub fn with_sleep_fitted(
        self,
        runs: &[(StateCounts, StateCounts)],
        mean: Mean,
        saving: f64,
    ) -> Result<Self, LeakageError> {
        let saved = |sleep: f64| {
            let leakage = Self { sleep, ..self };
            let energy = |(run, baseline)| leakage.relative(run, baseline).map(|relative| relative.energy);
            let energies: Result<Vec<f64>, LeakageError> = runs.iter().map(|(run, base)| energy((run, base))).collect();
            Ok(1.0 - mean.of(&energies?))
        };
        if runs.is_empty() {
            return Err(LeakageError::NoRuns);
        }
        // The saving decreases as the leakage in SLEEP increases.
        let (most, least) = (saved(0.0)?, saved(1.0)?);
        if most == least {
            return Err(LeakageError::NoSleep);
        }
        if !(least..=most).contains(&saving) {
            return Err(LeakageError::NoFit { saving, least, most });
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if saved(middle)? > saving { low = middle } else { high = middle }
        }
        Ok(Self { sleep: 0.5 * (low + high), ..self })
    }

    fn check(&self) -> Result<(), LeakageError> {
        let parts = [("sleep", self.sleep), ("off", self.off), ("routing", self.routing)];
        let energies = [("sleep_transition", self.sleep_transition), ("off_transition", self.off_transition)];
        let limits = parts.map(|part| (part, 1.0)).into_iter().chain(energies.map(|energy| (energy, f64::MAX)));
        for ((name, value), greatest) in limits {
            if !(0.0..=greatest).contains(&value) {
                return Err(LeakageError::Parameter { name, value, greatest });
            }
        }
        Ok(())
    }
}

/// Why there is no result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LeakageError {
    /// Nothing ran.
    #[error(
        "a run of {cycles} cycles with {registers} registers leaks nothing to compare; count one of at least one cycle and register"
    )]
    Nothing {
        /// Cycles.
        cycles: u64,
        /// Registers.
        registers: u64,
    },
    /// The counts of states do not add up: each register has one state in each cycle.
    #[error(
        "{on} register-cycles ON, {sleep} in SLEEP and {off} OFF are not {registers} registers times {cycles} cycles; \
         registers that are not allocated have a state too"
    )]
    Sum {
        /// Cycles.
        cycles: u64,
        /// Registers.
        registers: u64,
        /// Register-cycles ON.
        on: u64,
        /// Register-cycles in SLEEP.
        sleep: u64,
        /// Register-cycles OFF.
        off: u64,
    },
    /// A parameter is out of its range.
    #[error("the parameter {name} is {value}; it must be from 0 to {greatest:?}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The greatest value.
        greatest: f64,
    },
    /// Run and baseline have files of different sizes.
    #[error("the run has a file of {run} registers, its baseline one of {baseline}; compare runs of one file")]
    OtherFile {
        /// Registers of the run.
        run: u64,
        /// Registers of the baseline.
        baseline: u64,
    },
    /// The baseline leaks nothing.
    #[error("the baseline leaks nothing with these parameters; take a run whose registers are ON")]
    NoBaseline,
    /// There are no runs to fit to.
    #[error("there are no runs to fit the leakage in SLEEP to")]
    NoRuns,
    /// The saving does not depend on the leakage in SLEEP.
    #[error(
        "the saving does not depend on the leakage in SLEEP: no register of these runs is in SLEEP, or all leakage is routing"
    )]
    NoSleep,
    /// No leakage in SLEEP gives the saving.
    #[error(
        "no leakage in SLEEP from 0 to 1 saves {:.2} % of the energy of these runs: it is {:.2} to {:.2} %", 100.0 * .saving, 100.0 * .least, 100.0 * .most
    )]
    NoFit {
        /// The requested saving.
        saving: f64,
        /// The saving where SLEEP leaks as much as ON.
        least: f64,
        /// The saving where SLEEP leaks nothing.
        most: f64,
    },
}
