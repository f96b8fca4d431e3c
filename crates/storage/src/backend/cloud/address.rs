//! Parses URLs: the store, from scheme and host, and the key of an object in it.
//!
//! In: `s3://bucket/team/a.jsonl?X-Amz-Signature=..`. Out: the store `s3://bucket`, the key
//! `team/a.jsonl`, and the URL without its query for messages.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, RetryConfig,
    aws::{AmazonS3Builder, S3CopyIfNotExists},
    azure::MicrosoftAzureBuilder,
    gcp::GoogleCloudStorageBuilder,
    http::HttpBuilder,
};

use super::{bucket::Bucket, failure::failure};
use crate::interruption::Interruption;

/// Timeout of a request to a web server, which sends an object in one piece.
const WEB_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The buckets of a run, each opened once.
#[derive(Debug, Default)]
pub struct Buckets {
    open: HashMap<String, Arc<Bucket>>,
    interruption: Interruption,
}

/// A parsed URL.
struct Address<'u> {
    scheme: &'u str,
    /// The URL up to the end of its host.
    root: &'u str,
    /// The URL without a query, a fragment, or a user name.
    shown: String,
}

impl Buckets {
    /// Creates an empty set. An interruption ends waiting for requests.
    pub fn new(interruption: Interruption) -> Self {
        Self { open: HashMap::new(), interruption }
    }

    /// Returns the bucket of an URL, and the URL without its query, which may contain signatures,
    /// as the path for messages.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is not of a known store, or if the environment has invalid
    /// settings for it.
    pub fn of(&mut self, url: &Path) -> io::Result<(Arc<Bucket>, PathBuf)> {
        let text = url.to_str().ok_or_else(|| io::Error::other("is no text"))?;
        let address = Address::of(text)?;
        // Each object of the web may have its own server and query, so it is a bucket of its own.
        let key = if address.is_web() { text } else { address.root };
        if let Some(bucket) = self.open.get(key) {
            return Ok((bucket.clone(), PathBuf::from(address.shown)));
        }
        let store = store(&address, text).map_err(|error| failure(&error))?;
        let root = if address.is_web() { address.shown.clone() } else { address.root.to_owned() };
        let bucket = Arc::new(Bucket::new(store, root, address.is_web(), self.interruption)?);
        self.open.insert(key.to_owned(), bucket.clone());
        Ok((bucket, PathBuf::from(address.shown)))
    }

    /// Clears the metadata caches of all buckets.
    pub fn forget(&self) {
        self.open.values().for_each(|bucket| bucket.forget_all());
    }
}

impl<'u> Address<'u> {
    fn of(url: &'u str) -> io::Result<Self> {
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| io::Error::other("not a URL such as s3://BUCKET/NAME"))?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (host, name) = rest.split_at(end);
        if host.is_empty() {
            return Err(io::Error::other("the URL names no bucket; write it as s3://BUCKET/NAME"));
        }
        let is_web = matches!(scheme, "http" | "https");
        if !is_web && (host.contains('?') || host.contains(':') && host.contains('@')) {
            return Err(io::Error::other(
                "the URL has credentials; set them in the environment instead",
            ));
        }
        let (host, name) = match is_web {
            true => (
                host.rsplit('@').next().unwrap_or(host),
                name.split(['?', '#']).next().unwrap_or(name),
            ),
            false => (host, name),
        };
        let root = url.get(..scheme.len() + 3 + end).unwrap_or(url);
        Ok(Self { scheme, root, shown: format!("{scheme}://{host}{name}") })
    }

    fn is_web(&self) -> bool {
        matches!(self.scheme, "http" | "https")
    }
}

/// Opens a store with the settings of the environment.
fn store(address: &Address<'_>, url: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    // An error means that a provider is installed already, which is as good.
    _ = rustls::crypto::ring::default_provider().install_default();
    Ok(match address.scheme {
        #[cfg(feature = "memory")]
        "memory" => super::memory::store(address.root),
        "gs" => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_url(address.root)
                .with_retry(retries())
                .build()?,
        ),
        "az" | "azure" | "adl" | "abfs" | "abfss" => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_url(address.root)
                .with_retry(retries())
                .build()?,
        ),
        "http" | "https" => {
            let options = ClientOptions::new().with_allow_http(true).with_timeout(WEB_TIMEOUT);
            let builder = HttpBuilder::new().with_url(url).with_client_options(options);
            Arc::new(builder.with_retry(retries()).build()?)
        }
        _ => Arc::new(
            AmazonS3Builder::from_env()
                .with_url(address.root)
                .with_copy_if_not_exists(S3CopyIfNotExists::Multipart)
                .with_retry(retries())
                .build()?,
        ),
    })
}

/// Returns the retry settings. An unreachable store is reported within seconds.
fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(5),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: 6, retry_timeout: Duration::from_secs(60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_in_an_url_is_not_shown() {
        for (url, root, shown) in [
            ("s3://bucket/a b/c.jsonl", "s3://bucket", "s3://bucket/a b/c.jsonl"),
            ("s3://bucket", "s3://bucket", "s3://bucket"),
            ("az://box/what?#.jsonl", "az://box", "az://box/what?#.jsonl"),
            (
                "https://ada:secret@host/x.jsonl?sig=secret#top",
                "https://ada:secret@host",
                "https://host/x.jsonl",
            ),
        ] {
            let address = Address::of(url).expect("an address");
            assert_eq!((address.root, &*address.shown), (root, shown));
        }
        for url in ["s3:///x", "x", "s3://id:secret@bucket/x"] {
            assert!(Address::of(url).is_err(), "{url}");
        }
    }
}
