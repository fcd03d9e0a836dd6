//! The cryptography of tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER;

/// Installs the cryptography provider, unless the program has installed one: otherwise, a program whose other
/// dependencies enable another provider would panic.
pub fn use_provider() {
    let _ = DEFAULT_PROVIDER.install_default();
}

/// Encodes bytes as base64url without padding, as in JSON Web Tokens.
pub fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Seconds since the epoch.
pub fn now() -> u64 {
    jsonwebtoken::get_current_timestamp()
}
