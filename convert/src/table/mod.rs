//! The macros that generated conversions are written with.

mod chains;
mod definitions;
mod objects;
mod revisions;
