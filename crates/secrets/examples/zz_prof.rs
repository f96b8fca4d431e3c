use std::{env, fs, time::Instant};
fn main() {
    let mut lines_may = 0usize;
    let mut bytes_may = 0usize;
    let mut n = 0usize;
    let search = secrets::Search::new();
    let mut t = std::time::Duration::ZERO;
    for f in env::args().skip(1) {
        let b = fs::read(&f).unwrap();
        let s = Instant::now();
        for l in jsonl::lines(&b) {
            if search.may_find(l.bytes()) {
                lines_may += 1;
                bytes_may += l.bytes().len();
            }
        }
        t += s.elapsed();
        n += b.len();
    }
    println!(
        "may_find {:.2} ns/B, lines {} bytes {} of {}",
        t.as_secs_f64() * 1e9 / n as f64,
        lines_may,
        bytes_may,
        n
    );
}
