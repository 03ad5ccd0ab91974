//! Why an instruction is outside of the subset.

use crate::diagnostic::Feature;
use crate::ptx::ast::{Instruction, OperandKind};

/// What is missing and the reason, for an instruction that no group knows.
pub fn reason(i: &Instruction<'_>) -> (Feature, String) {
    let opcode = i.opcode.text;
    let has = |name: &str| i.modifiers.iter().any(|m| m.text == name);
    if has("f64") {
        return (Feature::DoublePrecision, format!("`{opcode}` of .f64: double precision is outside of the subset"));
    }
    match opcode {
        "call" => call(i),
        "tex" | "tld4" | "txq" | "istypep" => (Feature::Textures, "textures are outside of the subset".into()),
        "suld" | "sust" | "sured" | "suq" => (Feature::Surfaces, "surfaces are outside of the subset".into()),
        "wmma" | "mma" | "ldmatrix" | "stmatrix" | "movmatrix" | "wgmma" | "tcgen05" => {
            (Feature::Tensor, format!("`{opcode}`: tensor operations are outside of the subset"))
        }
        "cp" | "mbarrier" | "elect" | "redux" | "griddepcontrol" | "setmaxnreg" | "multimem" | "st.async"
        | "getctarank" | "mapa" | "createpolicy" | "discard" | "applypriority" => {
            let why = "is not in sm_75, which the subset is made for: compile with -arch=sm_75";
            (Feature::Newer, format!("`{opcode}` {why}"))
        }
        "alloca" | "stacksave" | "stackrestore" => {
            let why = "local memory whose size is known at run time only is outside of the subset";
            (Feature::Malloc, format!("`{opcode}`: {why}"))
        }
        "vset" | "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vadd2" | "vadd4" => {
            (Feature::Video, "the video instructions are outside of the subset".into())
        }
        _ if has("f16") || has("f16x2") || has("bf16") || has("bf16x2") => {
            (Feature::HalfPrecision, format!("`{opcode}`: half precision is outside of the subset"))
        }
        _ => (Feature::Other, format!("`{opcode}` is outside of the subset")),
    }
}

fn call(i: &Instruction<'_>) -> (Feature, String) {
    let callee = i.operands.iter().find_map(|o| match o.kind {
        OperandKind::Name { name, .. } => Some(name),
        _ => None,
    });
    match callee {
        Some("vprintf") => (Feature::Printf, "printf is outside of the subset: there is nobody to print".into()),
        Some("__assertfail") => (Feature::Assert, "assert is outside of the subset: compile with -DNDEBUG".into()),
        Some("malloc" | "free") => (Feature::Malloc, "memory that a kernel allocates is outside of the subset".into()),
        Some(name) if name.starts_with('%') => {
            (Feature::FunctionPointers, "calls through pointers are outside of the subset".into())
        }
        Some(name) => {
            let why = "was not inlined (__forceinline__ helps, recursion does not)";
            (Feature::Calls, format!("calls are outside of the subset: `{name}` {why}"))
        }
        None => (Feature::Calls, "calls are outside of the subset".into()),
    }
}
