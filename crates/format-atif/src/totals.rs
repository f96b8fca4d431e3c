//! Compares the totals of a document with its steps.
//!
//! In: two steps with the metrics `{"prompt_tokens":3,..}` and `{"prompt_tokens":4,..}`, and the totals
//! `{"total_prompt_tokens":7,..,"total_steps":2}`. Out: they agree.

use core_model::Totals;
use jsonl::Value;

use crate::{Entry, Record};

/// The totals of tokens, and the member of a step's metrics that each adds up.
const SUMS: [(&str, &str); 3] = [
    ("total_prompt_tokens", "prompt_tokens"),
    ("total_completion_tokens", "completion_tokens"),
    ("total_cached_tokens", "cached_tokens"),
];

/// Creates the comparison of a document without steps.
pub(crate) fn create() -> Box<dyn Totals> {
    Box::<StepTotals>::default()
}

#[derive(Debug, Default)]
struct StepTotals {
    n_steps: u64,
    /// The sums of the steps' metrics; `None` until a step has metrics.
    sums: Option<[u64; SUMS.len()]>,
    written: Option<WrittenTotals>,
}

/// The member `final_metrics`.
#[derive(Debug, Default)]
struct WrittenTotals {
    n_steps: Option<u64>,
    sums: [Option<u64>; SUMS.len()],
    /// Whether it has a member that no writer of this crate makes.
    has_others: bool,
}

impl Totals for StepTotals {
    fn add_root(&mut self, root: Value<'_>) {
        let Some(totals) = root.get("final_metrics") else { return };
        let written = self.written.insert(WrittenTotals::default());
        for (key, value) in totals.members() {
            let place = SUMS.iter().zip(&mut written.sums).find(|((name, _), _)| key.is(name));
            match place {
                Some((_, sum)) => *sum = whole(value),
                None if key.is("total_steps") => written.n_steps = whole(value),
                None => written.has_others = true,
            }
        }
    }

    fn add_record(&mut self, record: Value<'_>) {
        let Entry::Step(step) = Record::decode(record).entry else { return };
        self.n_steps = self.n_steps.saturating_add(1);
        let Some(metrics) = step.metrics else { return };
        let sums = self.sums.get_or_insert_default();
        for ((_, name), sum) in SUMS.iter().zip(sums) {
            *sum = sum.saturating_add(metrics.get(name).and_then(whole).unwrap_or_default());
        }
    }

    fn agree(&self) -> bool {
        let Some(written) = &self.written else { return self.n_steps == 0 };
        let sums = self.sums.map_or([None; SUMS.len()], |sums| sums.map(Some));
        // The writer adds each kind of token alone, so that sums at the limit may differ.
        let is_full = self.sums.is_some_and(|sums| sums.contains(&u64::MAX));
        !written.has_others
            && written.n_steps == Some(self.n_steps)
            && (is_full || written.sums == sums)
    }
}

/// Returns a number without a fraction, also in the spelling `7.0`.
fn whole(value: Value<'_>) -> Option<u64> {
    let number = value.raw();
    let of_float = || number.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0);
    number.as_u64().or_else(|| of_float().map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_agree_with_the_steps() {
        let step = r#"{"step_id":1,"source":"agent","message":"","metrics":{"prompt_tokens":3,"completion_tokens":2,"cached_tokens":1}}"#;
        let plain = r#"{"step_id":2,"source":"user","message":"Hi"}"#;
        for (steps, totals, expected) in [
            (
                &[step, plain, step][..],
                r#""total_prompt_tokens":6,"total_completion_tokens":4,"total_cached_tokens":2,"total_steps":3"#,
                true,
            ),
            (
                &[step],
                r#""total_cached_tokens":1.0,"total_prompt_tokens":3.0,"total_completion_tokens":2e0,"total_steps":1"#,
                true,
            ),
            (
                &[step],
                r#""total_prompt_tokens":4,"total_completion_tokens":2,"total_cached_tokens":1,"total_steps":1"#,
                false,
            ),
            (
                &[step],
                r#""total_prompt_tokens":3,"total_completion_tokens":2,"total_steps":1"#,
                false,
            ),
            (
                &[step],
                r#""total_prompt_tokens":3,"total_completion_tokens":2,"total_cached_tokens":1,"total_steps":1,"total_cost_usd":0.5"#,
                false,
            ),
            (&[plain], r#""total_steps":1"#, true),
            (&[plain], r#""total_steps":2"#, false),
            (&[plain], r#""total_steps":-1"#, false),
        ] {
            let mut found = StepTotals::default();
            let root = format!(r#"{{"final_metrics":{{{totals}}}}}"#);
            let mut scanner = jsonl::Scanner::default();
            found.add_root(scanner.scan_slice(root.as_bytes(), 0).expect("JSON"));
            for step in steps {
                found.add_record(scanner.scan_slice(step.as_bytes(), 0).expect("JSON"));
            }
            assert_eq!(found.agree(), expected, "{totals}");
            found.written = None;
            assert!(!found.agree(), "{totals}");
        }
    }
}
