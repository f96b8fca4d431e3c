//! Tests that need a process of their own: one counts its allocations, the others measure the memory and
//! the time of programs that they start.

mod allocation;
mod memory;
mod trust;
#[path = "../all/shared/turns.rs"]
mod turns;
