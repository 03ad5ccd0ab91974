//! Why an instruction is outside of the subset.

use crate::ptx::ast::{Instruction, OperandKind};

/// The reason, for an instruction that no group knows.
pub fn reason(i: &Instruction<'_>) -> String {
    let opcode = i.opcode.text;
    let has = |name: &str| i.modifiers.iter().any(|m| m.text == name);
    if i.modifiers.iter().any(|m| m.text == "f64") {
        return format!("`{opcode}` of .f64: double precision is outside of the subset");
    }
    match opcode {
        "call" => call(i),
        "tex" | "tld4" | "txq" | "istypep" => "textures are outside of the subset".into(),
        "suld" | "sust" | "sured" | "suq" => "surfaces are outside of the subset".into(),
        "wmma" | "mma" | "ldmatrix" | "stmatrix" | "movmatrix" | "wgmma" | "tcgen05" => {
            format!("`{opcode}`: tensor operations are outside of the subset")
        }
        "cp" | "mbarrier" | "elect" | "redux" | "griddepcontrol" | "setmaxnreg" | "multimem" | "st.async"
        | "getctarank" | "mapa" | "createpolicy" | "discard" | "applypriority" => {
            format!("`{opcode}` is not in sm_75, which the subset is made for: compile with -arch=sm_75")
        }
        "alloca" | "stacksave" | "stackrestore" => {
            format!("`{opcode}`: local memory whose size is known at run time only is outside of the subset")
        }
        "vset" | "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vmad" | "vadd2" | "vadd4" => {
            "the video instructions are outside of the subset".into()
        }
        _ if has("f16") || has("f16x2") || has("bf16") || has("bf16x2") => {
            format!("`{opcode}`: half precision is outside of the subset")
        }
        _ => format!("`{opcode}` is outside of the subset"),
    }
}

fn call(i: &Instruction<'_>) -> String {
    let callee = i.operands.iter().find_map(|o| match o.kind {
        OperandKind::Name { name, .. } => Some(name),
        _ => None,
    });
    match callee {
        Some("vprintf") => "printf is outside of the subset: there is nobody to print".into(),
        Some("__assertfail") => "assert is outside of the subset: compile with -DNDEBUG".into(),
        Some("malloc" | "free") => "memory that a kernel allocates is outside of the subset".into(),
        Some(name) if name.starts_with('%') => "calls through pointers are outside of the subset".into(),
        Some(name) => {
            format!(
                "calls are outside of the subset: `{name}` was not inlined (__forceinline__ helps, recursion does not)"
            )
        }
        None => "calls are outside of the subset".into(),
    }
}
