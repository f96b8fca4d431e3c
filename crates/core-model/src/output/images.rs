//! Collects the images that a document refers to as files.
//!
//! In: the image `iVBORw0KGgo=` of the type `image/png`. Out: the path
//! `images/4c4b6a3be1314ab8.png`, whose name is the start of the SHA-256 of the image, and its 8 bytes.

use std::collections::HashMap;

use jsonl::decode_base64;

use super::Output;
use crate::{Sha256, TextBody};

/// Limit on the different images of a document. A line of a megabyte has room for twelve thousand.
const MAX_IMAGES: usize = 4 * 1024;

/// The number of bytes of the hash that are in the name of a file.
const NAME_BYTES: usize = 8;

/// An image that a target refers to by the path of a file beside it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ImageFile {
    /// The path from the folder of the target on, such as `images/4c4b6a3be1314ab8.png`. Images with
    /// the same bytes have the same path, in all sessions.
    pub path: String,
    /// The image.
    pub bytes: Vec<u8>,
}

impl ImageFile {
    /// Returns the start of the image's hash in a path that [`Output::add_image`] made, as hexadecimal digits; `None`
    /// for another path.
    ///
    /// ```
    /// use core_model::ImageFile;
    ///
    /// assert_eq!(ImageFile::hash_in("images/4c4b6a3be1314ab8.png"), Some("4c4b6a3be1314ab8"));
    /// assert_eq!(ImageFile::hash_in("images/step-1.png"), None);
    /// ```
    pub fn hash_in(path: &str) -> Option<&str> {
        let (hash, ending) = path.strip_prefix("images/")?.split_once('.')?;
        let is_hash = hash.len() == 2 * NAME_BYTES
            && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (is_hash && ImageKind::ALL.iter().any(|kind| kind.ending() == ending)).then_some(hash)
    }
}

/// The images of an output.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// The hashes of all images so far, by the bytes in their names.
    known: HashMap<[u8; NAME_BYTES], [u8; 32]>,
    /// The images that nobody has taken yet.
    new: Vec<ImageFile>,
}

impl Output {
    /// Lets writers refer to images as files, which the caller takes and writes.
    pub fn collect_images(&mut self) {
        self.images = Some(Images::default());
    }

    /// Adds an image to the files of the target. Returns its path; `None` if the target has no files
    /// beside it or too many, if the type is none of JPEG, PNG, GIF and WebP, if the bytes are not
    /// base64 or do not start like an image of the type, or if another image has the same name.
    pub fn add_image(&mut self, media_type: TextBody<'_>, data: TextBody<'_>) -> Option<String> {
        let images = self.images.as_mut()?;
        let kind = ImageKind::of(&media_type.decode())?;
        if !data.is_base64() {
            return None;
        }
        let text = data.decode();
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
        decode_base64(text.as_bytes(), &mut bytes);
        if !kind.starts(&bytes) {
            return None;
        }
        let hash = Sha256::of(&bytes);
        let start = *hash.first_chunk::<NAME_BYTES>()?;
        let name: String = start.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = format!("images/{name}.{}", kind.ending());
        match images.known.get(&start) {
            // Two images with one name can be made on purpose.
            Some(known) if *known != hash => return None,
            Some(_) => {}
            None if images.known.len() >= MAX_IMAGES => return None,
            None => {
                images.known.insert(start, hash);
                images.new.push(ImageFile { path: path.clone(), bytes });
            }
        }
        Some(path)
    }

    /// Returns the images since the last call.
    pub fn take_images(&mut self) -> Vec<ImageFile> {
        self.images.as_mut().map(|images| std::mem::take(&mut images.new)).unwrap_or_default()
    }
}

/// The types of images that APIs of models accept.
#[derive(Clone, Copy)]
enum ImageKind {
    Gif,
    Jpeg,
    Png,
    WebP,
}

impl ImageKind {
    const ALL: [Self; 4] = [ImageKind::Gif, ImageKind::Jpeg, ImageKind::Png, ImageKind::WebP];

    fn of(media_type: &str) -> Option<Self> {
        Some(match media_type {
            "image/gif" => ImageKind::Gif,
            "image/jpeg" => ImageKind::Jpeg,
            "image/png" => ImageKind::Png,
            "image/webp" => ImageKind::WebP,
            _ => return None,
        })
    }

    fn ending(self) -> &'static str {
        match self {
            ImageKind::Gif => "gif",
            ImageKind::Jpeg => "jpg",
            ImageKind::Png => "png",
            ImageKind::WebP => "webp",
        }
    }

    /// Returns whether a file of the type starts with these bytes.
    fn starts(self, bytes: &[u8]) -> bool {
        match self {
            ImageKind::Gif => bytes.starts_with(b"GIF8"),
            ImageKind::Jpeg => bytes.starts_with(b"\xff\xd8\xff"),
            ImageKind::Png => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
            ImageKind::WebP => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        }
    }
}

#[cfg(test)]
mod tests {
    use jsonl::Style;

    use super::*;

    fn output() -> Output {
        let mut out = Output::new(Style::Compact, Style::Compact, "s1");
        out.collect_images();
        out
    }

    const PNG: &str = "iVBORw0KGgo=";

    fn add(out: &mut Output, media_type: &str, data: &str) -> Option<String> {
        out.add_image(TextBody::new(media_type), TextBody::new(data))
    }

    #[test]
    fn an_image_is_one_file_however_often_it_is_added() {
        let mut out = output();
        let path = add(&mut out, "image/png", PNG);
        assert_eq!(path.as_deref(), Some("images/4c4b6a3be1314ab8.png"));
        assert_eq!(add(&mut out, "image\\/png", "iVBORw0KGgo"), path);
        let bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        assert_eq!(out.take_images(), [ImageFile { path: path.unwrap(), bytes }]);
        assert!(add(&mut out, "image/png", PNG).is_some() && out.take_images().is_empty());
    }

    #[test]
    fn only_images_become_files() {
        let mut out = output();
        for (media_type, data) in [
            ("image/svg+xml", PNG),
            ("image/jpeg", PNG),
            ("image/png", "iVBORw0KGg"),
            ("image/png", "[image removed]"),
            ("image/webp", "UklGRg=="),
        ] {
            assert_eq!(add(&mut out, media_type, data), None, "{media_type} {data}");
        }
        assert_eq!(out.take_images(), []);
        let mut out = Output::new(Style::Compact, Style::Compact, "s1");
        assert_eq!(add(&mut out, "image/png", PNG), None);
    }

    #[test]
    fn another_image_with_the_same_name_is_no_file() {
        let mut out = output();
        assert!(add(&mut out, "image/png", PNG).is_some());
        let images = out.images.as_mut().expect("they are collected");
        images.known.values_mut().for_each(|hash| hash[31] ^= 1);
        assert_eq!(add(&mut out, "image/png", PNG), None);
    }

    #[test]
    fn the_number_of_images_is_limited() {
        let mut out = output();
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut n_files = 0;
        for n in 0..MAX_IMAGES + 2 {
            let digit = |n: usize| char::from(digits[n % 64]);
            let data = format!("iVBORw0KGgoA{}{}{}A", digit(n / 4096), digit(n / 64), digit(n));
            n_files += usize::from(add(&mut out, "image/png", &data).is_some());
        }
        assert_eq!((n_files, out.take_images().len()), (MAX_IMAGES, MAX_IMAGES));
    }
}
