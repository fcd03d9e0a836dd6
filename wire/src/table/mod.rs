//! The macros by which generated crates describe their types.
//!
//! A generated type is a plain `struct` or `enum`; the table below it defines how its members, values or variants are
//! written in JSON. The table generates [`Decode`](crate::Decode), `serde`'s traits, [`Validate`](crate::Validate),
//! constructors and setters.

mod messages;
mod object;
mod strings;
mod union;
