//! What the tests of small modules share.

/// A block of which only the declaration is wanted: its ports, probes and parameters. Its twin does nothing.
macro_rules! declared {
    ($block:ident = $name:literal, parameters $parameters:expr, $shape:ty: $in:ty => $out:ty, $probe:ty) => {
        #[derive(Clone)]
        struct $block;

        impl gpurf_blocks::Block for $block {
            const NAME: &'static str = $name;
            const PARAMETERS: &'static [&'static str] = &$parameters;
            type Shape = $shape;
            type In = $in;
            type Out = $out;
            type Probe = $probe;
            fn new(_: &$shape) -> Self {
                Self
            }
            fn early(&self, _: &mut $out) {}
            fn late(&mut self, _: &$in, _: &mut $out) {}
            fn clock(&mut self, _: &$in, _: &$out) {}
            fn probe(&self, _: &$in, _: &$out, _: &mut $probe) {}
        }
    };
}
