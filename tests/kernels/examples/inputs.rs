//! Writes the inputs that are computed anew: the texts of MUM and their suffix trees, the edge lists of a run of bfs, the table of marchingCubes,
//! the partitions of dxtc.

use std::error::Error;
use std::fs;

use gpurf_kernels::{Case, bfs, dxtc, folder, marching_cubes, mum};

fn main() -> Result<(), Box<dyn Error>> {
    for (name, letters) in mum::TEXTS {
        let text = mum::text(letters);
        let tree: Vec<u8> = mum::tree(&text).into_iter().flat_map(i32::to_le_bytes).collect();
        println!("MUM{name}: {} letters, {} nodes", text.len(), tree.len() / 32);
        fs::write(folder().join(format!("inputs/MUM{name}.text.bin")), text)?;
        fs::write(folder().join(format!("inputs/MUM{name}.tree.bin")), tree)?;
    }
    let first = bfs::first_edges(&Case::load("bfs-unified-98304")?.u32s("degree"));
    let first: Vec<u8> = first.into_iter().flat_map(u32::to_le_bytes).collect();
    fs::write(folder().join("inputs/bfs-unified-lists.first.bin"), first)?;
    let table: Vec<u8> = marching_cubes::table().into_iter().map(|edge| edge as u8).collect();
    fs::write(folder().join("inputs/marchingCubes.table.bin"), table)?;
    let partitions: Vec<u8> = dxtc::partitions().into_iter().flat_map(u32::to_le_bytes).collect();
    fs::write(folder().join("inputs/dxtc.partitions.bin"), partitions)?;
    Ok(())
}
