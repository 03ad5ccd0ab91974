//! PTX to annotated machine code.
