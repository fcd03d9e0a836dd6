//! The cryptography of tokens.

use jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER;

/// Chooses the cryptography, unless the program has: without a choice, a program whose other dependencies enable another one
/// would panic.
pub fn use_provider() {
    let _ = DEFAULT_PROVIDER.install_default();
}
