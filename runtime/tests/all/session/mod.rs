//! Sessions with peers that behave, misbehave, die or are slow.

mod batches;
mod cancellation;
mod capabilities;
mod custom;
mod disconnect;
mod handshake;
mod immediate_handlers;
mod lifecycle;
mod limits;
mod load;
mod malformed;
mod notifications;
mod pages;
mod raw;
mod responses;
pub mod stray_input;
mod timeouts;
mod undeclared;
mod validation;
