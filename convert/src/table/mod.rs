//! The macros of the generated conversions.
//!
//! A table begins with the enumeration of revisions and the modules of the two revisions, `Revision: source => target;`.

mod chains;
mod definitions;
mod methods;
mod objects;
mod open;
mod peer_types;
mod revisions;
mod strings;
mod unions;
