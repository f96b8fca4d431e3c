//! Makes ids in the order that the client sorts by.
//!
//! In: the time 1795377454072 and a UUID. Out: `msg_204d5dbf8001` and 14 letters and digits of the
//! UUID's hash. The client sorts messages by time and id, and parts by id, so later ids are larger.

use core_model::{IdSet, SafeName, is_accepted_tool_id, uuid_of_name};
use jsonl::Text;

/// The ids of a session.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// The id of the session.
    pub(super) session: String,
    /// The id of the user's last message.
    pub(super) user: Option<String>,
    /// The time of the last message, in milliseconds since 1970.
    pub(super) last: i64,
    /// The first message that the user undid, by the session's `revert`.
    undone: Option<String>,
    /// Whether this message was resumed.
    is_undone: bool,
    /// The time and the counter of the last id.
    stamp: u64,
    calls: IdSet,
}

impl Ids {
    /// Sets the id of the session from the id in the source.
    pub(super) fn start_session(&mut self, id: &str, created: i64) {
        self.last = created;
        self.session = written_id(id, created);
    }

    pub(super) fn resume_session(&mut self, id: Option<Text<'_>>) {
        if let Some(id) = id {
            self.session = id.decode().into_owned();
        }
    }

    /// Sets the first message that the user undid.
    pub(super) fn set_undone(&mut self, id: Option<Text<'_>>) {
        self.undone = id.map(|id| id.decode().into_owned());
    }

    /// Returns whether the client hides a new message with this id: it compares the ids, and this program the places in the
    /// document.
    pub(super) fn hides(&self, id: &str) -> bool {
        self.is_undone || self.undone.as_deref().is_some_and(|first| id >= first)
    }

    pub(super) fn resume_message(
        &mut self,
        id: Option<Text<'_>>,
        created: Option<i64>,
        is_user: bool,
    ) {
        self.last = created.unwrap_or(self.last).max(self.last);
        self.is_undone |= id.zip(self.undone.as_deref()).is_some_and(|(id, first)| id.is(first));
        if let Some(id) = id.filter(|_| is_user) {
            self.user = Some(id.decode().into_owned());
        }
    }

    /// Returns whether no earlier call has an id, as OpenCode sends it to Anthropic's API: with `_` in place of other
    /// characters than letters, digits, `_` and `-`.
    pub(super) fn is_new_call(&mut self, id: &str) -> bool {
        if is_accepted_tool_id(id) {
            return self.calls.insert(id);
        }
        let is_sent = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        // The client counts a character beyond the BMP as two.
        let sent = id.chars().flat_map(|char| {
            std::iter::repeat_n(if is_sent(char) { char } else { '_' }, char.len_utf16())
        });
        self.calls.insert(&sent.collect::<String>())
    }

    /// Returns an id that is larger than all before it.
    pub(super) fn next(&mut self, kind: &str, created: i64, uuid: &str) -> String {
        let time = u64::try_from(created).unwrap_or(0).saturating_mul(0x1000).saturating_add(1);
        self.stamp = time.max(self.stamp.saturating_add(1));
        let stamp = self.stamp & 0xffff_ffff_ffff;
        format!("{kind}_{stamp:012x}{}", digits(uuid))
    }
}

/// Returns the id that a session has in its document, from its id in the source and its start.
pub(super) fn written_id(id: &str, created: i64) -> String {
    match is_id(id, "ses_") {
        true => id.to_owned(),
        false => session_id(id, created),
    }
}

/// Returns the id of a session whose own id is of another client. Later sessions have smaller ids.
fn session_id(id: &str, created: i64) -> String {
    let time = u64::try_from(created).unwrap_or(0).saturating_mul(0x1000);
    let stamp = !time & 0xffff_ffff_ffff;
    format!("ses_{stamp:012x}{}", digits(id))
}

/// Returns whether a text is the id of a session: `ses_` and letters and digits.
pub(crate) fn is_session_id(id: &str) -> bool {
    id.len() <= SafeName::MAX_LENGTH && is_id(id, "ses_")
}

/// Returns whether the id of a session was made from the id that another client has given it: the last
/// letters depend on that one alone, and those before them on the time of its start.
pub(crate) fn is_session_of(id: &str, other: &str) -> bool {
    let rest = id.strip_prefix("ses_").filter(|_| is_session_id(id));
    rest.and_then(|rest| rest.get(TIME_DIGITS..)).is_some_and(|end| end == digits(other))
}

/// The hexadecimal digits of the time in an id.
const TIME_DIGITS: usize = 12;

/// Returns whether a text is an id of a kind, such as `ses_`.
pub(super) fn is_id(id: &str, start: &str) -> bool {
    id.strip_prefix(start).is_some_and(|rest| {
        (1..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns 14 letters and digits that depend on a name.
fn digits(name: &str) -> String {
    const BASE_62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let uuid = uuid_of_name("opencode", name).replace('-', "");
    let mut number = u128::from_str_radix(&uuid, 16).unwrap_or(0);
    let mut digits = String::with_capacity(14);
    for _ in 0..14 {
        let digit = usize::try_from(number % 62).unwrap_or(0);
        digits.push(BASE_62.get(digit).copied().map_or('0', char::from));
        number /= 62;
    }
    digits
}
