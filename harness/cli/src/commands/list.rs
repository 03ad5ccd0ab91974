//! `gpurf blocks` and `gpurf presets`.

use std::collections::BTreeMap;

use gpurf_blocks::config;
use gpurf_blocks::designs::DESIGNS;
use serde_json::json;

use crate::args::Listing;
use crate::failure::{Failure, Status};
use crate::output::{self, words};
use crate::result::json;
use crate::shape;

/// Lists the blocks, inner ones first.
pub fn blocks(listing: &Listing) -> Result<Status, Failure> {
    if listing.json {
        let blocks: Vec<_> = gpurf_sm::all()
            .map(|b| {
                let rtl = format!("rtl/{}.sv", b.path);
                let (modules, knobs) = (b.modules(), knobs(b.name));
                json!({"block": b.name, "rtl": rtl, "summary": b.summary, "modules": modules, "knobs": knobs})
            })
            .collect();
        output::print(&json(&json!({"result": "pass", "command": "blocks", "blocks": blocks})))?;
        return Ok(Status::Pass);
    }
    let row =
        |b: &gpurf_blocks::registry::Entry| vec![b.name.into(), format!("rtl/{}.sv", b.path).into(), b.summary.into()];
    let rows: Vec<_> = gpurf_sm::all().map(row).collect();
    output::print(&output::table(&[words("block"), words("RTL"), words("what it is")], &rows))?;
    Ok(Status::Pass)
}

/// The knobs of a block's random inputs, and the event whose probability each sets; the SM has none.
fn knobs(block: &str) -> BTreeMap<&'static str, &'static str> {
    let known = if block == gpurf_sm::ENTRY.name { Vec::new() } else { gpurf_stimulus::knobs(block) };
    known.iter().map(|knob| (knob.name, knob.doc)).collect()
}

/// Lists the presets.
pub fn presets(listing: &Listing) -> Result<Status, Failure> {
    if listing.json {
        let presets: Vec<_> =
            config::presets().map(|p| json!({"preset": p.name, "summary": p.summary, "config": p.config})).collect();
        output::print(&json(&json!({"result": "pass", "command": "presets", "presets": presets})))?;
        return Ok(Status::Pass);
    }
    let row = |p: &gpurf_blocks::config::Preset| {
        vec![p.name.into(), shape::words_of(&p.config.shape()).into(), p.summary.into()]
    };
    let rows: Vec<_> = config::presets().map(row).collect();
    output::print(&output::table(&[words("preset"), words("shape"), words("what it is")], &rows))?;
    let designs: Vec<&str> = DESIGNS.iter().map(|design| design.name).collect();
    let shapes: Vec<String> = config::presets().map(|p| shape::words_of(&p.config.shape())).collect();
    let shapes: Vec<&str> = shapes.iter().map(String::as_str).collect();
    output::print(&format!("{}\n", output::wrapped(&shape::legend(&designs, &shapes))))?;
    Ok(Status::Pass)
}
