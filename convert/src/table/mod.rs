//! The macros of the generated enumeration of revisions.

mod peer_types;
mod revisions;
