//! Conversions to another format, back, and through a third.

use std::io;

use convert::{CarryMode, Conversion, Converted, FORMATS, Sidecar};
use core_model::{Format, Options};

/// A file with its sidecar.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sidecar: Option<Vec<u8>>,
}

/// Converts a file.
pub(crate) fn convert(
    source: &Written,
    from: &'static Format,
    to: &'static Format,
    carry: CarryMode,
) -> io::Result<Written> {
    let conversion = Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
    let sidecar = source.sidecar.as_deref().map(Sidecar::read).transpose()?;
    let Converted { bytes, sidecar, .. } = conversion.convert(&source.bytes, sidecar)?;
    Ok(Written { bytes, sidecar })
}

/// Returns all formats except the given ones.
pub(crate) fn others(than: &[&'static Format]) -> std::vec::IntoIter<&'static Format> {
    let others = FORMATS.targets().filter(|it| than.iter().all(|than| than.name != it.name));
    others.collect::<Vec<_>>().into_iter()
}

/// Returns the targets whose files are lines. `document.rs` has the tests of edited documents.
pub(crate) fn line_targets() -> impl Iterator<Item = &'static Format> {
    FORMATS.targets().filter(|to| !to.framing.is_document())
}

/// Converts bytes to a format and back. Returns the difference if they are not restored.
pub(crate) fn there_and_back(
    bytes: &[u8],
    from: &'static Format,
    to: &'static Format,
    carry: CarryMode,
) -> Option<String> {
    let source = Written { bytes: bytes.to_vec(), sidecar: None };
    let way = format!("{} -> {} -> {}, {carry:?}", from.name, to.name, from.name);
    let result = convert(&source, from, to, carry)
        .and_then(|written| convert(&written, to, from, CarryMode::Inline));
    match result {
        Ok(back) => {
            let at = back.bytes.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            (back.bytes != bytes).then(|| format!("{way}: differs from byte {at} on"))
        }
        Err(error) => Some(format!("{way}: {error}")),
    }
}
