//! The algorithms of signatures.

use jsonwebtoken::{Algorithm, AlgorithmFamily};

use crate::error::AuthError;

/// The algorithms that are accepted by default.
pub const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
    Algorithm::PS256,
    Algorithm::RS256,
    Algorithm::RS512,
];

/// Parses the names of algorithms. Those that sign with a shared secret are refused.
pub fn algorithms(names: &[&str]) -> Result<Vec<Algorithm>, AuthError> {
    let algorithms = names.iter().map(|name| {
        let algorithm = name.parse().ok();
        let asymmetric = algorithm.filter(|it: &Algorithm| it.family() != AlgorithmFamily::Hmac);
        asymmetric.ok_or_else(|| AuthError::Key(format!("the algorithm {name} isn't supported")))
    });
    algorithms.collect()
}
