//! `gpurf compile --summary`: the kernels of many files that are accepted, and the features that the others lack.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use gpurf_compiler::{Compiled, Feature, Module, Options};
use gpurf_isa::Image;
use gpurf_isa::image::{Kernel, Parameter};
use gpurf_launch::Manifest;
use gpurf_oracle::host::{Session, in_source};
use serde::Serialize;

use super::source;
use crate::failure::{Failure, Status};
use crate::output::{self, numbers, words};
use crate::result::json;

/// The summary of many files, in the form of `--json`.
#[derive(Debug, Default, Serialize)]
struct Summary {
    result: &'static str,
    command: &'static str,
    /// Number of files examined.
    files: usize,
    /// Number of files with kernels.
    files_with_kernels: usize,
    /// Number of files with at least one accepted kernel.
    files_with_accepted: usize,
    /// Number of files with kernels whose kernels are all accepted.
    files_accepted: usize,
    /// Files that are not PTX, that nvcc does not compile or that are invalid as a whole, and why.
    files_refused: BTreeMap<String, String>,
    /// Number of distinct kernels: kernels with the same name and text count once.
    kernels: usize,
    accepted: usize,
    /// Accepted kernels for which a manifest can be written.
    launchable: usize,
    /// The kernels.
    each: Vec<Entry>,
}

/// A kernel.
#[derive(Debug, Serialize)]
struct Entry {
    /// Its name in the source.
    kernel: String,
    /// Its name in the PTX.
    ptx: String,
    /// The first file that has it.
    file: String,
    accepted: bool,
    /// The features that it lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lacks: Vec<&'static str>,
    /// Why no manifest can launch it, if it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_launchable: Option<String>,
}

/// Counts the accepted kernels of files and folders.
pub fn summary(paths: &[PathBuf], options: &Options, as_json: bool) -> Result<Status, Failure> {
    let mut files = BTreeSet::new();
    for path in paths {
        collect(path, true, &mut files)?;
    }
    if files.is_empty() {
        return Err(Failure::bad_input("the given paths contain no .cu and no .ptx file"));
    }
    let mut summary = Summary { result: "pass", command: "compile", files: files.len(), ..Summary::default() };
    let (mut seen, mut features) = (HashSet::new(), Vec::new());
    for file in &files {
        let name = file.display().to_string();
        let mut refuse = |why: String| {
            summary.files_refused.insert(name.clone(), why.lines().next().unwrap_or_default().to_owned());
        };
        let ptx = match source::ptx(file) {
            Ok(ptx) => ptx,
            // Without nvcc every .cu would count as refused.
            Err(failure) if failure.status == Status::Tool => return Err(failure),
            Err(failure) => {
                refuse(failure.message);
                continue;
            }
        };
        let parsed = Module::parse(&ptx.text, &ptx.name);
        let compiled = parsed.and_then(|module| Ok((module.compile(options, &|_| true)?, module)));
        let (compiled, module) = match compiled {
            Ok(both) => both,
            Err(diagnostics) => {
                refuse(diagnostics.to_string());
                continue;
            }
        };
        // The parts of the image that all kernels use: each kernel is loaded alone.
        let common = Image { kernels: Vec::new(), ..compiled.image.clone() };
        let (accepted, refused) = (!compiled.image.kernels.is_empty(), !compiled.refused.is_empty());
        summary.files_with_kernels += usize::from(accepted || refused);
        summary.files_with_accepted += usize::from(accepted);
        summary.files_accepted += usize::from(accepted && !refused);
        for (kernel, _) in module.kernels().filter(|(kernel, text)| seen.insert(digest(kernel, text))) {
            let entry = entry(kernel, &name, &compiled, &common, file, &mut features);
            summary.kernels += 1;
            summary.accepted += usize::from(entry.accepted);
            summary.launchable += usize::from(entry.accepted && entry.not_launchable.is_none());
            summary.each.push(entry);
        }
    }
    if as_json {
        output::print(&json(&summary))?;
    } else {
        show(&summary, &features)?;
    }
    Ok(Status::Pass)
}

/// Collects the files of a folder and its subfolders, or a single file. A .cu file with its .ptx beside it counts as one.
fn collect(path: &Path, given: bool, files: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
    let unreadable = |e: std::io::Error| Failure::bad_input(format!("{}: cannot be read: {e}", path.display()));
    if path.is_dir() {
        for entry in path.read_dir().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // Symbolic links are skipped, as they may form cycles.
            if !entry.file_type().map_err(unreadable)?.is_symlink() {
                collect(&entry.path(), false, files)?;
            }
        }
        return Ok(());
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("ptx") if path.with_extension("cu").is_file() && !given => {}
        Some("ptx" | "cu") => _ = files.insert(path.to_owned()),
        // Reading the file reports what is wrong with it.
        _ if given => _ = source::ptx(path)?,
        _ => {}
    }
    Ok(())
}

/// A digest by which kernels with the same name and text are the same.
fn digest(name: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, text).hash(&mut hasher);
    hasher.finish()
}

fn entry(
    kernel: &str,
    name: &str,
    compiled: &Compiled,
    common: &Image,
    file: &Path,
    features: &mut Vec<BTreeSet<Feature>>,
) -> Entry {
    let refused = compiled.refused.iter().find(|refused| refused.name == kernel);
    let lacks = refused.map(|refused| &refused.diagnostics.features);
    features.extend(lacks.cloned());
    Entry {
        kernel: in_source(kernel),
        ptx: kernel.to_owned(),
        file: name.to_owned(),
        accepted: refused.is_none(),
        lacks: lacks.into_iter().flatten().map(|feature| feature.name()).collect(),
        not_launchable: compiled.image.kernel(kernel).and_then(|kernel| launch(kernel, common, file).err()),
    }
}

/// Writes a manifest that launches a kernel, and loads it.
///
/// # Errors
/// The reason why it cannot be launched.
fn launch(kernel: &Kernel, common: &Image, file: &Path) -> Result<(), String> {
    let block = kernel.required_threads.unwrap_or([kernel.max_threads.unwrap_or(32).min(32), 1, 1]);
    let args: Vec<String> = kernel.parameters.iter().map(argument).collect();
    let quoted = |text: &str| serde_json::to_string(text).map_err(|e| e.to_string());
    let text = format!(
        "source = {}\n[[launch]]\nkernel = {}\ngrid = [1]\nblock = {block:?}\nargs = [{}]\n",
        quoted(&file.file_name().unwrap_or_default().to_string_lossy())?,
        quoted(&kernel.name)?,
        args.join(", ")
    );
    let manifest = Manifest::parse(&file.with_extension("toml"), &text).map_err(|e| e.to_string())?;
    let image = Image { kernels: vec![kernel.clone()], ..common.clone() };
    Session::new(&manifest, &image).map(|_| ()).map_err(|e| e.to_string())
}

/// An argument of zeros for a parameter.
fn argument(parameter: &Parameter) -> String {
    let Parameter { bytes, align, .. } = *parameter;
    if matches!(bytes, 1 | 2 | 4 | 8) && bytes == align {
        return format!("{{ type = \"u{}\", value = 0 }}", 8 * bytes);
    }
    // The largest element that the bytes and the alignment allow.
    let element = [8, 4, 2].into_iter().find(|size| bytes % size == 0 && align % size == 0).unwrap_or(1);
    let count = bytes / element;
    format!("{{ struct = [{{ type = \"u{}\", array = [0], count = {count} }}], align = {align} }}", 8 * element)
}

/// A table of the features that refused kernels lack: how many kernels lack each, and for how many it is the only one.
pub fn by_feature<'a>(kernels: impl Iterator<Item = &'a BTreeSet<Feature>>) -> String {
    let mut counts: BTreeMap<Feature, (usize, usize)> = BTreeMap::new();
    for features in kernels {
        for feature in features {
            let (all, only) = counts.entry(*feature).or_default();
            *all += 1;
            *only += usize::from(features.len() == 1);
        }
    }
    let mut rows: Vec<(Feature, (usize, usize))> = counts.into_iter().collect();
    rows.sort_by_key(|(feature, (all, only))| (usize::MAX - all, usize::MAX - only, *feature));
    let row =
        |(feature, (all, only)): &(Feature, (usize, usize))| vec![feature.name().into(), (*all).into(), (*only).into()];
    let rows: Vec<_> = rows.iter().map(row).collect();
    output::table(&[words("missing feature"), numbers("kernels"), numbers("only obstacle")], &rows)
}

fn show(summary: &Summary, features: &[BTreeSet<Feature>]) -> Result<(), Failure> {
    let percent = |part: usize, whole: usize| {
        let share = if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 };
        format!("{share:.1} %")
    };
    let Summary { files, files_with_kernels, kernels, accepted, launchable, .. } = *summary;
    let count = |what: &str, part: usize, whole: usize| vec![what.into(), part.into(), percent(part, whole).into()];
    let rows = [
        count("files", files, files),
        count("  that are refused as a whole", summary.files_refused.len(), files),
        count("files with kernels", files_with_kernels, files_with_kernels),
        count("  with an accepted kernel", summary.files_with_accepted, files_with_kernels),
        count("  all of whose kernels are accepted", summary.files_accepted, files_with_kernels),
        count("distinct kernels", kernels, kernels),
        count("  accepted", accepted, kernels),
        count("  accepted, and a manifest can launch them", launchable, kernels),
    ];
    output::print(&format!("{}\n", output::table(&[words(""), numbers("number"), numbers("share")], &rows)))?;
    if !features.is_empty() {
        output::print(&format!("{}\n", by_feature(features.iter())))?;
    }
    for (file, why) in &summary.files_refused {
        output::note(&format!("{file}: {why}"));
    }
    for entry in &summary.each {
        if let Some(why) = &entry.not_launchable {
            output::note(&format!("{}: {} cannot be launched: {why}", entry.file, entry.kernel));
        }
    }
    Ok(())
}
