//! The functional oracle: runs machine code with no notion of time.
