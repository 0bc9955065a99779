//! What several test programs ask.
#![allow(dead_code, reason = "each program uses a part")]

pub mod bundle;
pub mod schemas;
