//! Options of the compiler that follow from a machine.

use gpurf_blocks::config::{Config, RegisterOrder, Relssp, Schedule, ShareLayout, Textures, WideAccesses};
use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_compiler::{AddressBits, Options, ScratchpadOptions, scratchpad};

/// The compiler's options for a configuration, with this many registers a thread at most.
pub fn compiler_options(config: &Config, registers: u16) -> Options {
    let orf = config.orf;
    let hierarchy = HierarchyOptions {
        partial_ranges: orf.partial_ranges,
        read_operands: orf.read_operands,
        forward_branches: orf.forward_branches,
        ..HierarchyOptions::of_machine(orf.entries, config.lrf.banks, config.sm.active_warps)
    };
    let schedule = match config.compiler.schedule {
        Schedule::None => gpurf_compiler::Schedule::None,
        Schedule::Tree => gpurf_compiler::Schedule::Tree,
        Schedule::Latency => gpurf_compiler::Schedule::Latency,
    };
    let register_order = match config.compiler.register_order {
        RegisterOrder::Allocated => gpurf_compiler::RegisterOrder::Allocated,
        RegisterOrder::FirstUse => gpurf_compiler::RegisterOrder::FirstUse,
    };
    let power_threshold = u8::try_from(config.compiler.power_threshold).expect("the configuration is valid");
    let scratchpad = ScratchpadOptions {
        private_bytes: u32::try_from(config.compiler.private_shared).expect("the configuration is valid"),
        layout: match config.compiler.share_layout {
            ShareLayout::Declared => scratchpad::Layout::Declared,
            ShareLayout::Minimal => scratchpad::Layout::Minimal,
        },
        relssp: match config.compiler.relssp {
            Relssp::None => scratchpad::Relssp::None,
            Relssp::Postdom => scratchpad::Relssp::Postdom,
            Relssp::Optimal => scratchpad::Relssp::Optimal,
        },
    };
    let stack_bytes = u32::try_from(config.compiler.stack_bytes).expect("the configuration is valid");
    let wide_accesses = match config.compiler.wide_accesses {
        WideAccesses::Strong => gpurf_compiler::WideAccesses::Strong,
        WideAccesses::All => gpurf_compiler::WideAccesses::All,
    };
    let address_bits = match config.compiler.address_bits {
        32 => AddressBits::Narrow,
        _ => AddressBits::Wide,
    };
    let textures = match config.compiler.textures {
        Textures::Unit => gpurf_compiler::Textures::Unit,
        Textures::Sequence => gpurf_compiler::Textures::Sequence,
    };
    Options {
        registers,
        schedule,
        register_order,
        hierarchy,
        power_threshold,
        stack_bytes,
        wide_accesses,
        address_bits,
        textures,
        scratchpad,
    }
}
