//! The reference of the throttle: another SM whose non-owners never use memory (`docs/machine.md`, "Reference of the throttle").

use gpurf_blocks::config::{Config, Reference};
use gpurf_blocks::places;
use gpurf_blocks::share::SHARE_COUNT_EVENT;
use gpurf_sm::{SM_EVENT, SmIn, SmOut};

/// Position of a field in an event word: lowest bit and width.
fn place(fields: &'static [(&'static str, u32)], wanted: &str) -> (u32, u32) {
    let found = places(fields).find(|(name, _, _)| *name == wanted);
    let (_, low, bits) = found.expect("a field of the event word");
    (low, bits)
}

fn value(word: u64, (low, bits): (u32, u32)) -> u32 {
    (word >> low) as u32 & ((1 << bits) - 1)
}

/// Drives the ports of the throttle's reference, and counts the SM's own stalls in each period of a launch.
#[derive(Clone)]
pub struct Periods {
    /// The SM has these ports.
    external: bool,
    /// Fields of the event words: two kinds of stalls, and the last cycle of a period.
    stalls: [(u32, u32); 2],
    last: (u32, u32),
    /// Stalls of the period in progress, and of the periods that have ended in this launch.
    count: u32,
    ended: Vec<u32>,
    /// Stalls of the reference in each period.
    reference: Vec<u32>,
    /// The previous cycle belongs to the previous launch.
    begins: bool,
}

impl Periods {
    /// The state for an SM that has just been reset. `None`: it has no throttle.
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

    /// Called when a launch begins; `reference`: the stalls of the reference in each period of this launch.
    pub fn begin(&mut self, reference: Vec<u32>) {
        self.ended.clear();
        (self.reference, self.begins) = (reference, true);
    }

    /// Stalls of the periods that have ended in this launch.
    pub fn ended(&self) -> &[u32] {
        &self.ended
    }

    /// Reads the outputs of the previous cycle, and drives the inputs of a cycle.
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

/// The configuration of the reference of an SM; `None` if it has no external reference.
pub fn held(config: &Config) -> Option<Config> {
    let mut held = *config;
    held.share.reference = Reference::Held;
    config.sm_shape().has_external_reference().then_some(held)
}
