//! Integer and single precision arithmetic, bit for bit as the hardware does it.
