//! The tests of the program and its library, in one binary, because each binary costs a link.
//!
//! `cargo test -p sessionlog-convert --test all rules::` runs the tests of one module. Tests that count
//! the allocations of their process, or measure other processes, are in `alone`.

mod about;
mod accounts;
mod agreement;
mod anew;
mod carry;
mod carry_faults;
mod carry_names;
mod check;
mod client_limits;
mod clients;
mod commands;
mod compat;
mod completions;
mod content;
mod damage;
mod data;
mod document;
mod edits;
mod export;
mod facts;
mod fork;
mod hostile;
mod install;
mod large_parts;
mod laws;
mod lost_files;
mod matrix;
mod mutations;
mod order;
mod packed;
mod plans;
mod readers;
mod reading;
mod recipes;
mod redaction;
mod repair;
mod resume;
mod rules;
mod selection;
mod separators;
mod sessions;
mod shared;
mod sidecar_faults;
#[path = "../../../core-model/tests/shared/skipped.rs"]
mod skipped;
mod stores;
#[cfg(feature = "parquet")]
mod tables;
mod terminal;
mod tiny_lines;
mod told;
mod trajectories;
mod vectors;
