# shellcheck shell=bash
# Tools that the sourcing script starts from here on allocate memory with jemalloc if this system has it: Verilator takes 40 % less time, Yosys 20 %
# less (docs/performance.md, "Builds"). harness/verilated/src/tool.rs does the same for tools that gpurf starts. If the loader does not find the
# library, it prints a message on standard error.
if [ -z "${LD_PRELOAD:-}" ] && [ -z "$(LD_PRELOAD=libjemalloc.so.2 env true 2>&1)" ]; then export LD_PRELOAD=libjemalloc.so.2; fi
