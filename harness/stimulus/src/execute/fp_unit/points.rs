//! Names of what a run of `fp_unit` may reach.

/// Points of an operation that rounds, in this order: rounded in each way, modifiers, operands, results.
macro_rules! rounded {
    ($name:literal) => {
        [
            concat!($name, " to nearest even"),
            concat!($name, " toward zero"),
            concat!($name, " down"),
            concat!($name, " up"),
            concat!($name, ": exact"),
            concat!($name, ": below the middle of two values"),
            concat!($name, ": in the middle, to the even value below"),
            concat!($name, ": in the middle, to the even value above"),
            concat!($name, ": above the middle of two values"),
            concat!($name, ": inexact, toward zero"),
            concat!($name, ": inexact, down"),
            concat!($name, ": inexact, up"),
        ]
    };
}

/// Points of an addition or multiplication.
macro_rules! arithmetic {
    ($name:literal) => {
        [
            concat!($name, ": flushing"),
            concat!($name, ": clamping"),
            concat!($name, ": NaN"),
            concat!($name, ": an infinite operand"),
            concat!($name, ": an invalid operation"),
            concat!($name, ": a subnormal operand"),
            concat!($name, ": a subnormal operand flushed"),
            concat!($name, ": zero"),
            concat!($name, ": subnormal result"),
            concat!($name, ": subnormal result, inexact"),
            concat!($name, ": rounded up to the smallest normal value"),
            concat!($name, ": subnormal result flushed"),
            concat!($name, ": too large, infinite"),
            concat!($name, ": too large, the largest finite value"),
            concat!($name, ": clamped to 0"),
            concat!($name, ": clamped to 1"),
            concat!($name, ": NaN clamped"),
            concat!($name, ": infinity clamped"),
        ]
    };
}

/// Points of an addition.
macro_rules! added {
    ($name:literal) => {
        [
            concat!($name, ": cancels, +0"),
            concat!($name, ": cancels down, -0"),
            concat!($name, ": nearly cancels"),
            concat!($name, ": zeros of one sign"),
            concat!($name, ": zeros of different signs"),
            concat!($name, ": x is zero"),
            concat!($name, ": y is zero"),
            concat!($name, ": y is the larger one"),
            concat!($name, ": exponents are equal, y is the larger one"),
            concat!($name, ": nothing of the lower one is left"),
            concat!($name, ": some of the lower one is left"),
            concat!($name, ": the sum is carried"),
        ]
    };
}

pub(super) const ROUNDED: [[&str; 12]; 5] =
    [rounded!("FADD"), rounded!("FMUL"), rounded!("FFMA"), rounded!("I2F"), rounded!("F2I or FRND")];
pub(super) const ARITHMETIC: [[&str; 18]; 3] = [arithmetic!("FADD"), arithmetic!("FMUL"), arithmetic!("FFMA")];
pub(super) const ADDED: [[&str; 12]; 2] = [added!("FADD"), added!("FFMA")];
pub(super) const COMPARISONS: [&str; 16] = [
    "FSETP eq",
    "FSETP ne",
    "FSETP lt",
    "FSETP le",
    "FSETP gt",
    "FSETP ge",
    "",
    "",
    "FSETP equ",
    "FSETP neu",
    "FSETP ltu",
    "FSETP leu",
    "FSETP gtu",
    "FSETP geu",
    "FSETP num",
    "FSETP nan",
];

/// What does not happen: a sum that is subnormal is exact.
pub(super) const NEVER: [&str; 2] =
    ["FADD: subnormal result, inexact", "FADD: rounded up to the smallest normal value"];

/// Points of the handshake and of sources.
pub(super) const GENERAL: [&str; 24] = [
    "an instruction in each stage",
    "every stage waits, instruction refused",
    "every stage waits, none offered",
    "stages 2 and 3 wait, stage 1 is empty",
    "stage 1 moves on behind a result that waits",
    "stage 2 moves on, nothing in front of it",
    "taken while a result waits",
    "taken as a result leaves",
    "taken by an idle unit",
    "the last result leaves",
    "reset with an instruction in each stage",
    "offered in reset",
    "no destination",
    "register only",
    "predicate only",
    "register and predicate",
    "no active lane",
    "some active lanes",
    "b is the constant",
    "b is neither register nor constant",
    "a is no register",
    "c is no register",
    "an opcode that never comes",
    "a destination that the operation does not have",
];

/// Points of single operations that no table has.
pub(super) const SPECIAL: [&str; 44] = [
    "FADD a inverted",
    "FADD b inverted",
    "FMUL inverted",
    "FFMA product inverted",
    "FFMA c inverted",
    "FMNMX minimum",
    "FMNMX maximum",
    "FMNMX of a number and NaN",
    "FMNMX of NaN and a number",
    "FMNMX of a number and NaN, NaN wanted",
    "FMNMX of two NaN",
    "FMNMX of +0 and -0",
    "FMNMX of equals",
    "FMNMX of negatives",
    "FMNMX of a subnormal, flushed",
    "FSETP and",
    "FSETP or",
    "FSETP xor",
    "FSETP of NaN and a number",
    "FSETP of a number and NaN",
    "FSETP of equals",
    "FSETP of +0 and -0",
    "FSETP of negatives",
    "FSETP of different signs",
    "FSETP of subnormals, flushed",
    "FSETP: a comparison that never comes",
    "FSETP: a combination that never comes",
    "I2F signed, negative",
    "I2F unsigned, above 2^31",
    "I2F of 0",
    "I2F of the smallest signed number",
    "F2I of NaN",
    "F2I signed, too large",
    "F2I signed, too small",
    "F2I unsigned, too large",
    "F2I unsigned of a negative number",
    "F2I of an infinity",
    "F2I of a subnormal, flushed, up",
    "FRND of NaN",
    "FRND of an infinity",
    "FRND of an integer of 2^23 or more",
    "FRND of a negative number to -0",
    "FRND clamped to 1",
    "FRND of a subnormal, flushed, up",
];
