//! The headings of losses, which say where the lost values are kept.

use conversion::CarryMode;
use core_model::LossKind;
use storage::SIDECAR;

use super::ConvertedFile;

impl ConvertedFile {
    /// Returns the heading for losses of a kind.
    pub(super) fn heading(&self, kind: LossKind) -> String {
        let to = self.to;
        let what = match kind {
            LossKind::Dropped => format!("not shown in {to}"),
            LossKind::Flattened => format!("shown in {to} with less structure"),
            LossKind::Invented => return format!("  made up, since {to} needs it:"),
        };
        let output = self.output.clone();
        let inline = output.clone().unwrap_or_else(|| "the output".to_owned());
        let sidecar =
            output.map_or_else(|| "the sidecar".to_owned(), |it| format!("{it}.{SIDECAR}"));
        let kept = match (self.carry, self.report.bytes_sidecar) {
            (CarryMode::None, _) => "gone without a carry (--carry none)".to_owned(),
            // Nothing shows, so no line has a carry.
            (_, 1..) if self.report.lines_out == 0 => format!("kept in {sidecar}"),
            (CarryMode::Inline, 0) => format!("kept inline in {inline}"),
            (CarryMode::Inline, _) => format!("kept inline in {inline}, and in {sidecar}"),
            (CarryMode::Sidecar, _) => format!("kept in {sidecar}"),
        };
        format!("  {what}, {kept}:")
    }
}
