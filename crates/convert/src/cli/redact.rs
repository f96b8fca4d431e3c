//! The options of `--redact`, shared by the commands that write text of sessions.

use clap::Args;
use sessions::Redact;

/// The secrets to remove from the input.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct RedactArgs {
    /// Remove keys, tokens and passwords from the input
    #[arg(long)]
    pub(crate) redact: bool,
    /// With --redact: also remove keys of test environments, such as sk_test_ of Stripe
    #[arg(long, requires = "redact")]
    pub(crate) test_keys: bool,
}

impl From<RedactArgs> for Redact {
    fn from(args: RedactArgs) -> Self {
        Self { is_wanted: args.redact, test_keys: args.test_keys }
    }
}
