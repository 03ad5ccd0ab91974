//! The machine's instruction set: instruction word, registers, encode, decode, disassemble, and the image of a compiled program.
