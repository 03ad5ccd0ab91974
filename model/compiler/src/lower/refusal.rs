//! Reasons why an instruction is outside of the subset.

use super::call_graph::Call;
use crate::diagnostic::Feature;
use crate::ptx::ast::Instruction;

/// Why a grid cannot be synchronised by a call.
const GRID_SYNCHRONISATION: &str = "synchronisation of a whole grid by a function of the device's runtime is outside of the subset: CUDA 13 \
                                    compiles this_grid().sync() without such a call";

/// Why a kernel cannot launch another one.
pub const DYNAMIC_PARALLELISM: &str = "a launch from a kernel (dynamic parallelism) is outside of the subset: only the host launches kernels; \
                                       let the manifest launch this one ([[launch]], while_nonzero)";

/// Whether a function of CUDA's device runtime launches kernels from kernels.
fn launches_kernels(name: &str) -> bool {
    ["__cudaCDP", "cudaLaunchDevice", "cudaGetParameterBuffer"].iter().any(|start| name.starts_with(start))
}

/// Whether an instruction is `st.async` or `red.async`.
pub fn is_asynchronous(i: &Instruction<'_>) -> bool {
    matches!(i.opcode.text, "st" | "red") && i.modifiers.iter().any(|m| m.text == "async")
}

/// The missing feature and the reason, for an instruction that no group of the lowering accepts.
pub fn reason(i: &Instruction<'_>) -> (Feature, String) {
    let opcode = i.opcode.text;
    let has = |name: &str| i.modifiers.iter().any(|m| m.text == name);
    if has("f64") {
        return (Feature::DoublePrecision, format!("`{opcode}` in double precision is outside of the subset"));
    }
    match opcode {
        "call" => call(i),
        "istypep" => (Feature::Textures, "references to textures and surfaces are outside of the subset".into()),
        "sured" => (Feature::Surfaces, "reductions in surfaces (`sured`) are outside of the subset".into()),
        "wmma" | "mma" | "ldmatrix" | "stmatrix" | "movmatrix" | "wgmma" | "tcgen05" => {
            (Feature::Tensor, format!("`{opcode}`: tensor operations are outside of the subset"))
        }
        "cp" | "mbarrier" | "elect" | "redux" | "griddepcontrol" | "setmaxnreg" | "multimem" | "getctarank"
        | "mapa" | "createpolicy" | "discard" | "applypriority" => newer(opcode),
        _ if is_asynchronous(i) => newer(&format!("{opcode}.async")),
        "alloca" | "stacksave" | "stackrestore" => {
            let why = "local memory whose size is known at run time only is outside of the subset";
            (Feature::Malloc, format!("`{opcode}`: {why}"))
        }
        _ if is_video(opcode) => (Feature::Video, "the scalar video instructions are outside of the subset".into()),
        _ if has("f16") || has("f16x2") => {
            (Feature::HalfPrecision, format!("`{opcode}` in half precision is outside of the subset"))
        }
        _ if has("bf16") || has("bf16x2") => {
            (Feature::HalfPrecision, format!("`{opcode}`: bfloat16 is outside of the subset"))
        }
        _ => (Feature::Other, format!("`{opcode}` is outside of the subset")),
    }
}

/// Whether this is a scalar video instruction.
fn is_video(opcode: &str) -> bool {
    matches!(opcode, "vset" | "vadd" | "vsub" | "vavrg" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad")
}

fn newer(name: &str) -> (Feature, String) {
    (Feature::Newer, format!("`{name}` is not in sm_75, which the subset is made for: compile with -arch=sm_75"))
}

fn call(i: &Instruction<'_>) -> (Feature, String) {
    match Call::of(i).map(|call| call.callee) {
        // Calls in the form that nvcc produces, in a block of their own, do not reach this point.
        Some("vprintf") => (Feature::Printf, "this call of printf is not written as nvcc writes it".into()),
        Some("__assertfail") => (Feature::Assert, "this call of assert is not written as nvcc writes it".into()),
        Some(name @ ("malloc" | "free")) => {
            let why = "the device has no heap: use an array of a fixed size, or pass memory to the kernel of which \
                       each thread takes a part (in a manifest, a [[buffer]])";
            (Feature::Malloc, format!("{name} in a kernel is outside of the subset: {why}"))
        }
        Some(name) if name.starts_with("cudaCG") => (Feature::GridSynchronisation, GRID_SYNCHRONISATION.into()),
        Some(name) if launches_kernels(name) => (Feature::DynamicParallelism, DYNAMIC_PARALLELISM.into()),
        Some(name) => {
            let why = "has no body in this file: link the modules before (nvcc without -rdc=true)";
            (Feature::Calls, format!("`{name}` {why}"))
        }
        None => (Feature::Calls, "this call is not written as nvcc writes it".into()),
    }
}
