//! The plan of a regression: which cases there are, in which order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gpurf_blocks::config::{Config, Preset, Start, presets};
use gpurf_stimulus::program::themes;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::case::{Case, Work};
use crate::{Inputs, JobError, Project, golden, suite};

/// Stands for all there are.
const ALL: &str = "*";

/// A plan's file: tiers by name, each a list of entries.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Document {
    tiers: BTreeMap<String, Vec<Entry>>,
}

/// A product of presets, variants, seeds and what is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    run: What,
    /// Presets by name; all of them unless something else is said.
    #[serde(default = "all")]
    presets: Vec<String>,
    /// Settings on top of the preset, one list for each variant.
    #[serde(default = "plain")]
    variants: Vec<Vec<String>>,
    /// Further lists of variants: each variant of one list with each of the others.
    #[serde(default)]
    times: Vec<Vec<Vec<String>>>,
    /// Kernels, or blocks, by name.
    #[serde(default = "all")]
    names: Vec<String>,
    /// Sizes of the register file; of blocks, whether they are run in all shapes and policies.
    shapes: Option<Shapes>,
    #[serde(default = "first_seed")]
    seeds: Vec<u64>,
    /// Programs at each configuration, with seeds from the entry's first seed on.
    count: Option<u64>,
    /// Cycles of each run of a block.
    cycles: Option<u64>,
    /// Seconds that a case may take, without building.
    limit_s: u64,
}

/// What an entry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Goldens,
    Kernels,
    Programs,
    Blocks,
    RegisterFile,
}

/// A choice of sizes of the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shapes {
    Pairwise,
    All,
}

fn all() -> Vec<String> {
    vec![ALL.to_owned()]
}

fn plain() -> Vec<Vec<String>> {
    vec![Vec::new()]
}

fn first_seed() -> Vec<u64> {
    vec![1]
}

/// What the command line changes of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// Cycles of each run of a block.
    pub cycles: Option<u64>,
    /// Added to every seed.
    pub seed: u64,
}

/// A part of a plan: the `index`th of `count`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Whether it has the case at this place of the plan. Neighbours go to different shards, so that all of them have some of everything.
    pub fn has(self, place: usize) -> bool {
        place % self.count == self.index - 1
    }
}

/// The cases of a tier, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegressionPlan {
    /// The tier.
    pub tier: String,
    /// All cases, whatever the shard.
    pub cases: Vec<Case>,
}

impl RegressionPlan {
    /// Reads a tier of a plan's file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn load(project: &Project, file: &Path, tier: &str, overrides: Overrides) -> Result<Self, JobError> {
        let text = std::fs::read_to_string(file).map_err(|e| JobError::Input(format!("{}: {e}", file.display())))?;
        Self::parse(project, &text, &file.display().to_string(), tier, overrides)
    }

    /// As [`load`](Self::load), of a text that messages call `name`.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(project: &Project, text: &str, name: &str, tier: &str, over: Overrides) -> Result<Self, JobError> {
        let document: Document = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            JobError::Input(format!("{name}:{line}: {}", e.message()))
        })?;
        let entries = document.tiers.get(tier).ok_or_else(|| {
            let known: Vec<&str> = document.tiers.keys().map(String::as_str).collect();
            JobError::Input(format!("{name}: there is no tier {tier}; there are: {}", known.join(", ")))
        })?;
        let (mut cases, mut seen) = (Vec::new(), BTreeSet::new());
        for (number, entry) in entries.iter().enumerate() {
            let wrong = |e: JobError| JobError::Input(format!("{name}: entry {} of {tier}: {e}", number + 1));
            let made = entry.cases(project, over).map_err(wrong)?;
            cases.extend(made.into_iter().filter(|case| seen.insert(case.id.clone())));
        }
        Ok(Self { tier: tier.to_owned(), cases })
    }

    /// A digest of all cases: two plans with the same one are the same.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(&self.cases).expect("words and numbers are JSON");
        format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
    }
}

impl Entry {
    fn cases(&self, project: &Project, over: Overrides) -> Result<Vec<Case>, JobError> {
        let mut cases = Vec::new();
        let seeds = || self.seeds.iter().map(|seed| seed.wrapping_add(over.seed));
        let mut add = |config: Config, seed: u64, work: Work| {
            cases.push(Case::new(&config, seed, work, self.limit_s));
        };
        match self.run {
            What::Goldens | What::Kernels => {
                let kernels = chosen(&self.names, golden::test_kernels(project)?, "test kernel")?;
                for config in self.configs()? {
                    for kernel in &kernels {
                        match self.run {
                            What::Goldens => add(config, 1, Work::Golden { kernel: kernel.clone() }),
                            _ => seeds().for_each(|seed| add(config, seed, Work::Kernel { kernel: kernel.clone() })),
                        }
                    }
                }
            }
            What::Programs => {
                let first = seeds().next().unwrap_or(1);
                for config in self.configs()? {
                    let themes = themes::of(&config);
                    let count = self.count.unwrap_or(themes.clone().count() as u64);
                    for (number, theme) in (0..count).zip(themes.cycle()) {
                        let theme = theme.name.to_owned();
                        add(config, first.wrapping_add(number), Work::Program { theme });
                    }
                }
            }
            What::Blocks => {
                let known = suite::leaf_blocks(1, 1).into_iter().map(|job| job.block).collect::<BTreeSet<_>>();
                let names = chosen(&self.names, known.into_iter().collect(), "block")?;
                for seed in seeds() {
                    let mut jobs = suite::leaf_blocks(seed, self.cycles(over));
                    if self.shapes == Some(Shapes::All) {
                        jobs.extend(suite::further_shapes(seed, self.cycles(over)));
                    }
                    let jobs = jobs.into_iter().filter(|job| names.contains(&job.block));
                    for job in jobs.filter(|job| matches!(job.inputs, Inputs::Random)) {
                        add(job.config, seed, Work::Block { block: job.block, cycles: job.cycles });
                    }
                }
            }
            What::RegisterFile => {
                let shapes = match self.shapes {
                    Some(Shapes::All) => suite::all_shapes(),
                    Some(Shapes::Pairwise) => suite::pairwise_shapes(),
                    None => Vec::new(),
                };
                let cycles = self.cycles(over);
                for seed in seeds() {
                    let whole = self.configs()?.into_iter().map(|config| suite::random("mrf", config, seed, cycles));
                    for job in whole.chain(suite::mrf(&shapes, seed, cycles)) {
                        add(job.config, seed, Work::Block { block: job.block, cycles });
                    }
                }
            }
        }
        Ok(cases)
    }

    fn cycles(&self, over: Overrides) -> u64 {
        over.cycles.or(self.cycles).unwrap_or(crate::COVERAGE_FROM_CYCLES)
    }

    /// The settings of each variant.
    fn settings(&self) -> Vec<Vec<String>> {
        self.times.iter().fold(self.variants.clone(), |all, further| {
            all.iter().flat_map(|settings| further.iter().map(|more| [&settings[..], more].concat())).collect()
        })
    }

    /// Each preset with each variant.
    fn configs(&self) -> Result<Vec<Config>, JobError> {
        let names = presets().map(|preset: &Preset| preset.name.to_owned()).collect();
        let mut configs = Vec::new();
        for preset in chosen(&self.presets, names, "preset")? {
            for settings in self.settings() {
                let config = Config::load(Start::Preset(&preset), &settings);
                configs.push(config.map_err(|e| JobError::Input(e.to_string()))?);
            }
        }
        Ok(configs)
    }
}

/// Those of the names that are wanted, in the order in which they are wanted.
fn chosen(wanted: &[String], known: Vec<String>, what: &str) -> Result<Vec<String>, JobError> {
    if wanted == [ALL] {
        return Ok(known);
    }
    match wanted.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(JobError::Input(format!("there is no {what} {name}; there are: {}", known.join(", ")))),
        None => Ok(wanted.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::label;

    use super::*;

    fn parse(text: &str) -> Result<RegressionPlan, JobError> {
        RegressionPlan::parse(&Project::find(), text, "plan.toml", "smoke", Overrides::default())
    }

    #[test]
    fn every_preset_is_covered_and_ids_are_distinct() {
        let project = Project::find();
        let file = project.root.join("tests/regress.toml");
        for tier in ["smoke", "nightly"] {
            let plan = RegressionPlan::load(&project, &file, tier, Overrides::default()).unwrap();
            let ids: BTreeSet<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
            assert_eq!(ids.len(), plan.cases.len());
            for preset in presets() {
                for what in ["golden", "kernel", "program"] {
                    let of_preset = format!("{}/{what}/", preset.name);
                    assert!(ids.iter().any(|id| id.starts_with(&of_preset)), "{tier}: {of_preset}");
                }
            }
            for block in gpurf_blocks::registry::blocks() {
                assert!(ids.iter().any(|id| id.contains(&format!("/block/{}/", block.name))), "{tier}: {}", block.name);
            }
        }
    }

    /// What passes at night has to be at least as sure as what passes in the whole suite.
    #[test]
    fn nightly_runs_every_block_job_of_the_whole_suite_long_enough_to_be_judged() {
        let project = Project::find();
        let file = project.root.join("tests/regress.toml");
        let plan = RegressionPlan::load(&project, &file, "nightly", Overrides::default()).unwrap();
        let cycles_of = |block: &str, config: &Config| {
            let same = |case: &&Case| case.block() == block && case.settings == config.settings();
            let cycles = |case: &Case| match case.work {
                Work::Block { cycles, .. } => Some(cycles),
                _ => None,
            };
            plan.cases.iter().filter(same).filter_map(cycles).max().unwrap_or(0)
        };
        let mut jobs = 0;
        for job in suite::whole(&project, 1, crate::COVERAGE_FROM_CYCLES) {
            if matches!(job.inputs, Inputs::Random) {
                let (cycles, place) =
                    (cycles_of(&job.block, &job.config), || format!("{} {}", job.block, label(&job.config)));
                assert!(cycles >= job.cycles, "{}: {cycles} cycles at night, {} in the suite", place(), job.cycles);
                assert!(suite::is_judged(&job.block, cycles), "{}: coverage is not judged", place());
                jobs += 1;
            }
        }
        assert!(jobs > 150, "{jobs}");
        // Further shapes are judged too.
        for case in &plan.cases {
            if let Work::Block { block, cycles } = &case.work {
                assert!(suite::is_judged(block, *cycles), "{}", case.id);
            }
        }
    }

    #[test]
    fn shards_partition_the_plan() {
        let plan = parse("[[smoke]]\nrun = \"register_file\"\nshapes = \"all\"\nlimit_s = 5\n").unwrap();
        assert!(plan.cases.len() > 50);
        for count in [1, 3, 7] {
            for place in 0..plan.cases.len() {
                assert_eq!((1..=count).filter(|&index| Shard { index, count }.has(place)).count(), 1);
            }
        }
        let other = parse("[[smoke]]\nrun = \"register_file\"\nshapes = \"all\"\nlimit_s = 6\n").unwrap();
        assert_eq!(plan.digest(), plan.clone().digest());
        assert_ne!(plan.digest(), other.digest());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert!(message("[[smoke]]\nrun = \"kernels\"\nlimit = 5\n").starts_with("plan.toml:3: unknown field `limit`"));
        assert!(message("[[long]]\nrun = \"kernels\"\nlimit_s = 5\n").contains("no tier smoke; there are: long"));
        let message = message("[[smoke]]\nrun = \"kernels\"\nlimit_s = 5\nnames = [\"saxpi\"]\n");
        assert!(
            message
                .contains("entry 1 of smoke: there is no test kernel saxpi; there are: DCT1, DCT2, DCT3, DCT4, DCT5"),
            "{message}"
        );
    }

    #[test]
    fn seeds_and_cycles_can_be_changed_for_all() {
        let text = "[[smoke]]\nrun = \"blocks\"\nnames = [\"ram_1rw\"]\nseeds = [1, 2]\nlimit_s = 5\n";
        let over = Overrides { cycles: Some(7), seed: 10 };
        let plan = RegressionPlan::parse(&Project::find(), text, "plan.toml", "smoke", over).unwrap();
        let seeds: Vec<u64> = plan.cases.iter().map(|case| case.seed).collect();
        assert_eq!(seeds, [11, 12]);
        assert_eq!(plan.cases[0].work, Work::Block { block: "ram_1rw".into(), cycles: 7 });
        assert_eq!(plan.cases[0].id, "baseline/block/ram_1rw/11");
    }
}
