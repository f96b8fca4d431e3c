//! Conversions there, back, and around.

use std::io;

use convert::{CarryMode, Conversion, FORMATS, Sidecar};
use core_model::{Format, Options};

/// A file with the sidecar beside it.
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
    let (bytes, sidecar, _) = conversion.convert(&source.bytes, sidecar)?;
    Ok(Written { bytes, sidecar })
}

/// Returns the formats other than the given ones.
pub(crate) fn others(than: &[&'static Format]) -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(move |it| than.iter().all(|than| than.name != it.name))
}

/// Converts bytes to a format and back, and says what is wrong if they do not come back.
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
