//! Between issue and the units: the seam for register files.
