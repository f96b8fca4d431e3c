//! Tests that need a process of their own: one counts its allocations, others measure the memory and
//! the time of the programs that they start.

mod allocation;
mod memory;
mod trust;
