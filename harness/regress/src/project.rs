//! Folders of the project.

use std::path::{Path, PathBuf};

/// The folders of a gpurf checkout.
#[derive(Clone, Debug)]
pub struct Project {
    /// The top folder.
    pub root: PathBuf,
    /// Where failure folders are written.
    pub failures: PathBuf,
}

impl Project {
    /// The checkout that `$GPURF_HOME` names, otherwise the one this program was built in.
    pub fn find() -> Self {
        let built_in = || Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(".")).to_owned();
        let root = std::env::var_os("GPURF_HOME").map_or_else(built_in, PathBuf::from);
        Self { failures: root.join("failures"), root }
    }

    /// The RTL tree.
    pub fn rtl(&self) -> PathBuf {
        self.root.join("rtl")
    }

    /// The cache of built models.
    pub fn cache(&self) -> PathBuf {
        self.root.join("target/verilated")
    }

    /// The folder for results of runs that reports have made.
    pub fn report_runs(&self) -> PathBuf {
        self.root.join("target/reports/runs")
    }
}
