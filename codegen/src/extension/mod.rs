//! Extensions: schemas in addition to the protocol's, whose types are partly those of the revision that they extend.
//!
//! A definition that the extension's schema repeats from the revision is the revision's type. Everything else goes
//! through the same stages as a revision.

mod combine;
mod copies;

pub(crate) use combine::combine;
