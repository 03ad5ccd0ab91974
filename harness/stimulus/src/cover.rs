//! Counts of what a run reached.

use gpurf_blocks::config::Config;
use gpurf_blocks::{Ports, Shape, view};

/// Situations of one block, recognised from its ports and probes.
pub trait Cover: Send + Sized + 'static {
    /// The block's inputs.
    type In: Ports<Shape: Shape>;
    /// Its outputs.
    type Out: Ports<Shape = <Self::In as Ports>::Shape>;
    /// Its probes.
    type Probe: Ports<Shape = <Self::In as Ports>::Shape>;

    /// The situations that can come up in this shape.
    fn points(shape: &<Self::In as Ports>::Shape) -> Vec<&'static str>;

    /// The same for a configuration, where straps rule situations out.
    fn points_of(config: &Config) -> Vec<&'static str> {
        Self::points(&Shape::of(config))
    }

    /// Counters for this shape.
    fn new(shape: &<Self::In as Ports>::Shape) -> Self;

    /// Looks at a cycle; `hit` is called with the name of each situation that it is, as in `points`.
    fn observe(&mut self, inputs: &Self::In, out: &Self::Out, probe: &Self::Probe, hit: &mut dyn FnMut(&'static str));
}

/// Looks at the inputs and the compared part of a cycle, and counts.
type Observe = Box<dyn FnMut(&[u8], &[u8], &mut [(&'static str, u64)]) + Send>;

/// Counters of one block.
pub struct Coverage {
    counts: Vec<(&'static str, u64)>,
    observe: Observe,
}

impl Coverage {
    pub(crate) fn new<C: Cover>(config: &Config) -> Self {
        let shape = Shape::of(config);
        let counts = C::points_of(config).into_iter().map(|p| (p, 0)).collect();
        let mut cover = C::new(&shape);
        let probe_start = size_of::<C::Out>().next_multiple_of(64);
        let observe = move |inputs: &[u8], compared: &[u8], counts: &mut [(&'static str, u64)]| {
            let (out, probe) = compared.split_at(probe_start);
            cover.observe(view(inputs), view(out), view(probe), &mut |name| {
                // Names are the same constants, so most comparisons end at the pointer.
                if let Some(point) = counts.iter_mut().find(|p| std::ptr::eq(p.0, name) || p.0 == name) {
                    point.1 += 1;
                }
            });
        };
        Self { counts, observe: Box::new(observe) }
    }

    /// Counts a cycle.
    pub fn observe(&mut self, inputs: &[u8], compared: &[u8]) {
        (self.observe)(inputs, compared, &mut self.counts);
    }

    /// Points and how often each was reached.
    pub fn counts(&self) -> &[(&'static str, u64)] {
        &self.counts
    }

    /// The point reached most rarely.
    pub fn least(&self) -> Option<(&'static str, u64)> {
        self.counts.iter().copied().min_by_key(|p| p.1)
    }
}

/// A field of a packed event word.
pub(crate) fn part(fields: &[(&str, u32)], word: u64, name: &str) -> u64 {
    let mut rest = fields.iter().rev().scan(0, |low, &(field, bits)| {
        let here = *low;
        *low += bits;
        Some((field, here, bits))
    });
    let (_, low, bits) = rest.find(|field| field.0 == name).expect("a field of the event word");
    word >> low & ((1 << bits) - 1)
}
