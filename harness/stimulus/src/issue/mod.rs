//! Which instruction issues, with which lanes and predicates.
