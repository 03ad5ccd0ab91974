//! What a design of the register file adds to the stimulus of the operand stage, declared in the design's folder.

use std::any::Any;

use gpurf_blocks::config::Config;
use gpurf_blocks::operands::OperandStageIn;
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::{Cover, Coverage, Knob, Knobs, Unreached};

/// Inputs of an operand stage whose design has rules for them.
pub(crate) trait Surroundings: Send + Sized + 'static {
    /// Knobs of these inputs.
    type Knobs: Knobs + 'static;
    /// Situations of the design.
    type Cover: Cover<In = OperandStageIn>;
    /// Chance in a thousand that the warps have another number of rows in a cycle.
    const ROWS: u64;

    /// For an operand stage with this design. `None`: the stage has another design.
    fn new(shape: &SmShape) -> Option<Self>;

    /// Sets the inputs of the design. Those of every operand stage are set already: `rst_ni`, straps, `rows_i`, `dispatch_ready_i`, and random values
    /// of the inputs that only other designs read.
    fn drive(&mut self, rng: &mut Rng, knobs: &Self::Knobs, inputs: &mut OperandStageIn);

    /// Bits of inputs that cannot be both 0 and 1.
    fn unreached(shape: &SmShape) -> Vec<Unreached>;

    /// Points of every operand stage that a stage with this design does not reach.
    fn spared(shape: &SmShape) -> Vec<&'static str>;
}

/// Values of a design's knobs.
type Values = Box<dyn Any + Send>;
type Roll = fn(&mut dyn FnMut(&Knob) -> u32) -> Values;
type Drive = Box<dyn FnMut(&mut Rng, &dyn Any, &mut OperandStageIn) + Send>;

/// [`Surroundings`] of a design, as a line of a list.
pub(crate) struct StageDesign {
    rows: u64,
    roll: Roll,
    drive: fn(&SmShape) -> Option<Drive>,
    unreached: fn(&SmShape) -> Vec<Unreached>,
    spared: fn(&SmShape) -> Vec<&'static str>,
    coverage: fn(&Config) -> Coverage,
}

impl StageDesign {
    pub(crate) const fn of<S: Surroundings>() -> Self {
        Self {
            rows: S::ROWS,
            roll: |roll| Box::new(S::Knobs::roll(roll)),
            drive: |shape| {
                let mut inside = S::new(shape)?;
                Some(Box::new(move |rng, knobs, i| inside.drive(rng, knobs.downcast_ref().expect("its knobs"), i)))
            },
            unreached: S::unreached,
            spared: S::spared,
            coverage: Coverage::new::<S::Cover>,
        }
    }
}

/// The designs that have rules.
fn designs() -> impl Iterator<Item = &'static StageDesign> {
    crate::STAGES.iter().flatten()
}

/// Knobs of all designs.
pub(crate) struct DesignKnobs(Vec<Values>);

impl Knobs for DesignKnobs {
    fn roll(roll: &mut dyn FnMut(&Knob) -> u32) -> Self {
        Self(designs().map(|design| (design.roll)(roll)).collect())
    }
}

/// The driver of the design's inputs, if the design of an operand stage has rules for them.
pub(crate) struct DesignDriver {
    /// The design's place in the list.
    number: usize,
    design: &'static StageDesign,
    drive: Drive,
}

impl DesignDriver {
    pub(crate) fn new(shape: &SmShape) -> Option<Self> {
        designs().enumerate().find_map(|(number, design)| Some(Self { number, design, drive: (design.drive)(shape)? }))
    }

    pub(crate) fn rows(&self) -> u64 {
        self.design.rows
    }

    pub(crate) fn drive(&mut self, rng: &mut Rng, knobs: &DesignKnobs, inputs: &mut OperandStageIn) {
        (self.drive)(rng, &*knobs.0[self.number], inputs);
    }

    pub(crate) fn unreached(&self, shape: &SmShape) -> Vec<Unreached> {
        (self.design.unreached)(shape)
    }

    /// The points of every operand stage and of this design.
    pub(crate) fn coverage(&self, of_stage: Coverage, shape: &SmShape, config: &Config) -> Coverage {
        of_stage.without(&(self.design.spared)(shape)).and((self.design.coverage)(config))
    }
}
