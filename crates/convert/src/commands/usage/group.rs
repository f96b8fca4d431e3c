//! Sums up responses by groups.
//!
//! In: responses of two days. Out: a sum for each day, and the total.

use std::collections::{BTreeMap, HashMap};

use clap::ValueEnum;
use core_model::Tokens;
use jiff::{Timestamp, ToSpan, Zoned, civil::Weekday, tz::TimeZone};
use sessions::{Prices, Response, Usage};

use crate::reading::moments::Bounds;

/// What responses are grouped by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum By {
    /// The day
    Day,
    /// The week, by its Monday
    Week,
    /// The month
    Month,
    /// The session
    Session,
    /// The working directory
    Project,
    /// The model
    Model,
    /// The agent, by the format of its files
    Agent,
    /// Five hours from the hour of the first response in them
    Block,
}

impl By {
    /// Returns the name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            By::Day => "day",
            By::Week => "week",
            By::Month => "month",
            By::Session => "session",
            By::Project => "project",
            By::Model => "model",
            By::Agent => "agent",
            By::Block => "block",
        }
    }

    /// Returns whether the groups are times, which are printed in their order.
    pub(super) fn is_time(self) -> bool {
        matches!(self, By::Day | By::Week | By::Month | By::Block)
    }
}

/// The sum of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageSum {
    /// The number of responses.
    pub n_responses: u64,
    /// The tokens.
    pub tokens: Tokens,
    /// The cost in US dollars of the responses that have one.
    pub cost: f64,
    /// The part of the cost that the logs state.
    pub stated: f64,
    /// The number of responses without a price.
    pub n_unpriced: u64,
}

impl UsageSum {
    fn add(&mut self, response: &Response<'_>, cost: Option<f64>) {
        self.n_responses += 1;
        self.tokens += response.tokens;
        self.cost += cost.unwrap_or(0.0);
        self.stated += response.cost.unwrap_or(0.0);
        self.n_unpriced += u64::from(cost.is_none());
    }
}

/// The sums of groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The names of each group and its sum. Times come in their order, others by their cost.
    pub(super) all: Vec<(Vec<String>, UsageSum)>,
    pub(super) total: UsageSum,
    /// The responses without a price, by model.
    pub(super) unpriced: BTreeMap<Option<String>, UsageSum>,
}

/// The length of a block.
const BLOCK_HOURS: i64 = 5;
const HOUR: i64 = 3_600_000;

impl Groups {
    /// Sums up the responses within the bounds, in milliseconds since 1970. A response without a
    /// time is in no bounds.
    pub(super) fn of(
        usage: &Usage,
        by: &[By],
        bounds: Bounds,
        zone: &TimeZone,
        sessions: &[String],
        prices: &Prices,
    ) -> Self {
        let is_wanted = |response: &Response<'_>| bounds.has(response.time);
        let wanted = || usage.responses().filter(is_wanted);
        let blocks = match by.contains(&By::Block) {
            true => block_starts(usage.responses().filter_map(|response| response.time).collect()),
            false => Vec::new(),
        };
        let mut names = Names { zone, blocks, of_hour: HashMap::new() };
        let mut sums: HashMap<Vec<String>, UsageSum> = HashMap::new();
        let mut groups = Self::default();
        for response in wanted() {
            let cost = response.cost_by(prices);
            let key = by.iter().map(|by| names.name(*by, &response, sessions)).collect();
            sums.entry(key).or_default().add(&response, cost);
            groups.total.add(&response, cost);
            if cost.is_none() {
                let model = response.model.map(str::to_owned);
                groups.unpriced.entry(model).or_default().add(&response, cost);
            }
        }
        groups.all = sums.into_iter().collect();
        groups.all.sort_by(|(one, one_sum), (other, other_sum)| {
            for ((by, one), other) in by.iter().zip(one).zip(other) {
                if by.is_time() && one != other {
                    return one.cmp(other);
                }
            }
            let weight = |sum: &UsageSum| (sum.cost, sum.tokens.total() as f64);
            let (one_weight, other_weight) = (weight(one_sum), weight(other_sum));
            let order = other_weight.0.total_cmp(&one_weight.0);
            order.then(other_weight.1.total_cmp(&one_weight.1)).then_with(|| one.cmp(other))
        });
        groups
    }
}

/// Returns the starts of the blocks that hold the times: each begins with the hour of the first time
/// that is in no block.
fn block_starts(mut times: Vec<i64>) -> Vec<i64> {
    times.sort_unstable();
    let mut starts: Vec<i64> = Vec::new();
    for time in times {
        if starts.last().is_none_or(|start| time - start >= BLOCK_HOURS * HOUR) {
            starts.push(time - time.rem_euclid(HOUR));
        }
    }
    starts
}

/// Names the groups of responses.
struct Names<'n> {
    zone: &'n TimeZone,
    blocks: Vec<i64>,
    /// The names of the days of hours that were asked for.
    of_hour: HashMap<(i64, u8), String>,
}

impl Names<'_> {
    fn name(&mut self, by: By, response: &Response<'_>, sessions: &[String]) -> String {
        let unknown = || "unknown".to_owned();
        let text = |text: Option<&str>| text.map_or_else(unknown, str::to_owned);
        match by {
            By::Session => text(sessions.get(response.session_idx).map(String::as_str)),
            By::Project => text(response.project),
            By::Model => text(response.model),
            By::Agent => response.agent.to_owned(),
            By::Day | By::Week | By::Month => match response.time {
                Some(time) => self.day(by, time),
                None => unknown(),
            },
            By::Block => {
                let Some(time) = response.time else { return unknown() };
                let after = self.blocks.partition_point(|start| *start <= time);
                let start = after.checked_sub(1).and_then(|at| self.blocks.get(at));
                start
                    .and_then(|start| self.zoned(*start))
                    .map_or_else(unknown, |start| start.strftime("%Y-%m-%d %H:%M").to_string())
            }
        }
    }

    /// Returns the name of a day, week or month. The offset of a zone changes at quarters of hours.
    fn day(&mut self, by: By, time: i64) -> String {
        let key = (time.div_euclid(HOUR / 4), by as u8);
        if let Some(name) = self.of_hour.get(&key) {
            return name.clone();
        }
        let name = self.zoned(time).map_or_else(
            || "unknown".to_owned(),
            |time| {
                let day = time.date();
                let day = match by {
                    By::Week => {
                        let since = day.weekday().since(Weekday::Monday);
                        day.checked_sub(i32::from(since).days()).unwrap_or(day)
                    }
                    _ => day,
                };
                let format = if by == By::Month { "%Y-%m" } else { "%Y-%m-%d" };
                day.strftime(format).to_string()
            },
        );
        self.of_hour.insert(key, name.clone());
        name
    }

    fn zoned(&self, time: i64) -> Option<Zoned> {
        Some(Timestamp::from_millisecond(time).ok()?.to_zoned(self.zone.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_five_hours_from_its_first_hour() {
        let minutes = [10 * 60 + 50, 10 * 60 + 5, 14 * 60 + 59, 15 * 60, 26 * 60 + 30];
        let starts = block_starts(minutes.iter().map(|minute| minute * 60_000).collect());
        assert_eq!(starts, [10, 15, 26].map(|hour| hour * HOUR));
        assert_eq!(block_starts(Vec::new()), Vec::<i64>::new());
    }

    #[test]
    fn a_week_begins_on_monday_in_the_zone() {
        let zone = crate::reading::moments::zone("+02:00").expect("a zone");
        let mut names = Names { zone: &zone, blocks: Vec::new(), of_hour: HashMap::new() };
        // A Sunday evening in UTC is a Monday in the east.
        let sunday = "2026-01-18T22:30:00Z".parse::<Timestamp>().expect("a time");
        let before = sunday.as_millisecond() - HOUR;
        let week = |names: &mut Names<'_>, time| names.day(By::Week, time);
        assert_eq!(week(&mut names, sunday.as_millisecond()), "2026-01-19");
        assert_eq!(week(&mut names, before), "2026-01-12");
        assert_eq!(names.day(By::Day, before), "2026-01-18");
        assert_eq!(names.day(By::Month, before), "2026-01");
    }
}
