//! Accesses of kernels to their shared memory.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use common::{build, observed_in};
use gpurf_isa::Op;
use gpurf_isa::modifiers::Space;
use gpurf_kernels::{Case, KERNELS};
use gpurf_oracle::{Issue, Observer};

/// Loads from shared memory and stores to it that at least one lane executes.
#[derive(Default)]
struct Accesses(u64);

impl Observer for Accesses {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        let shared =
            matches!(at.instruction.op, Op::Ld { space: Space::Shared, .. } | Op::St { space: Space::Shared, .. });
        self.0 += u64::from(shared && at.mask != 0);
    }
}

/// The accesses in each launch of a manifest of heartwall.
fn accesses(manifest: &str) -> Vec<u64> {
    let kernel = KERNELS.iter().find(|kernel| kernel.name == "heartwall").expect("it is a test kernel");
    let case = Case::load(manifest).unwrap_or_else(|error| panic!("{error}"));
    let launches = observed_in(&case, &build(kernel, 64), |_| Accesses::default());
    launches.into_iter().map(|launch| launch.0).collect()
}

/// Section 3.4.1.6 of the sharing thesis: the condition that guards the shared memory is false in the whole run.
#[test]
fn heartwall_needs_no_shared_memory_for_the_first_picture() {
    assert_eq!(accesses("heartwall-fermi-16k"), [0]);
    // For the second one each of 4 x 4 warps compares at least the 6 x 6 pixels of the template.
    let both = accesses("heartwall");
    assert!(both[0] == 0 && both[1] > 16 * 36, "{both:?}");
}
