//! Fetch, decode and the instructions that wait for issue.
