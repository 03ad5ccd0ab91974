//! Names in the generated C++.

/// Class name of every generated model; libraries are kept apart by the loader.
pub(crate) const PREFIX: &str = "Vgpurf";

/// Where the generated code remembers the clock's last value.
pub(crate) const CLOCK_SEEN: &str = "__Vtrigrprev__TOP__clk_i";
