//! The names of DPoP headers, errors and types, for proofs that a client has the key to which its token is bound.

use reqwest::header::HeaderName;

/// The header with a proof.
pub const DPOP: HeaderName = HeaderName::from_static("dpop");
/// The header with the nonce that the next proof has to contain.
pub const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");
/// The error for a proof without the nonce.
pub const USE_DPOP_NONCE: &str = "use_dpop_nonce";
/// The type of a proof.
pub const PROOF_TYPE: &str = "dpop+jwt";
