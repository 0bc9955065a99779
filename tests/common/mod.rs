//! What several test programs ask.
#![allow(dead_code, reason = "each program uses a part")]

pub mod bundle;
pub mod schemas;

/// The examples, whose bundles are committed.
pub const EXAMPLES: &[&str] = &["atlas", "starter", "inference", "amd", "nvl72", "rke2", "eks", "talos"];
