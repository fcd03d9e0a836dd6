//! Reads a schema from a file or over HTTP.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::load::{MAX_BYTES, read_bytes};

const TIMEOUT: Duration = Duration::from_secs(60);

/// The error of a schema that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    Read {
        /// The path as given.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The server could not be reached, or did not send the whole file.
    #[error("can't fetch {url}: {source}")]
    Fetch {
        /// The address as given.
        url: String,
        /// The error of the HTTP client.
        source: Box<ureq::Error>,
    },
    /// The schema is too large.
    #[error("{place} has more than {MAX_BYTES} bytes, too many for a schema of this protocol")]
    TooLong {
        /// The address or path as given.
        place: String,
    },
    /// An address that is neither http nor https.
    #[error("can't fetch {url}: only http and https are supported; download the file and give its path")]
    Scheme {
        /// The address as given.
        url: String,
    },
}

/// Reads a path, or fetches an address.
pub(super) fn fetch(place: &str) -> Result<Vec<u8>, FetchError> {
    let bytes = match place.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
            download(place)?
        }
        Some(_) => return Err(FetchError::Scheme { url: place.into() }),
        None => read_bytes(Path::new(place)).map_err(|source| FetchError::Read {
            path: place.into(),
            source,
        })?,
    };
    if bytes.len() > MAX_BYTES {
        return Err(FetchError::TooLong { place: place.into() });
    }
    Ok(bytes)
}

fn download(url: &str) -> Result<Vec<u8>, FetchError> {
    let failed = |error| match error {
        ureq::Error::BodyExceedsLimit(_) => FetchError::TooLong { place: url.into() },
        error => FetchError::Fetch {
            url: url.into(),
            source: Box::new(error),
        },
    };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut response = agent.get(url).call().map_err(failed)?;
    let body = response.body_mut().with_config().limit(MAX_BYTES as u64 + 1);
    body.read_to_vec().map_err(failed)
}
