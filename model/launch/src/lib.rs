//! Launch manifests: buffers, launches, checks.
