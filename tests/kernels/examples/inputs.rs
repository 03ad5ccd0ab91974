//! Writes the inputs that are computed anew: the text of MUM and its suffix tree, the table of marchingCubes.

use std::error::Error;
use std::fs;

use gpurf_kernels::{folder, marching_cubes, mum};

fn main() -> Result<(), Box<dyn Error>> {
    let text = mum::text();
    let tree: Vec<u8> = mum::tree(&text).into_iter().flat_map(i32::to_le_bytes).collect();
    println!("{} letters, {} nodes", text.len(), tree.len() / 32);
    fs::write(folder().join("inputs/MUM.text.bin"), text)?;
    fs::write(folder().join("inputs/MUM.tree.bin"), tree)?;
    let table: Vec<u8> = marching_cubes::table().into_iter().map(|edge| edge as u8).collect();
    fs::write(folder().join("inputs/marchingCubes.table.bin"), table)?;
    Ok(())
}
