//! Sets of bytes that tokens consist of.
//!
//! In: `0123abcg`. Out: 7 leading bytes of the class `HEX`.

/// A set of bytes.
#[derive(Debug)]
pub(crate) struct Class([bool; 256]);

impl Class {
    /// Creates a set from ranges, each with its first and last byte.
    const fn of(ends: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut rest: &mut [bool] = &mut set;
        let mut byte = 0_u8;
        while let [is_in, after @ ..] = rest {
            *is_in = is_within(byte, ends);
            byte = byte.wrapping_add(1);
            rest = after;
        }
        Self(set)
    }

    /// Returns whether a byte is in the set.
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)) == Some(&true)
    }

    /// Returns the number of leading bytes in the set, at most `max`, up to a fence.
    pub(crate) fn run(&self, bytes: &[u8], max: usize) -> usize {
        let is_fence = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(FENCE));
        let is_in =
            |(at, byte): &(usize, &u8)| self.has(**byte) && !(**byte == b'-' && is_fence(*at));
        bytes.iter().enumerate().take(max).take_while(is_in).count()
    }
}

/// Returns whether a byte is in one of some ranges.
const fn is_within(byte: u8, mut ends: &[u8]) -> bool {
    while let [first, last, rest @ ..] = ends {
        if *first <= byte && byte <= *last {
            return true;
        }
        ends = rest;
    }
    false
}

/// The marks of the first and the last line of an armored key.
pub(crate) const FENCE: &[u8] = b"-----";

/// Decimal digits.
pub(crate) static DIGITS: Class = Class::of(b"09");
/// Hexadecimal digits in lower case.
pub(crate) static HEX: Class = Class::of(b"09af");
/// Digits and capital letters.
pub(crate) static CAPITALS: Class = Class::of(b"09AZ");
/// Letters and digits.
pub(crate) static LETTERS: Class = Class::of(b"09AZaz");
/// Letters, digits and `_`: what makes up a word.
pub(crate) static WORD: Class = Class::of(b"09AZ__az");
/// Letters, digits, `-`.
pub(crate) static DASHED: Class = Class::of(b"--09AZaz");
/// Letters, digits, `-` and `_`: base64 for URLs.
pub(crate) static BASE64_URL: Class = Class::of(b"--09AZ__az");
/// Letters, digits, `-`, `_` and `.`.
pub(crate) static DOTTED: Class = Class::of(b"-.09AZ__az");
/// Letters, digits, `-`, `_`, `.` and `~`: secrets of clients of Azure.
pub(crate) static AZURE: Class = Class::of(b"-.09AZ__az~~");
/// Letters, digits, `=`, `-`, `_`: base64 for URLs with padding.
pub(crate) static PADDED_URL: Class = Class::of(b"--09==AZ__az");
/// Base64 in a URL, with `%`.
pub(crate) static SIGNATURE: Class = Class::of(b"%%++-9==AZ__az");
/// Base64 in a URL, with `%` and `~`: the signatures of CloudFront.
pub(crate) static SIGNED: Class = Class::of(b"%%++-9==AZ__az~~");
/// Base64 in a URL, with `%` and `@`: the path of a webhook of Microsoft Teams.
pub(crate) static TEAMS: Class = Class::of(b"%%++-9==@Z__az");
/// Base64 of both alphabets: the pieces of a token of any kind.
pub(crate) static PIECE: Class = Class::of(b"++--/9==AZ__az");
/// Letters, digits and `%`: a token of Twitter in a URL.
pub(crate) static PERCENT: Class = Class::of(b"%%09AZaz");
/// Letters, digits and `$`: the parts of a token of Braintree.
pub(crate) static DOLLARS: Class = Class::of(b"$$09AZaz");
/// Hexadecimal digits in lower and upper case.
pub(crate) static ANY_HEX: Class = Class::of(b"09AFaf");
/// Hexadecimal digits and `-`: a UUID.
pub(crate) static UUID: Class = Class::of(b"--09af");
/// Base64, with `=`.
pub(crate) static BASE64: Class = Class::of(b"++/9==AZaz");
/// Letters, digits and `/`.
pub(crate) static PATH: Class = Class::of(b"/9AZaz");
/// Bytes between a name and its value: `key: "`, `key = '`, `\"key\":\"`.
pub(crate) static BETWEEN: Class = Class::of(b"\t\t  \"\"''::=>\\\\");
/// Bytes between an account and its token: `AC..:..`, `AC.. ..`, `| AC.. | .. |`.
pub(crate) static PAIR: Class = Class::of(b"\t\t  \"\"'',,::\\\\||");
/// The name of a user in a URL, with the domain of Windows before it.
pub(crate) static USER: Class = Class::of(b"%%++-.09;;AZ\\\\__az~~");
/// A password in a URL, without the marks of shell variables and templates.
pub(crate) static PASSWORD: Class = Class::of(b"!!$&**+.09;;==AZ^_az~~");
/// The lines of a key between its first and its last one: base64, headers, and prefixes that tools
/// add (numbers, an arrow, `>`, `#`), also in JSON within JSON.
pub(crate) static ARMOR: Class =
    Class::of(b"\t\n\r\r  ##()+:=>AZ\\\\__az||\x7f\x7f\x86\x86\x92\x92\xe2\xe2");
