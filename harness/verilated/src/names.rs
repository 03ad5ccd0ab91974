//! Names in the generated C++.

/// Class name of every generated model; the loader keeps the libraries apart.
pub(crate) const PREFIX: &str = "Vgpurf";

/// The variable in which the generated code stores the clock's last value.
pub(crate) const CLOCK_SEEN: &str = "__Vtrigrprev__TOP__clk_i";
