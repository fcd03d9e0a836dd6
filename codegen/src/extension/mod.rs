//! Extensions: schemas beside the protocol's, whose types are partly those of the revision that they extend.
//!
//! A definition that the extension's schema repeats from the revision is the revision's type. Everything else goes through the
//! stages that a revision goes through.

mod combine;
mod copies;

pub(crate) use combine::combine;
