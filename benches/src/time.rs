//! Makes criterion measure CPU time, so that other programs on the machine do not count.

use std::{fs, time::Instant};

use criterion::{
    Throughput,
    measurement::{Measurement, ValueFormatter, WallTime},
};

/// Measures the CPU time of the current thread on Linux, and elapsed time on other systems.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuTime;

/// The start of a measurement.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// CPU time of the thread, in nanoseconds.
    Cpu(u64),
    /// A time of the clock.
    Clock(Instant),
}

impl Measurement for CpuTime {
    type Intermediate = Start;
    type Value = f64;

    fn start(&self) -> Start {
        nanoseconds().map_or_else(|| Start::Clock(Instant::now()), Start::Cpu)
    }

    fn end(&self, start: Start) -> f64 {
        match (start, nanoseconds()) {
            (Start::Cpu(start), Some(end)) => end.saturating_sub(start) as f64,
            (Start::Clock(start), _) => start.elapsed().as_nanos() as f64,
            (Start::Cpu(_), None) => 0.0,
        }
    }

    fn add(&self, one: &f64, other: &f64) -> f64 {
        one + other
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// Returns the CPU time of this thread; `None` if the system does not report it.
fn nanoseconds() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Formats numbers as criterion formats elapsed time.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(
        &self,
        typical: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        WallTime.formatter().scale_throughputs(typical, throughput, values)
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}
