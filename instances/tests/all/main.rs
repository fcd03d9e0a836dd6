//! The tests of this crate, in one binary, because each binary links the whole validator.

mod documents;
mod keywords;
mod official;
