//! The worked examples of the stealing paper, played as directed sequences.

#[path = "blocks/outputs.rs"]
mod outputs;

use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::steal::{Steal, StealIn, StealOut};
use gpurf_blocks::view;
use gpurf_stimulus::directed::sequence;

use outputs::outputs;

/// Numbers, in the sequence, of the warps of figure 6 whose operands conflict.
const C: u8 = 2;
const D: u8 = 3;

/// Plays the sequence `name` with the settings `set`. Returns the cycles in which Wc and Wd have their operands, and the cycles of the thefts. Cycle
/// 0 is the one in which Wa and Wb issue.
fn figure(name: &str, set: &[&str]) -> ([usize; 2], Vec<usize>) {
    let config = Config::load(Start::Preset("steal-8"), set).unwrap();
    let inputs = sequence("steal", name, &config).unwrap();
    let issue = |n: &usize| view::<StealIn>(inputs.get(*n)).issue_valid_i == 3;
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
    // Without stealing, one of the two warps waits a cycle. The theft reads an operand of Wd early. Before cycle 4 the dispatch ports are taken by Wa
    // and Wb.
    assert_eq!(figure("figure-6", &["steal.read=false"]), ([4, 5], vec![]));
    assert_eq!(figure("figure-6", &[]), ([4, 4], vec![1]));
    assert_eq!(figure("figure-6-aborted", &[]), ([4, 5], vec![]));
}
