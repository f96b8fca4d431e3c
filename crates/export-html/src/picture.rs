//! Embeds images of types that cannot contain a script.
//!
//! In: `image/png` and base64. Out: `<img .. src="data:image/png;base64,..">`.

use core_model::TextBody;

use crate::{html::Html, words::grouped};

/// Media types that browsers show and that cannot contain a script.
const MEDIA_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Limit in bytes of base64 for an image. No client sends one half as long.
const MAX_LENGTH: usize = 16 * 1024 * 1024;

/// Appends an image in base64. Invalid or too long ones become a note.
pub(crate) fn push_picture(html: &mut Html, media_type: TextBody<'_>, data: TextBody<'_>) {
    if data.as_str().len() > MAX_LENGTH {
        html.markup("<p class=\"quiet\">A picture of ").text(&grouped(data.as_str().len() as u64));
        html.markup(" bytes, which stands in the session and not on this page</p>");
        return;
    }
    let known = MEDIA_TYPES.iter().find(|known| media_type.is(known));
    let data = data.decode();
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let Some(known) = known.filter(|_| !data.is_empty() && data.bytes().all(is_base64)) else {
        html.markup("<p class=\"quiet\">A picture that cannot be shown: ");
        html.text(&media_type.decode()).markup("</p>");
        return;
    };
    html.markup("<img alt=\"Picture\" decoding=\"async\" loading=\"lazy\" src=\"data:").text(known);
    html.markup(";base64,").text(&data).markup("\">");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(media_type: &'static str, data: &'static str) -> String {
        let mut html = Html::default();
        let body = |text: &'static str| TextBody::new(text.trim_matches('"'));
        push_picture(&mut html, body(media_type), body(data));
        html.as_str().to_owned()
    }

    #[test]
    fn only_pictures_of_known_types_are_shown() {
        let shown = picture("\"image/png\"", "\"iVBORw0KGgo=\"");
        assert!(shown.ends_with("src=\"data:image/png;base64,iVBORw0KGgo=\">"), "{shown}");
        for (media_type, data) in [
            ("\"image/svg+xml\"", "\"PHN2Zz4=\""),
            ("\"text/html\"", "\"PHA+\""),
            ("\"image/png\"", "\"\""),
            ("\"image/png\"", "\"a\\\" onload=\\\"x\""),
            ("\"image/png,<b>\"", "\"aaaa\""),
        ] {
            assert!(!picture(media_type, data).contains("<img"), "{media_type}");
        }
    }
}
