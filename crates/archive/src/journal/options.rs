//! The options that outputs depend on, as a journal keeps them: words, compared as words.
//!
//! A line says `"options":"--to clido --carry inline --subagents files --sdk-version 0.2.187
//! carry-version=2"`. Lines of version 0.1.0 have a hash instead, over text that Rust printed of its
//! types. That text is spelled out here, so that a folder that 0.1.0 wrote stays up to date whatever
//! the types are called.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use twox_hash::XxHash3_64;

use super::{Journal, OutputRoot, Salt, Unusable};
use crate::paths::path_body;

/// The version of the carries that are written. Outputs with another version are written again,
/// except outputs of version 0.1.0, which stay readable.
const CARRY_VERSION: u32 = 2;

/// The start of the last word, before the version of the carries.
const VERSION_WORD: &str = "carry-version=";

/// The options that change the bytes of outputs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutputOptions {
    words: Arc<str>,
    /// The hash that version 0.1.0 wrote for the same options.
    pub hash: u64,
}

/// The values of the options, as words of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Spelled<'o> {
    /// `--to`.
    pub to: &'o str,
    /// `--from`.
    pub from: Option<&'o str>,
    /// `--carry`.
    pub carry: &'o str,
    /// `--subagents`.
    pub subagents: &'o str,
    /// `--sdk-version`.
    pub sdk_version: &'o str,
    /// `--compress`.
    pub compress: Option<&'o str>,
    /// `--redact`.
    pub redact: bool,
    /// Version 0.1.0 did not have it.
    pub test_keys: bool,
    /// `--strict`.
    pub strict: bool,
    /// `--all-branches`.
    pub all_branches: bool,
    /// `--from-last-compaction`.
    pub from_last_compaction: bool,
}

/// The options in a line of a journal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum KnownOptions {
    /// The words, and the salt.
    Words(Arc<str>, u64),
    /// The hash of version 0.1.0, over options and salt.
    Hash(u64),
}

impl OutputOptions {
    /// Creates the words of options.
    pub fn new(spelled: &Spelled<'_>) -> Self {
        let mut words = spelled.words();
        if spelled.carry != "none" {
            words.push_str(&format!(" {VERSION_WORD}{CARRY_VERSION}"));
        }
        Self { words: words.into(), hash: spelled.hash_of_0_1_0() }
    }

    /// Creates options from words, and the hash that version 0.1.0 would have written.
    #[cfg(test)]
    pub(super) fn of_words(words: &str, hash: u64) -> Self {
        Self { words: words.into(), hash }
    }

    /// Returns the words.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// Returns whether an output was written with these options and this salt.
    pub(super) fn are(&self, known: &KnownOptions, salt: Salt) -> bool {
        match known {
            KnownOptions::Words(words, hash) => *words == self.words && *hash == salt.hash,
            KnownOptions::Hash(hash) => *hash == self.hash ^ salt.of_0_1_0,
        }
    }

    /// Returns the difference to the options of a line.
    pub(super) fn other(&self, known: &KnownOptions) -> OptionsDifference {
        match known {
            KnownOptions::Words(words, _) if asked(words) == asked(&self.words) => {
                OptionsDifference::Same
            }
            KnownOptions::Words(words, _) => OptionsDifference::Other(asked(words).to_owned()),
            KnownOptions::Hash(hash) if *hash == self.hash => OptionsDifference::Same,
            KnownOptions::Hash(hash) => match words_of(*hash) {
                Some(words) => OptionsDifference::Other(words.to_owned()),
                None => OptionsDifference::Unknown,
            },
        }
    }
}

impl KnownOptions {
    /// Shares equal words with another line. A journal has few different ones.
    pub(super) fn share(&mut self, other: &Self) {
        if let (Self::Words(words, _), Self::Words(others, _)) = (self, other)
            && *words == *others
        {
            *words = others.clone();
        }
    }
}

/// The difference between these options and the options of a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum OptionsDifference {
    /// None.
    Same,
    /// The line has other options, with these words.
    Other(String),
    /// Unknown, because their hash is mixed with a salt.
    Unknown,
}

impl Journal {
    /// Returns an error if the last files of a folder were written with other options. Otherwise
    /// the folder would have two copies of a session, or a mixture.
    ///
    /// # Errors
    ///
    /// Returns [`Unusable::OtherOptions`] with the words of the other options.
    pub fn refuse_other_options(&self) -> Result<(), Unusable> {
        self.index.other_options(&self.options).map_or(Ok(()), |it| Err(Unusable::OtherOptions(it)))
    }

    /// Returns the unedited outputs of a source from other options.
    pub fn superseded(&self, base: &OutputRoot, source: &Path) -> Vec<PathBuf> {
        let source = path_body(source);
        let known = self.index.of_source(&source);
        let known = known.filter(|known| {
            matches!(self.options.other(&known.options), OptionsDifference::Other(_))
        });
        let known = known.filter(|known| known.is_there(base, &known.below).is_some());
        known.map(|known| known.below.clone()).collect()
    }
}

/// Returns words without the version of the carries.
fn asked(words: &str) -> &str {
    match words.rsplit_once(' ') {
        Some((asked, last)) if last.starts_with(VERSION_WORD) => asked,
        _ => words,
    }
}

impl Spelled<'_> {
    fn words(&self) -> String {
        let mut words = format!("--to {}", self.to);
        let mut pair = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                words.push_str(&format!(" {name} {value}"));
            }
        };
        pair("--from", self.from);
        pair("--carry", Some(self.carry));
        pair("--subagents", Some(self.subagents));
        pair("--sdk-version", Some(self.sdk_version));
        pair("--compress", self.compress);
        for (name, is_set) in [
            (" --redact", self.redact),
            (" --test-keys", self.test_keys),
            (" --strict", self.strict),
            (" --all-branches", self.all_branches),
            (" --from-last-compaction", self.from_last_compaction),
        ] {
            words.push_str(if is_set { name } else { "" });
        }
        words
    }

    /// Returns the hash that version 0.1.0 wrote: of the text that Rust printed of its types.
    fn hash_of_0_1_0(&self) -> u64 {
        let Self { to, from, redact, strict, all_branches, from_last_compaction, .. } = self;
        let carry = printed(self.carry);
        let subagents = printed(self.subagents);
        let compress =
            self.compress.map_or("None".to_owned(), |it| format!("Some({})", printed(it)));
        let sdk_version = format!("V{}", self.sdk_version.replace('.', "_"));
        let options = format!(
            "Options {{ sdk_version: {sdk_version}, is_strict: {strict}, \
             all_branches: {all_branches}, from_last_compaction: {from_last_compaction} }}"
        );
        let depends = format!("({to:?}, {from:?}, {carry}, {options}, {compress}, {redact})");
        // Version 0.1.0 wrote no output with this option.
        let test_keys = if self.test_keys { " --test-keys" } else { "" };
        XxHash3_64::oneshot(format!("0.1.0 ({depends}, {subagents}){test_keys}").as_bytes())
    }
}

/// Returns the name that 0.1.0 had for a value: its word with a capital letter.
fn printed(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the words of the options that 0.1.0 wrote a hash of; none if the hash is mixed with another.
fn words_of(hash: u64) -> Option<&'static str> {
    static WORDS: OnceLock<HashMap<u64, Box<str>>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let mut words = HashMap::new();
        all_of_0_1_0(&mut |spelled| {
            words.insert(spelled.hash_of_0_1_0(), spelled.words().into());
        });
        words
    });
    words.get(&hash).map(|words| &**words)
}

/// Calls with all options that 0.1.0 knew.
fn all_of_0_1_0(each: &mut dyn FnMut(&Spelled<'_>)) {
    const FORMATS: [&str; 4] = ["claude-code", "clido", "sdk-stream", "sdk-stream:wire"];
    let froms = || std::iter::once(None).chain(FORMATS.map(Some));
    let flags = |bits: u32, flag: u32| bits & (1 << flag) != 0;
    for (to, from) in FORMATS.iter().flat_map(|to| froms().map(move |from| (to, from))) {
        for carry in ["inline", "sidecar", "none"] {
            for subagents in ["files", "carry", "drop"] {
                for compress in [None, Some("gz"), Some("zst")] {
                    for (sdk_version, bits) in
                        ["0.2.187", "0.1.6"].iter().flat_map(|it| (0..16).map(move |n| (it, n)))
                    {
                        each(&Spelled {
                            to,
                            from,
                            carry,
                            subagents,
                            sdk_version,
                            compress,
                            redact: flags(bits, 0),
                            test_keys: false,
                            strict: flags(bits, 1),
                            all_branches: flags(bits, 2),
                            from_last_compaction: flags(bits, 3),
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Spelled<'_> = Spelled {
        to: "clido",
        from: None,
        carry: "inline",
        subagents: "files",
        sdk_version: "0.2.187",
        compress: None,
        redact: false,
        test_keys: false,
        strict: false,
        all_branches: false,
        from_last_compaction: false,
    };

    #[test]
    fn the_hash_is_that_of_0_1_0() {
        // As the program of that version wrote them into journals.
        let wire = Spelled {
            to: "sdk-stream:wire",
            from: Some("claude-code"),
            carry: "sidecar",
            subagents: "drop",
            compress: Some("zst"),
            ..PLAIN
        };
        let clean = Spelled { carry: "none", strict: true, all_branches: true, ..PLAIN };
        let old = Spelled { to: "sdk-stream", sdk_version: "0.1.6", redact: true, ..PLAIN };
        let short = Spelled { from_last_compaction: true, subagents: "carry", ..PLAIN };
        for (spelled, hash) in [
            (PLAIN, "ba4fedbbfb5610ef"),
            (clean, "bf14b75080a50ad1"),
            (wire, "740d09d293ce0f9c"),
            (old, "490510656cfef8d8"),
            (Spelled { compress: Some("gz"), ..short }, "f1c01d785d66ca9c"),
            (Spelled { to: "claude-code", ..PLAIN }, "5b0d919ea4c91f5a"),
        ] {
            assert_eq!(format!("{:016x}", spelled.hash_of_0_1_0()), hash, "{spelled:?}");
        }
    }

    #[test]
    fn keys_of_tests_are_an_option_that_0_1_0_did_not_have() {
        let redacted = Spelled { redact: true, ..PLAIN };
        let [old, new] =
            [false, true].map(|test_keys| OutputOptions::new(&Spelled { test_keys, ..redacted }));
        assert_ne!((old.words(), old.hash), (new.words(), new.hash));
        assert!(new.words().contains(" --redact --test-keys"), "{}", new.words());
        assert!(words_of(old.hash).is_some() && words_of(new.hash).is_none());
    }

    #[test]
    fn other_options_are_told_in_words() {
        let [plain, packed] =
            [None, Some("zst")].map(|compress| OutputOptions::new(&Spelled { compress, ..PLAIN }));
        let known = KnownOptions::Words(plain.words.clone(), 0);
        assert_eq!(plain.other(&known), OptionsDifference::Same);
        let asked = "--to clido --carry inline --subagents files --sdk-version 0.2.187";
        assert_eq!(packed.other(&known), OptionsDifference::Other(asked.to_owned()));
        assert_eq!(
            packed.other(&KnownOptions::Hash(plain.hash)),
            OptionsDifference::Other(asked.to_owned())
        );
        assert_eq!(packed.other(&KnownOptions::Hash(packed.hash)), OptionsDifference::Same);
        assert_eq!(packed.other(&KnownOptions::Hash(packed.hash ^ 1)), OptionsDifference::Unknown);
    }

    #[test]
    fn another_version_of_the_carry_is_other_work_for_the_same_options() {
        let options = OutputOptions::new(&PLAIN);
        let words = format!("{} {VERSION_WORD}0", asked(options.words()));
        let known = KnownOptions::Words(words.into(), 0);
        assert_eq!(options.other(&known), OptionsDifference::Same);
        assert!(!options.are(&known, Salt::default()));
        // What 0.1.0 wrote stays readable, and so it stays as it is.
        assert!(options.are(&KnownOptions::Hash(options.hash), Salt::default()));
    }
}
