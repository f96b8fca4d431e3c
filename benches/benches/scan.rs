//! Measures splitting and scanning with each backend, over the same bytes.

use std::{env, fs, hint::black_box, path::Path, time::Duration};

use benches::{CpuTime, corpus, files_below};
use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use jsonl::{Backend, Scanner, Value};
use serde_json::value::RawValue;

/// The size of the input: more than the caches hold.
const SIZE: usize = 32 << 20;

/// The name of a measurement, and its function. The result depends on all bytes, so that no work is left
/// out.
type Way = (&'static str, fn(&[u8]) -> usize);

const WAYS: [Way; 10] = [
    ("newlines", |bytes| memchr::memchr_iter(b'\n', bytes).count()),
    ("split", |bytes| jsonl::lines(bytes).map(|line| line.content().len() & 1).sum()),
    ("utf8", |bytes| {
        jsonl::lines(bytes).filter(|l| std::str::from_utf8(l.content()).is_ok()).count()
    }),
    ("index portable", |bytes| scan(bytes, Backend::Portable, |_| 1)),
    ("index baseline", |bytes| scan(bytes, Backend::Baseline, |_| 1)),
    ("index best", |bytes| scan(bytes, Backend::Best, |_| 1)),
    ("index and members", |bytes| scan(bytes, Backend::Best, members)),
    ("simd-json tape", tape),
    ("serde_json RawValue", |bytes| {
        let is_json = |content: &[u8]| serde_json::from_slice::<&RawValue>(content).is_ok();
        jsonl::lines(bytes).filter(|line| is_json(line.content())).count()
    }),
    ("serde_json Value", |bytes| {
        let is_json = |content: &[u8]| serde_json::from_slice::<serde_json::Value>(content).is_ok();
        jsonl::lines(bytes).filter(|line| is_json(line.content())).count()
    }),
];

criterion_group! {
    name = benches;
    config = Criterion::default()
        .with_measurement(CpuTime)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    targets = bench
}
criterion_main!(benches);

fn bench(criterion: &mut Criterion<CpuTime>) {
    let mut corpora = vec![("synthetic", corpus(SIZE))];
    if let Some(folder) = env::var_os("CONVERT_DATA") {
        let mut bytes = Vec::new();
        for file in files_below(Path::new(&folder)) {
            bytes.extend(fs::read(file).unwrap_or_default());
        }
        if !bytes.is_empty() {
            corpora.push(("data", bytes));
        }
    }
    for (name, bytes) in corpora {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.sampling_mode(SamplingMode::Flat);
        for (way, run) in WAYS {
            group.bench_with_input(BenchmarkId::from_parameter(way), &bytes, |bencher, bytes| {
                bencher.iter(|| run(black_box(bytes)));
            });
        }
        group.finish();
    }
}

fn scan(bytes: &[u8], backend: Backend, visit: fn(Value<'_>) -> usize) -> usize {
    let mut scanner = Scanner::with_backend(backend);
    let mut n = 0;
    for line in jsonl::lines(bytes) {
        n += scanner.scan(&line).map_or(0, visit);
    }
    n
}

fn members(value: Value<'_>) -> usize {
    value.members().filter(|(key, member)| key.decode() == "type" && !member.is_null()).count()
}

fn tape(bytes: &[u8]) -> usize {
    let mut scratch = Vec::new();
    let mut buffers = simd_json::Buffers::new(1 << 20);
    let mut n = 0;
    for line in jsonl::lines(bytes) {
        scratch.clear();
        scratch.extend_from_slice(line.content());
        n += simd_json::to_tape_with_buffers(&mut scratch, &mut buffers)
            .map_or(0, |tape| tape.0.len());
    }
    n
}
