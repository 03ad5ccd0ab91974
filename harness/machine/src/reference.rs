//! The reference of the throttle: another SM whose non-owners never use memory (`docs/machine.md`, "Reference of the throttle").

use gpurf_blocks::config::{Config, Reference};
use gpurf_blocks::places;
use gpurf_blocks::share::SHARE_COUNT_EVENT;
use gpurf_sm::{SM_EVENT, SmIn, SmOut};

/// Where a field of an event word is: lowest bit and width.
fn place(fields: &'static [(&'static str, u32)], wanted: &str) -> (u32, u32) {
    let found = places(fields).find(|(name, _, _)| *name == wanted);
    let (_, low, bits) = found.expect("a field of the event word");
    (low, bits)
}

fn value(word: u64, (low, bits): (u32, u32)) -> u32 {
    (word >> low) as u32 & ((1 << bits) - 1)
}

/// What stands at the ports of the throttle's reference, and what an SM's own stalls are: those of each period of a launch.
#[derive(Clone)]
pub struct Periods {
    /// The ports are there.
    external: bool,
    /// Fields of the event words: two kinds of stalls, and the last cycle of a period.
    stalls: [(u32, u32); 2],
    last: (u32, u32),
    /// Stalls of the period in progress, and of those that have ended in this launch.
    count: u32,
    ended: Vec<u32>,
    /// Those of the reference.
    reference: Vec<u32>,
    /// The cycle before the next one is one of the launch before.
    begins: bool,
}

impl Periods {
    /// Of an SM that has just been reset. `None`: it has no throttle.
    pub fn new(config: &Config) -> Option<Self> {
        let shape = config.sm_shape();
        (shape.throttle != 0).then(|| Self {
            external: shape.has_external_reference(),
            stalls: ["stall_collector", "stall_other"].map(|name| place(SM_EVENT, name)),
            last: place(SHARE_COUNT_EVENT, "throttle_period"),
            count: 0,
            ended: Vec::new(),
            reference: Vec::new(),
            begins: true,
        })
    }

    /// A launch begins, whose reference has had so many stalls in each of its periods.
    pub fn begin(&mut self, reference: Vec<u32>) {
        self.ended.clear();
        (self.reference, self.begins) = (reference, true);
    }

    /// Stalls of the periods that have ended in this launch.
    pub fn ended(&self) -> &[u32] {
        &self.ended
    }

    /// Looks at the outputs of the cycle before, and drives the inputs of a cycle.
    pub fn drive(&mut self, previous: Option<&SmOut>, inputs: &mut SmIn) {
        if let Some(out) = previous.filter(|_| !std::mem::take(&mut self.begins)) {
            self.count += self.stalls.iter().map(|&field| value(out.event_o, field)).sum::<u32>();
            if value(out.share_event_o, self.last) == 1 {
                self.ended.push(std::mem::take(&mut self.count));
            }
        }
        if self.external {
            let stalls = self.reference.get(self.ended.len());
            inputs.throttle_reference_valid_i = stalls.is_some().into();
            inputs.throttle_reference_i = stalls.copied().unwrap_or(0);
        }
    }
}

/// The configuration of the reference of an SM; nothing where it has no external one.
pub fn held(config: &Config) -> Option<Config> {
    let mut held = *config;
    held.share.reference = Reference::Held;
    config.sm_shape().has_external_reference().then_some(held)
}
