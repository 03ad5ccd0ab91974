//! Which instruction issues, with which lanes and predicates.

gpurf_blocks::issue_blocks!(stimulus);
