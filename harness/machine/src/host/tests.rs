use gpurf_blocks::Ports;
use gpurf_blocks::config::{Config, Start};
use gpurf_oracle::Geometry;
use gpurf_sm::partition::Division;

use super::*;
use crate::job::SharedPlaces;

fn host() -> Host {
    Host::new(&Config::load(Start::Preset("baseline"), &["sm.alu_latency=9", "sm.warps=8"]).unwrap())
}

fn job(code: &[[u64; 2]], constants: &[u32]) -> Job {
    Job {
        code: code.to_vec(),
        constants: constants.into(),
        geometry: Geometry { grid: [70_000, 3, 4], block: [16, 4, 2], dynamic_shared: 64 },
        registers: 33,
        share: true,
        private: 4,
        private_shared: 20,
        shared: 164,
        division: Division { slots: 9, register_rows: 700, shared_rows: 60, cache_lines: 32 },
        places: SharedPlaces { step: 256, hosts: 3, private: 20 },
        local_words: 5,
        fault: false,
        misfit: None,
    }
}

/// Code and constants written until the launch, which is the last cycle.
#[derive(Default, PartialEq, Debug)]
struct Written {
    cycles: usize,
    code: Vec<(u32, u64, u64)>,
    constants: Vec<(u16, u32)>,
}

fn load(host: &mut Host, job: Job) -> (Written, SmIn) {
    host.begin(job);
    let mut inputs = SmIn::zeroed();
    let mut written = Written::default();
    loop {
        host.drive(&mut inputs);
        written.cycles += 1;
        if inputs.code_we_i == 1 {
            written.code.push((inputs.code_addr_i, inputs.code_op_i, inputs.code_ctl_i));
        }
        if inputs.const_we_i == 1 {
            written.constants.push((inputs.const_addr_i, inputs.const_data_i));
        }
        if inputs.launch_valid_i == 1 {
            return (written, inputs);
        }
    }
}

#[test]
fn code_and_constants_are_written_and_then_the_grid_is_launched() {
    let mut host = host();
    let (written, inputs) = load(&mut host, job(&[[1, 2], [3, 4], [5, 6]], &[7, 8]));
    let expected = Written { cycles: 4, code: vec![(0, 1, 2), (1, 3, 4), (2, 5, 6)], constants: vec![(0, 7), (1, 8)] };
    assert_eq!(written, expected);
    assert_eq!((inputs.rst_ni, inputs.cfg_i >> 2 & 63), (1, 8), "straps are there all the time");
    assert_eq!((inputs.launch_grid_x_i, inputs.launch_grid_y_i, inputs.launch_grid_z_i), (70_000, 3, 4));
    assert_eq!((inputs.launch_block_x_i, inputs.launch_block_y_i, inputs.launch_block_z_i), (16, 4, 2));
    assert_eq!((inputs.launch_threads_i, inputs.launch_registers_i, inputs.launch_local_i), (128, 33, 5));
    assert_eq!((inputs.launch_shared_i, inputs.launch_dynamic_i), (164, 64));
    let partition = (inputs.launch_register_rows_i, inputs.launch_shared_rows_i, inputs.launch_cache_i);
    assert_eq!(partition, (700, 60, 5));
    assert_eq!((inputs.launch_share_i, inputs.launch_private_i, inputs.launch_private_shared_i), (1, 4, 20));
    let mut inputs = inputs;
    host.drive(&mut inputs);
    assert_eq!((inputs.launch_valid_i, inputs.code_we_i, inputs.const_we_i), (0, 0, 0), "for one cycle");
}

#[test]
fn only_what_differs_is_written_again() {
    let mut host = host();
    load(&mut host, job(&[[1, 2], [3, 4], [5, 6]], &[7, 8, 9]));
    let (written, _) = load(&mut host, job(&[[1, 2], [3, 5]], &[7, 8, 10, 11]));
    assert_eq!(written, Written { cycles: 3, code: vec![(1, 3, 5)], constants: vec![(2, 10), (3, 11)] });
    let (written, _) = load(&mut host, job(&[[1, 2], [3, 5], [5, 6]], &[7]));
    assert_eq!(written, Written { cycles: 1, ..Written::default() }, "nothing: it is launched at once");
}

#[test]
fn the_end_of_the_launch_before_is_not_taken_for_this_ones() {
    let mut host = host();
    let done = SmOut { done_o: 1, ..SmOut::zeroed() };
    host.begin(job(&[[1, 2]], &[]));
    assert_eq!(host.ended(&done), None);
    let mut inputs = SmIn::zeroed();
    while inputs.launch_valid_i == 0 {
        host.drive(&mut inputs);
    }
    assert_eq!(host.ended(&SmOut::zeroed()), None);
    assert_eq!(host.ended(&done), Some(Ended::Done));
    let fault = SmOut { fault_o: 1, fault_warp_o: 3, fault_cause_o: 4, fault_value_o: 5, ..SmOut::zeroed() };
    assert_eq!(host.ended(&fault), Some(Ended::Fault { warp: 3, cause: 4, value: 5 }));
}
