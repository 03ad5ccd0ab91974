//! The plan of a regression: the list of its cases, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use gpurf_blocks::config::{Config, Preset, Start, presets};
use gpurf_stimulus::program::themes;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::case::{Case, Named, Work};
use crate::{Inputs, JobError, Project, golden, suite};

/// Stands for all existing items.
const ALL: &str = "*";

/// Allowed numbers of programs for each configuration, as in `gpurf cosim --programs`.
const COUNT: RangeInclusive<u64> = 1..=1_000_000;
/// Allowed numbers of cycles for each run of a block: the maximum takes months, and can be multiplied.
const CYCLES: RangeInclusive<u64> = 1..=1_000_000_000_000;
/// Allowed numbers of seconds for a case: up to a year.
const LIMIT_S: RangeInclusive<u64> = 1..=31_536_000;

/// A plan's file: tiers by name, each a list of entries.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Document {
    tiers: BTreeMap<String, Vec<Entry>>,
}

/// An entry: a product of presets, variants, seeds and what is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    run: What,
    /// Presets by name; by default all of them.
    #[serde(default = "all")]
    presets: Vec<String>,
    /// Settings on top of the preset, one list for each variant.
    #[serde(default = "plain")]
    variants: Vec<Vec<String>>,
    /// Further lists of variants: each variant of one list is combined with each variant of the others.
    #[serde(default)]
    times: Vec<Vec<Vec<String>>>,
    /// Kernels or blocks, by name.
    #[serde(default = "all")]
    names: Vec<String>,
    /// Sizes of the register file; for blocks, whether they are run in all shapes and policies.
    shapes: Option<Shapes>,
    #[serde(default = "first_seed")]
    seeds: Vec<u64>,
    /// Programs for each configuration, with consecutive seeds from the entry's first seed on.
    count: Option<u64>,
    /// Cycles of each run of a block.
    cycles: Option<u64>,
    /// Time limit of a case in seconds, without building. Every entry must have it.
    limit_s: Option<u64>,
}

/// The keys of an entry, whatever their values.
type Keys = BTreeMap<String, IgnoredAny>;

/// What an entry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Goldens,
    Kernels,
    Programs,
    Blocks,
    RegisterFile,
}

impl What {
    /// The keys that entries of this kind accept besides `run` and `limit_s`.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Goldens => &["presets", "names"],
            Self::Kernels => &["presets", "variants", "times", "names", "seeds"],
            Self::Programs => &["presets", "variants", "times", "seeds", "count"],
            Self::Blocks => &["names", "seeds", "shapes", "cycles"],
            Self::RegisterFile => &["presets", "variants", "times", "seeds", "shapes", "cycles"],
        }
    }
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

/// Changes of a plan by the command line.
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
    /// The index of the part.
    pub index: usize,
    /// The number of parts.
    pub count: usize,
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Whether the part has the case at this index. Neighbouring cases belong to different shards, so each shard gets a mixture.
    pub fn has(self, place: usize) -> bool {
        place % self.count == self.index - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
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
    /// Reads a tier from a plan's file.
    ///
    /// # Errors
    /// The error in the plan, and its location.
    pub fn load(project: &Project, file: &Path, tier: &str, overrides: Overrides) -> Result<Self, JobError> {
        let text = gpurf_launch::read_text(file).map_err(|e| JobError::Input(format!("{}: {e}", file.display())))?;
        Self::parse(project, &text, &file.display().to_string(), tier, overrides)
    }

    /// As [`load`](Self::load), from a text that messages call `name`.
    ///
    /// # Errors
    /// The error in the plan, and its location.
    pub fn parse(project: &Project, text: &str, name: &str, tier: &str, over: Overrides) -> Result<Self, JobError> {
        let wrong = |e: toml::de::Error| {
            let line = e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            JobError::Input(format!("{name}:{line}: {}", e.message()))
        };
        let document: Document = toml::from_str(text).map_err(wrong)?;
        // The same text without defaults: only the keys that it contains.
        let mut given: BTreeMap<String, Vec<Keys>> = toml::from_str(text).map_err(wrong)?;
        let (Some(entries), Some(given)) = (document.tiers.get(tier), given.remove(tier)) else {
            let known: Vec<&str> = document.tiers.keys().map(String::as_str).collect();
            let why = match known[..] {
                [] => "the plan has no tiers".to_owned(),
                _ => format!("there is no tier {tier}; there are: {}", known.join(", ")),
            };
            return Err(JobError::Input(format!("{name}: {why}")));
        };
        if entries.is_empty() {
            return Err(JobError::Input(format!("{name}: tier {tier} has no entries")));
        }
        let (mut cases, mut seen) = (Vec::new(), BTreeSet::new());
        for (number, (entry, given)) in entries.iter().zip(&given).enumerate() {
            let wrong = |e: JobError| JobError::Input(format!("{name}: entry {} of {tier}: {e}", number + 1));
            let made = entry.check_keys(given).and_then(|()| entry.cases(project, over)).map_err(wrong)?;
            cases.extend(made.into_iter().filter(|case| seen.insert(case.id.clone())));
        }
        Ok(Self { tier: tier.to_owned(), cases })
    }

    /// A digest of all cases: plans with equal digests are equal.
    pub fn digest(&self) -> String {
        let text = serde_json::to_string(&self.cases).expect("words and numbers are JSON");
        format!("{:016x}", XxHash3_64::oneshot(text.as_bytes()))
    }
}

#[cfg(test)]
impl RegressionPlan {
    /// The goldens of a kernel.
    pub fn of_saxpy() -> Self {
        let text = "[[smoke]]\nrun = \"goldens\"\nnames = [\"saxpy\"]\nlimit_s = 5\n";
        Self::parse(&Project::find(), text, "plan.toml", "smoke", Overrides::default()).expect("a plan")
    }
}

impl Entry {
    /// Checks that the entry's kind of run accepts all of its keys.
    fn check_keys(&self, given: &Keys) -> Result<(), JobError> {
        let takes = [self.run.takes(), &["limit_s"]].concat();
        let Some(key) = given.keys().find(|key| *key != "run" && !takes.contains(&key.as_str())) else {
            return Ok(());
        };
        let run = serde_json::to_string(&self.run).expect("a word is JSON");
        Err(JobError::Input(format!("run = {run} does not take {key}; it takes: {}", takes.join(", "))))
    }

    fn cases(&self, project: &Project, over: Overrides) -> Result<Vec<Case>, JobError> {
        let missing = || JobError::Input("it needs limit_s, the seconds that a case may take".into());
        let limit_s = within("limit_s", self.limit_s.ok_or_else(missing)?, LIMIT_S)?;
        let mut cases = Vec::new();
        let seeds = || self.seeds.iter().map(|seed| seed.wrapping_add(over.seed));
        let mut last = None;
        let mut add = |config: Config, seed: u64, work: Work| {
            let named = Named::of(&config, last.take());
            cases.push(Case::named(&named, seed, work, limit_s));
            last = Some(named);
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
                let &[first] = &seeds().collect::<Vec<_>>()[..] else {
                    return Err(JobError::Input(
                        "programs take one seed, that of the first; count is their number".into(),
                    ));
                };
                for config in self.configs()? {
                    let themes = themes::of(&config);
                    let count = within("count", self.count.unwrap_or(themes.clone().count() as u64), COUNT)?;
                    for (number, theme) in (0..count).zip(themes.cycle()) {
                        let theme = theme.name.to_owned();
                        add(config, first.wrapping_add(number), Work::Program { theme });
                    }
                }
            }
            What::Blocks => {
                let known = suite::leaf_blocks(1, 1).into_iter().map(|job| job.block).collect::<BTreeSet<_>>();
                let names = chosen(&self.names, known.into_iter().collect(), "block")?;
                let cycles = self.cycles(over)?;
                for seed in seeds() {
                    let mut jobs = suite::leaf_blocks(seed, cycles);
                    match self.shapes {
                        Some(Shapes::All) => jobs.extend(suite::further_shapes(seed, cycles)),
                        Some(Shapes::Pairwise) => {
                            return Err(JobError::Input("shapes of blocks are \"all\", or left out".into()));
                        }
                        None => {}
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
                let cycles = self.cycles(over)?;
                for seed in seeds() {
                    let whole = self.configs()?.into_iter().map(|config| suite::random("mrf", config, seed, cycles));
                    for job in whole.chain(suite::mrf(&shapes, seed, cycles)) {
                        add(job.config, seed, Work::Block { block: job.block, cycles });
                    }
                }
            }
        }
        if cases.is_empty() {
            return Err(JobError::Input(format!("it selects no case{}", self.why_none())));
        }
        Ok(cases)
    }

    /// The list because of which no case remains.
    fn why_none(&self) -> String {
        let lists = [
            ("presets", self.presets.is_empty()),
            ("variants", self.variants.is_empty()),
            ("times", self.times.iter().any(Vec::is_empty)),
            ("names", self.names.is_empty()),
            ("seeds", self.seeds.is_empty()),
        ];
        let empty = lists.iter().find(|(_, empty)| *empty);
        empty.map_or_else(String::new, |(key, _)| format!(": {key} is empty"))
    }

    fn cycles(&self, over: Overrides) -> Result<u64, JobError> {
        within("cycles", over.cycles.or(self.cycles).unwrap_or(crate::COVERAGE_FROM_CYCLES), CYCLES)
    }

    /// The settings of each variant.
    fn settings(&self) -> Vec<Vec<String>> {
        self.times.iter().fold(self.variants.clone(), |all, further| {
            all.iter().flat_map(|settings| further.iter().map(|more| [&settings[..], more].concat())).collect()
        })
    }

    /// The configurations: each preset with each variant.
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

/// Checks that a number is in a range.
fn within(key: &str, value: u64, range: RangeInclusive<u64>) -> Result<u64, JobError> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(JobError::Input(format!("{key} = {value}: it has to be from {} to {}", range.start(), range.end())))
}

/// The wanted names among the known ones, in the order of `wanted`.
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

    /// The nightly run has to check at least as thoroughly as the whole suite.
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
    fn every_plan_of_the_project_loads() {
        let project = Project::find();
        for file in ["tests/regress.toml", "examples/own/plan.toml"].map(|file| project.root.join(file)) {
            let tiers: toml::Table = toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            for tier in tiers.keys() {
                let plan = RegressionPlan::load(&project, &file, tier, Overrides::default()).unwrap();
                assert!(!plan.cases.is_empty(), "{tier}");
            }
        }
    }

    /// The message about an entry, after its place.
    #[track_caller]
    fn refused(entry: &str) -> String {
        let message = parse(&format!("[[smoke]]\n{entry}")).expect_err(entry).to_string();
        let place = "plan.toml: entry 1 of smoke: ";
        message.strip_prefix(place).unwrap_or_else(|| panic!("{entry}: {message}")).to_owned()
    }

    #[test]
    fn a_plan_that_runs_nothing_is_refused() {
        assert_eq!(parse("smoke = []").unwrap_err().to_string(), "plan.toml: tier smoke has no entries");
        assert_eq!(parse("# smoke").unwrap_err().to_string(), "plan.toml: the plan has no tiers");
        for (entry, list) in [
            ("run = \"goldens\"\nnames = []", "names"),
            ("run = \"goldens\"\npresets = []", "presets"),
            ("run = \"kernels\"\nseeds = []", "seeds"),
            ("run = \"kernels\"\nvariants = []", "variants"),
            ("run = \"kernels\"\ntimes = [[]]", "times"),
            ("run = \"programs\"\npresets = []", "presets"),
            ("run = \"blocks\"\nnames = []", "names"),
            ("run = \"register_file\"\nseeds = []", "seeds"),
        ] {
            assert_eq!(refused(&format!("{entry}\nlimit_s = 5")), format!("it selects no case: {list} is empty"));
        }
    }

    #[test]
    fn keys_that_have_no_effect_are_refused() {
        let keys = [
            ("presets", "[\"baseline\"]"),
            ("variants", "[[]]"),
            ("times", "[[[]]]"),
            ("names", "[\"*\"]"),
            ("seeds", "[18446744073709551615]"),
            ("count", "1"),
            ("shapes", "\"all\""),
            ("cycles", "1000"),
        ];
        let effects = |key: &str, run: &str| match key {
            "presets" => run != "blocks",
            "variants" | "times" => !matches!(run, "goldens" | "blocks"),
            "names" => matches!(run, "goldens" | "kernels" | "blocks"),
            "seeds" => run != "goldens",
            "count" => run == "programs",
            _ => matches!(run, "blocks" | "register_file"),
        };
        for run in ["goldens", "kernels", "programs", "blocks", "register_file"] {
            for (key, value) in keys {
                let entry = format!("run = \"{run}\"\nlimit_s = 5\n{key} = {value}");
                if effects(key, run) {
                    parse(&format!("[[smoke]]\n{entry}")).unwrap();
                } else {
                    let message = refused(&entry);
                    let words = format!("run = \"{run}\" does not take {key}; it takes: ");
                    assert!(message.starts_with(&words) && message.ends_with(", limit_s"), "{message}");
                }
            }
        }
        assert!(refused("run = \"blocks\"\nshapes = \"pairwise\"\nlimit_s = 5").contains("shapes of blocks are"));
        assert!(refused("run = \"programs\"\nseeds = [1, 2]\nlimit_s = 5").contains("programs take one seed"));
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        assert_eq!(refused("run = \"goldens\""), "it needs limit_s, the seconds that a case may take");
        for (run, key, most) in [
            ("goldens", "limit_s", 31_536_000u64),
            ("programs", "count", 1_000_000),
            ("blocks", "cycles", 1_000_000_000_000),
            ("register_file", "cycles", 1_000_000_000_000),
        ] {
            let limit = if key == "limit_s" { "" } else { "\nlimit_s = 5" };
            for value in [0, most + 1, u64::MAX] {
                let message = refused(&format!("run = \"{run}\"\n{key} = {value}{limit}"));
                assert_eq!(message, format!("{key} = {value}: it has to be from 1 to {most}"));
            }
        }
        let over = Overrides { cycles: Some(u64::MAX), seed: 0 };
        let text = "[[smoke]]\nrun = \"blocks\"\nlimit_s = 5\n";
        let message = RegressionPlan::parse(&Project::find(), text, "plan.toml", "smoke", over).unwrap_err();
        assert!(message.to_string().contains("cycles = 18446744073709551615: it has to be"), "{message}");
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
