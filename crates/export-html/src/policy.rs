//! Writes the content security policy, which permits only the page's own style and script, and no
//! request.

use sha2::{Digest, Sha256};

use crate::html::Html;

const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");

/// Appends the policy and the style, whose hash is in the policy.
pub(crate) fn push_policy(html: &mut Html) {
    html.markup("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    html.markup("img-src data:; style-src 'sha256-").text(&hash(STYLE));
    html.markup("'; script-src 'sha256-").text(&hash(SCRIPT));
    html.markup("'; base-uri 'none'; form-action 'none'\">\n");
    html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.markup("<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.markup("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.markup("<style>").markup(STYLE).markup("</style>\n");
}

/// Appends the script.
pub(crate) fn push_script(html: &mut Html) {
    html.markup("<script>").markup(SCRIPT).markup("</script>\n");
}

/// Returns the SHA-256 of a text in base64, as in a policy.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut base64 = String::new();
    for bytes in digest.chunks(3) {
        let byte = |idx: usize| u32::from(bytes.get(idx).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for idx in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * idx) & 63) as usize);
            let digit = digit.filter(|_| idx <= bytes.len()).unwrap_or(&b'=');
            base64.push(char::from(*digit));
        }
    }
    base64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_browsers() {
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    #[test]
    fn no_asset_ends_its_element_or_asks_for_another() {
        for asset in [STYLE, SCRIPT] {
            for word in ["</", "<!--", "url(", "@import", "fetch(", "innerHTML", "eval(", "http"] {
                assert!(!asset.contains(word), "{word}");
            }
            assert!(asset.chars().all(|char| char == '\n' || !char.is_control()));
        }
    }
}
