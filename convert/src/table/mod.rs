//! The macros that declare the type of revisions.

mod peer_types;
mod revisions;
