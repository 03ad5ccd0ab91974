//! Probes that the RTL lacks.
//!
//! A net with another name, width or number of elements is absent for the comparison, and a fault in it would not be detected. So a run that lacks
//! a probe fails before it begins, unless the user has allowed the probe to be absent.

use gpurf_blocks::Declaration;
use gpurf_lockstep::Events;
use gpurf_lockstep::Verdict;
use verilated::Library;

use super::{JobResult, LockstepJob, RtlSources, is_built_from};

/// Whether a name stands for a probe: it is the probe's whole name, or, inside another block, the end of its path.
pub fn is_called(probe: &str, name: &str) -> bool {
    probe.strip_suffix(name).is_some_and(|scope| scope.is_empty() || scope.ends_with('.'))
}

/// The result of a run that lacks probes that are not allowed to be absent; `None` if there are no such probes.
pub(crate) fn not_allowed(
    job: &LockstepJob,
    library: &Library,
    declaration: &Declaration,
    rtl: &RtlSources,
    build_s: f64,
) -> Option<JobResult> {
    let missing = missing(&job.block, library.absent_names(), rtl);
    if missing.is_empty() {
        return None;
    }
    Some(JobResult {
        job: job.clone(),
        result: Verdict::ProbesAbsent,
        cycles: 0,
        signals_compared: 0,
        report: words(declaration, &missing, replaces_part_of(&job.block, rtl)),
        probes_absent: missing,
        build_s,
        wall_s: 0.0,
        events: Events::new(),
        coverage: Vec::new(),
        toggles: None,
        comparisons: None,
        divergence: None,
        failing_cycle: None,
        failure_folder: None,
    })
}

/// A line for a report on probes that are not compared.
pub(crate) fn allowed(absent: &[String]) -> Option<String> {
    (!absent.is_empty()).then(|| format!("  {:<9} not in this RTL, so not compared: {}", "absent", absent.join(", ")))
}

/// Absent probes that are not allowed to be absent. The project's own RTL must have all probes.
fn missing(block: &str, absent: &[String], rtl: &RtlSources) -> Vec<String> {
    let allowed: &[String] = if replaces_part_of(block, rtl) { &rtl.allow_absent } else { &[] };
    absent.iter().filter(|probe| !allowed.iter().any(|name| is_called(probe, name))).cloned().collect()
}

fn replaces_part_of(block: &str, rtl: &RtlSources) -> bool {
    gpurf_sm::find(block).is_some_and(|block| rtl.overrides.iter().any(|(name, _)| is_built_from(block, name)))
}

fn words(declaration: &Declaration, missing: &[String], replaced: bool) -> String {
    let mut text = format!(
        "{}: this RTL does not have everything that is compared, so nothing was run; it lacks\n",
        declaration.block
    );
    for field in missing.iter().filter_map(|name| declaration.signal(name)).map(|signal| &signal.field) {
        let name = field.name;
        let bits = if field.bits == 1 { "1 bit".to_owned() } else { format!("{} bits", field.bits) };
        let size = if field.array { format!("{} elements of {bits}", field.count) } else { bits };
        text.push_str(&format!("  {:<9} {name} ({size}): {}\n", "absent", field.doc));
    }
    if replaced {
        let options: Vec<String> = missing.iter().map(|name| format!("--allow-absent {name}")).collect();
        text.push_str(&format!(
            "  {:<9} give each this name, width and number of elements, or run without comparing it: {}\n",
            "cure",
            options.join(" ")
        ));
    } else {
        text.push_str(&format!("  {:<9} the project's own RTL has to have every probe of its model\n", "cure"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_goes_by_its_name_or_the_end_of_its_path() {
        assert!(is_called("issued_q", "issued_q") && is_called("gen[0].u_scheduler.issued_q", "issued_q"));
        assert!(is_called("gen[0].u_scheduler.issued_q", "u_scheduler.issued_q"));
        assert!(!is_called("unissued_q", "issued_q") && !is_called("issued_q", "u_scheduler.issued_q"));
    }

    #[test]
    fn the_projects_own_rtl_may_lack_nothing() {
        let absent = ["turn_q".to_owned(), "full_q".to_owned()];
        let allow_absent = vec!["turn_q".to_owned()];
        let own = RtlSources { allow_absent: allow_absent.clone(), ..RtlSources::default() };
        assert_eq!(missing("mrf_arbiter", &absent, &own), absent);
        let overrides = vec![("mrf_arbiter".to_owned(), "a.sv".into())];
        let replaced = RtlSources { overrides, allow_absent, ..RtlSources::default() };
        assert_eq!(missing("mrf_arbiter", &absent, &replaced), ["full_q"]);
        assert_eq!(missing("mrf_allocator", &absent, &replaced), absent);
    }
}
