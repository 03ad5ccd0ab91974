//! The host: writes code and constants, starts launches, and observes their end.

use gpurf_blocks::Wide;
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::Straps;
use gpurf_sm::{SmIn, SmOut};

use crate::job::Job;

/// How a launch ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// All blocks have ended.
    Done,
    /// The SM reports a fault.
    Fault {
        /// Warp of the SM.
        warp: u8,
        /// Cause (`docs/blocks/fault_unit.md`).
        cause: u8,
        /// The value that the table describes for this cause.
        value: u32,
    },
}

/// The state of the host.
#[derive(Clone)]
enum State {
    /// Nothing: there is no launch.
    Idle,
    /// It writes the words that differ from the contents of the memories.
    Loading {
        /// Instructions to write, the next one last.
        code: Vec<u32>,
        /// Words of the constant memory, likewise.
        constants: Vec<u16>,
    },
    /// It waits for the end of the launch.
    Running,
}

/// The host's side of the SM.
#[derive(Clone)]
pub struct Host {
    /// `cfg_i` and `design_cfg_i`.
    straps: (u64, Wide<4>),
    /// The machine's time of the next cycle.
    time: u64,
    /// Contents of the code memory, as far as the host has written it.
    code: Vec<Option<[u64; 2]>>,
    /// Contents of the constant memory, as far as the host has written it.
    constants: Vec<Option<u32>>,
    job: Option<Job>,
    state: State,
}

impl Host {
    /// The host of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        let (shape, straps) = (config.sm_shape(), Straps::of(config));
        Self {
            straps: (straps.word(), straps.design_word()),
            time: config.sm.start_time as u64,
            code: vec![None; shape.code_words],
            constants: vec![None; shape.const_words],
            job: None,
            state: State::Idle,
        }
    }

    /// Starts a launch. Only words that differ from the memories' contents will be written.
    pub fn begin(&mut self, job: Job) {
        let differing = |index: &usize| self.code[*index] != Some(job.code[*index]);
        let code = (0..job.code.len()).rev().filter(differing).map(|index| index as u32).collect();
        let differing = |index: &usize| self.constants[*index] != Some(job.constants[*index]);
        let constants = (0..job.constants.len()).rev().filter(differing).map(|index| index as u16).collect();
        self.state = State::Loading { code, constants };
        self.job = Some(job);
    }

    /// Whether the launch has ended, according to the outputs of the previous cycle. The call has no side effects.
    pub fn ended(&self, previous: &SmOut) -> Option<Ended> {
        if previous.fault_o == 1 {
            let (warp, cause, value) = (previous.fault_warp_o, previous.fault_cause_o, previous.fault_value_o);
            return Some(Ended::Fault { warp, cause, value });
        }
        // While the host loads, `done_o` still belongs to the previous launch.
        (matches!(self.state, State::Running) && previous.done_o == 1).then_some(Ended::Done)
    }

    /// Skips this many cycles in which the host does nothing.
    pub fn skip(&mut self, cycles: u64) {
        self.time = self.time.wrapping_add(cycles);
    }

    /// Drives the inputs of a cycle.
    pub fn drive(&mut self, inputs: &mut SmIn) {
        inputs.rst_ni = 1;
        inputs.time_i = self.time;
        self.time = self.time.wrapping_add(1);
        (inputs.cfg_i, inputs.design_cfg_i) = self.straps;
        (inputs.code_we_i, inputs.const_we_i, inputs.launch_valid_i) = (0, 0, 0);
        let (State::Loading { code, constants }, Some(job)) = (&mut self.state, &self.job) else { return };
        if code.is_empty() && constants.is_empty() {
            launch(job, inputs);
            self.state = State::Running;
            return;
        }
        if let Some(at) = code.pop() {
            let words = job.code[at as usize];
            self.code[at as usize] = Some(words);
            (inputs.code_we_i, inputs.code_addr_i) = (1, at);
            [inputs.code_op_i, inputs.code_ctl_i] = words;
        }
        if let Some(at) = constants.pop() {
            let word = job.constants[usize::from(at)];
            self.constants[usize::from(at)] = Some(word);
            (inputs.const_we_i, inputs.const_addr_i, inputs.const_data_i) = (1, at, word);
        }
    }
}

fn launch(job: &Job, inputs: &mut SmIn) {
    let geometry = &job.geometry;
    let [grid_x, grid_y, grid_z] = geometry.grid;
    let [block_x, block_y, block_z] = geometry.block;
    inputs.launch_valid_i = 1;
    inputs.launch_grid_x_i = grid_x;
    inputs.launch_grid_y_i = grid_y as u16;
    inputs.launch_grid_z_i = grid_z as u16;
    inputs.launch_block_x_i = block_x as u16;
    inputs.launch_block_y_i = block_y as u16;
    inputs.launch_block_z_i = block_z as u8;
    inputs.launch_threads_i = geometry.threads() as u16;
    inputs.launch_registers_i = job.registers;
    (inputs.launch_share_i, inputs.launch_private_i) = (job.share.into(), job.private);
    (inputs.launch_shared_i, inputs.launch_private_shared_i) = (job.shared, job.private_shared);
    inputs.launch_dynamic_i = geometry.dynamic_shared;
    let partition = job.division.partition();
    (inputs.launch_register_rows_i, inputs.launch_cache_i) = (partition.register_rows, partition.cache_log);
    inputs.launch_shared_rows_i = job.division.shared_rows as u16;
    inputs.launch_local_i = job.local_words;
}

#[cfg(test)]
mod tests;
