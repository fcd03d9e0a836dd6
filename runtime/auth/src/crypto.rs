//! The cryptography of tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER;

/// Chooses the cryptography, unless the program has: without a choice, a program whose other dependencies enable another one
/// would panic.
pub fn use_provider() {
    let _ = DEFAULT_PROVIDER.install_default();
}

/// Bytes as base64url, as JSON Web Tokens have them.
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Seconds since the epoch.
pub fn now() -> u64 {
    jsonwebtoken::get_current_timestamp()
}
