//! Coverage: counts of the situations that a run reached.

use std::marker::PhantomData;
use std::ops::Range;

use gpurf_blocks::config::Config;
use gpurf_blocks::{Block, Ports, Shape, view};

/// Situations of one block, recognised from its ports and probes. [`cover`](gpurf_stimulus_macros::cover) implements it.
pub trait Cover: Send + Sized + 'static {
    /// The block's inputs.
    type In: Ports<Shape: Shape>;
    /// The outputs of the block.
    type Out: Ports<Shape = <Self::In as Ports>::Shape>;
    /// The probes of the block.
    type Probe: Ports<Shape = <Self::In as Ports>::Shape>;

    /// Makes the cover for this shape, which is the shape of the configuration.
    fn new(shape: &<Self::In as Ports>::Shape, config: &Config) -> Self;

    /// The names of all points, by number; `None` where this shape or configuration does not have the situation.
    fn points(&self) -> Vec<Option<&'static str>>;

    /// Examines a cycle, and counts the points that it reaches.
    fn observe(&mut self, inputs: &Self::In, out: &Self::Out, probe: &Self::Probe, points: &mut Points);
}

/// A block whose ports include the ports that another block's cover examines.
pub(crate) trait Contains<C: Cover>: Block {
    /// Makes the cover of this part.
    fn cover(shape: &Self::Shape, config: &Config) -> C;

    /// Passes the part's ports and probes of a cycle to its cover.
    fn observe(cover: &mut C, inputs: &Self::In, out: &Self::Out, probe: &Self::Probe, points: &mut Points);
}

/// Adapts the cover of a part to the whole block `B`.
pub(crate) struct Within<B, C>(C, PhantomData<fn(B)>);

impl<B, C> Cover for Within<B, C>
where
    B: Contains<C>,
    C: Cover,
{
    type In = B::In;
    type Out = B::Out;
    type Probe = B::Probe;

    fn new(shape: &B::Shape, config: &Config) -> Self {
        Self(B::cover(shape, config), PhantomData)
    }

    fn points(&self) -> Vec<Option<&'static str>> {
        self.0.points()
    }

    fn observe(&mut self, inputs: &B::In, out: &B::Out, probe: &B::Probe, points: &mut Points) {
        B::observe(&mut self.0, inputs, out, probe, points);
    }
}

/// Counts how often each point was reached, by number.
pub struct Points(Vec<u64>);

impl Points {
    /// Counts a point if `holds` is true. `declared` are the numbers of the points that one `point!` declares, `index` selects one of them.
    #[inline]
    pub(crate) fn count(&mut self, declared: Range<usize>, index: usize, holds: bool) {
        if holds {
            self.0[declared][index] += 1;
        }
    }

    /// Counts each point once at most, however often it is reached.
    pub(crate) fn once(&mut self, observe: impl FnOnce(&mut Self)) {
        let mut reached = Self(vec![0; self.0.len()]);
        observe(&mut reached);
        for (count, reached) in self.0.iter_mut().zip(reached.0) {
            *count += reached.min(1);
        }
    }
}

/// Examines the inputs and the compared part of a cycle, and counts.
type Observe = Box<dyn FnMut(&[u8], &[u8], &mut Points) + Send>;

/// Counters of one block.
pub struct Coverage(Vec<Part>);

/// Counters of one [`Cover`].
struct Part {
    names: Vec<Option<&'static str>>,
    points: Points,
    observe: Observe,
}

impl Coverage {
    pub(crate) fn new<C: Cover>(config: &Config) -> Self {
        let mut cover = C::new(&Shape::of(config), config);
        let names = cover.points();
        let points = Points(vec![0; names.len()]);
        let probe_start = size_of::<C::Out>().next_multiple_of(64);
        let observe = move |inputs: &[u8], compared: &[u8], points: &mut Points| {
            let (out, probe) = compared.split_at(probe_start);
            cover.observe(view(inputs), view(out), view(probe), points);
        };
        Self(vec![Part { names, points, observe: Box::new(observe) }])
    }

    /// The counters of both coverages.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same coverage without these points.
    pub(crate) fn without(mut self, spared: &[&str]) -> Self {
        for name in self.0.iter_mut().flat_map(|part| &mut part.names) {
            *name = name.filter(|name| !spared.contains(name));
        }
        self
    }

    /// Counts a cycle.
    pub fn observe(&mut self, inputs: &[u8], compared: &[u8]) {
        for part in &mut self.0 {
            (part.observe)(inputs, compared, &mut part.points);
        }
    }

    /// Points and how often each was reached.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let all = self.0.iter().flat_map(|part| part.names.iter().zip(&part.points.0));
        all.filter_map(|(name, &count)| Some(((*name)?, count))).collect()
    }

    /// The point reached most rarely.
    pub fn least(&self) -> Option<(&'static str, u64)> {
        self.counts().into_iter().min_by_key(|p| p.1)
    }
}

/// The value of a field of a packed event word.
pub(crate) fn part(fields: &[(&str, u32)], word: u64, name: &str) -> u64 {
    let mut rest = fields.iter().rev().scan(0, |low, &(field, bits)| {
        let here = *low;
        *low += bits;
        Some((field, here, bits))
    });
    let (_, low, bits) = rest.find(|field| field.0 == name).expect("a field of the event word");
    word >> low & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::NoProbe;
    use gpurf_blocks::config::Config;
    use gpurf_blocks::mrf::MrfShape;
    use gpurf_blocks::ram::{Ram1rwIn, Ram1rwOut};

    use super::Coverage;
    use crate::{Points, cover};

    struct RamCover {
        banks: usize,
        small: bool,
    }

    #[cover]
    impl RamCover {
        const LANES: [&str; 2] = ["lane 0", "lane 1"];

        fn new(shape: &MrfShape, _: &Config) -> Self {
            Self { banks: shape.banks, small: shape.banks < 8 }
        }

        fn observe(&mut self, i: &Ram1rwIn, _: &Ram1rwOut, _: &NoProbe<MrfShape>, points: &mut Points) {
            point!("enabled", i.en_i == 1);
            point!("few banks", i.en_i == 1, given = self.small);
            if i.we_i == 1 {
                self.write(i, points);
            }
        }

        #[given(self.banks > 2)]
        fn write(&self, i: &Ram1rwIn, points: &mut Points) {
            for lane in 0..2 {
                point!("{LANES[lane]} is written", i.wmask_i >> lane & 1 == 1);
            }
            points.once(|points| {
                for _ in 0..2 {
                    point!("written", true, given = !self.small);
                }
            });
        }
    }

    /// Points and counts of three cycles: nothing, a read, a write of lane 1.
    fn counts(banks: usize) -> Vec<(&'static str, u64)> {
        let mut config = Config::default();
        config.mrf.banks = banks;
        let mut coverage = Coverage::new::<RamCover>(&config);
        for (en_i, we_i, wmask_i) in [(0, 0, 0), (1, 0, 0), (1, 1, 2)] {
            let mut inputs = gpurf_lockstep::Records::zeroed(size_of::<Ram1rwIn>().next_multiple_of(64), 1);
            let i = gpurf_blocks::view_mut::<Ram1rwIn>(inputs.get_mut(0));
            (i.en_i, i.we_i, i.wmask_i) = (en_i, we_i, wmask_i);
            let compared = gpurf_lockstep::Records::zeroed(256, 1);
            coverage.observe(inputs.get(0), compared.get(0));
        }
        coverage.counts()
    }

    #[test]
    fn a_point_is_required_where_it_is_given_and_counted_where_it_holds() {
        let lanes = [("lane 0 is written", 0), ("lane 1 is written", 1)];
        assert_eq!(counts(16), [[("enabled", 2)].as_slice(), &lanes, &[("written", 1)]].concat());
        assert_eq!(counts(4), [[("enabled", 2), ("few banks", 2)].as_slice(), &lanes].concat());
        assert_eq!(counts(2), [("enabled", 2), ("few banks", 2)]);
    }
}
