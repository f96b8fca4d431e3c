//! Prices of models by day.
//!
//! In: the model `claude-opus-4-5-20251101` and its tokens. Out: the cost in US dollars, by the line
//! of `claude-opus-4-5` in [`prices.tsv`](https://docs.rs/crate/sessionlog-sessions/latest/source/src/usage/prices.tsv).

use std::collections::HashMap;

use core_model::{Tokens, named_time};

/// The table of this program.
const TABLE: &str = include_str!("prices.tsv");

/// The price of tokens that stay in a cache for an hour, as a multiple of the price for five
/// minutes. Anthropic asks for 2 and for 1.25 times the price of input.
const HOUR: f64 = 1.6;

/// Prices of models by day.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// The prices of each model, sorted by their first moment.
    of_model: HashMap<String, Vec<Dated>>,
}

/// Prices in US dollars for a million tokens, from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dated {
    from: i64,
    prices: Four,
    /// A number of tokens, and the prices of a request that sends more than them.
    long: Option<(u64, Four)>,
}

/// The prices of input, output, cache write and cache read in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Four {
    input: f64,
    output: f64,
    cache_write: f64,
    cache_read: f64,
}

impl Four {
    /// Reads four cells; `None` if there are more or fewer, or if one is no price.
    fn parse(cells: &[&str]) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|it: &f64| *it >= 0.0);
        let [input, output, cache_write, cache_read] = *cells else { return None };
        Some(Self {
            input: number(input)?,
            output: number(output)?,
            cache_write: number(cache_write)?,
            cache_read: number(cache_read)?,
        })
    }
}

/// A line of a table of prices that cannot be read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "line {line}: {reason}; a line is model, day, and the prices of input, output, cache write and \
     cache read for a million tokens, separated by tabs; then perhaps a number of tokens, and the same \
     four prices of requests that send more"
)]
pub struct PriceError {
    /// The number of the line, from 1.
    pub line: usize,
    reason: &'static str,
}

impl Prices {
    /// Returns the prices that this program knows.
    pub fn known() -> Self {
        // A test reads the table.
        Self::parse(TABLE).unwrap_or_default()
    }

    /// Reads a table of prices. Blank lines and lines that start with `#` are skipped.
    ///
    /// The columns, separated by tabs, are the model, the first day on which the prices hold, and the
    /// prices of input, output, cache write and cache read in US dollars for a million tokens. Five more
    /// columns are a number of tokens, and the four prices of a request that sends more than them.
    ///
    /// ```
    /// use core_model::Tokens;
    /// use sessions::Prices;
    ///
    /// let prices = Prices::parse("m\t2026-01-01\t1\t10\t2\t0.5\nm\t2026-02-01\t2\t20\t4\t1\n")?;
    /// let tokens = Tokens { output: 1_000_000, ..Tokens::default() };
    /// let [january, march] = [1_768_000_000_000, 1_773_000_000_000];
    /// assert_eq!(prices.cost("m", Some(january), tokens, 0), Some(10.0));
    /// assert_eq!(prices.cost("m", Some(march), tokens, 0), Some(20.0));
    /// assert_eq!(prices.cost("n", None, tokens, 0), None);
    /// # Ok::<(), sessions::PriceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a line has other columns.
    pub fn parse(table: &str) -> Result<Self, PriceError> {
        let mut prices = Self::default();
        for (line, text) in (1..).zip(table.lines()) {
            let error = |reason| PriceError { line, reason };
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            let cells: Vec<&str> = text.split('\t').map(str::trim).collect();
            let [model, from, numbers @ ..] = cells.as_slice() else {
                return Err(error("too few columns"));
            };
            let from = named_time(from).ok_or(error("the second column is not a day"))?.start;
            let (four, rest) = numbers.split_at(numbers.len().min(4));
            let four = Four::parse(four).ok_or(error("there are not four prices"))?;
            let long = match rest {
                [] => None,
                [tokens, four @ ..] => {
                    let tokens = tokens.parse().ok();
                    let long = tokens.zip(Four::parse(four));
                    Some(long.ok_or(error("there is no number of tokens with four prices"))?)
                }
            };
            let dated = Dated { from, prices: four, long };
            prices.of_model.entry(plain(model).to_owned()).or_default().push(dated);
        }
        for dated in prices.of_model.values_mut() {
            dated.sort_by_key(|dated| dated.from);
        }
        Ok(prices)
    }

    /// Returns the cost of the tokens of a request in US dollars, of which `cache_hour` were written to a
    /// cache for an hour; `None` if the model is unknown. No tokens cost nothing with any model.
    ///
    /// A request that sends many tokens may have higher prices, for all of its tokens.
    pub fn cost(
        &self,
        model: &str,
        time: Option<i64>,
        tokens: Tokens,
        cache_hour: u64,
    ) -> Option<f64> {
        let sent = Tokens { output: 0, ..tokens }.total();
        self.cost_of(sent, (model, time), tokens, cache_hour)
    }

    /// Returns the cost of the tokens of several requests, each with the prices of a short one; `None` if
    /// the model is unknown.
    pub fn cost_of_several(
        &self,
        model: &str,
        time: Option<i64>,
        tokens: Tokens,
        cache_hour: u64,
    ) -> Option<f64> {
        self.cost_of(0, (model, time), tokens, cache_hour)
    }

    /// Returns the cost of tokens in requests that send a number of tokens each.
    fn cost_of(
        &self,
        sent: u64,
        (model, time): (&str, Option<i64>),
        tokens: Tokens,
        cache_hour: u64,
    ) -> Option<f64> {
        if tokens.total() == 0 {
            return Some(0.0);
        }
        let dated = self.of_model.get(model).or_else(|| self.of_model.get(plain(model)))?;
        // Without a time, the last prices.
        let time = time.unwrap_or(i64::MAX);
        let dated = dated.iter().rev().find(|it| it.from <= time).or(dated.first())?;
        let prices = match dated.long {
            Some((limit, prices)) if sent > limit => prices,
            _ => dated.prices,
        };
        let hour = cache_hour.min(tokens.cache_creation);
        let minutes = tokens.cache_creation.saturating_sub(hour);
        let parts = [
            (tokens.input as f64, prices.input),
            (tokens.output as f64, prices.output),
            (minutes as f64, prices.cache_write),
            (hour as f64, prices.cache_write * HOUR),
            (tokens.cache_read as f64, prices.cache_read),
        ];
        Some(parts.iter().map(|(tokens, price)| tokens * price).sum::<f64>() / 1e6)
    }
}

/// Returns the name of a model without a provider, a day or a version:
/// `us.anthropic.claude-opus-4-1-20250805-v1:0` is `claude-opus-4-1`.
fn plain(model: &str) -> &str {
    let model = model.rsplit('/').next().unwrap_or(model);
    let model = match model.find("anthropic.") {
        Some(at) => model.get(at.saturating_add("anthropic.".len())..).unwrap_or(model),
        None => model,
    };
    let model = model.split(['@', '[', ':']).next().unwrap_or(model);
    let model = match model.rsplit_once("-v") {
        Some((name, version)) if is_number(version) => name,
        _ => model,
    };
    let model = model.strip_suffix("-latest").unwrap_or(model);
    let is_day = |day: &str| day.len() == 8 && is_number(day);
    match model.rsplit_once('-') {
        Some((name, day)) if is_day(day) => name,
        _ => without_iso_day(model),
    }
}

/// Removes a day as OpenAI writes it: `gpt-5-2025-08-07` is `gpt-5`.
fn without_iso_day(model: &str) -> &str {
    let start = model.len().saturating_sub("-2025-08-07".len());
    let Some((name, day)) = model.split_at_checked(start) else { return model };
    let numbers: Vec<&str> = day.split('-').collect();
    match numbers.as_slice() {
        ["", year, month, day]
            if year.len() == 4
                && [month, day].iter().all(|it| it.len() == 2)
                && [year, month, day].iter().all(|it| is_number(it)) =>
        {
            name
        }
        _ => model,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_this_program_is_read() {
        let prices = Prices::parse(TABLE).expect("a table");
        let n_lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(prices.of_model.values().map(Vec::len).sum::<usize>(), n_lines);
        let million = Tokens { input: 1_000_000, ..Tokens::default() };
        assert_eq!(prices.cost("claude-opus-4-5-20251101", None, million, 0), Some(5.0));
        // The price of o3 fell on 2025-06-10.
        let [before, after] = ["2025-06-09", "2025-06-10"]
            .map(|day| prices.cost("o3", named_time(day).map(|it| it.start), million, 0));
        assert_eq!((before, after), (Some(10.0), Some(2.0)));
    }

    #[test]
    fn an_hour_in_the_cache_costs_twice_the_input() {
        let prices = Prices::known();
        let written = Tokens { cache_creation: 200_000, ..Tokens::default() };
        let cost = prices.cost("claude-sonnet-4-5", None, written, 100_000);
        assert!(cost.is_some_and(|cost| (cost - 0.975).abs() < 1e-9), "{cost:?}");
        let all = prices.cost("claude-sonnet-4-5", None, written, u64::MAX);
        assert!(all.is_some_and(|cost| (cost - 1.2).abs() < 1e-9), "{all:?}");
    }

    #[test]
    fn a_request_beyond_a_limit_has_its_prices_for_all_tokens() {
        let prices = Prices::known();
        let day = |day: &str| named_time(day).map(|it| it.start);
        let tokens = |sent: u64| Tokens {
            input: 100_000,
            cache_read: sent - 150_000,
            cache_creation: 50_000,
            output: 10_000,
        };
        let [short, long] = [tokens(200_000), tokens(200_001)];
        for (model, day, tokens, expected) in [
            ("claude-sonnet-4-5", day("2026-01-01"), short, 0.3 + 0.015 + 0.1875 + 0.15),
            ("claude-sonnet-4-5", day("2026-01-01"), long, 0.6 + 0.030_000_6 + 0.375 + 0.225),
            ("claude-opus-4-6", day("2026-03-12"), long, 1.0 + 0.050_001 + 0.625 + 0.375),
            ("claude-opus-4-6", day("2026-03-13"), long, 0.5 + 0.025_000_5 + 0.3125 + 0.25),
            ("claude-opus-4-5", day("2026-01-01"), long, 0.5 + 0.025_000_5 + 0.3125 + 0.25),
        ] {
            let cost = prices.cost(model, day, tokens, 0).expect("a price");
            assert!((cost - expected).abs() < 1e-9, "{model}: {cost}, not {expected}");
        }
        let several = prices.cost_of_several("claude-sonnet-4-5", None, long, 0).expect("a price");
        assert!((several - (0.3 + 0.015_000_3 + 0.1875 + 0.15)).abs() < 1e-9, "{several}");
    }

    #[test]
    fn names_of_one_model_have_one_price() {
        for (name, expected) in [
            ("claude-opus-4-1-20250805", "claude-opus-4-1"),
            ("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
            ("anthropic/claude-opus-4-5", "claude-opus-4-5"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-5-codex", "gpt-5-codex"),
            ("é-2025-08-07", "é"),
            ("ééééééééééé", "ééééééééééé"),
            ("", ""),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn a_bad_line_is_named() {
        for table in [
            "m",
            "m\tx\t1\t1\t1\t1",
            "m\t2026-01-01\t1\t1\t1",
            "m\t2026-01-01\t1\t1\t1\t-1",
            "m\t2026-01-01\t1\t1\t1\t1\t200000",
            "m\t2026-01-01\t1\t1\t1\t1\tx\t1\t1\t1\t1",
            "m\t2026-01-01\t1\t1\t1\t1\t200000\t1\t1\t1\t1\t1",
        ] {
            let error = Prices::parse(&format!("# prices\n{table}")).expect_err("a bad line");
            assert_eq!(error.line, 2, "{table}");
        }
    }
}
