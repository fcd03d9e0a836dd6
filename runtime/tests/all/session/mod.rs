//! Sessions with peers that behave, misbehave, die or are slow.

mod batches;
mod cancellation;
mod capabilities;
mod custom;
mod disconnect;
mod handshake;
mod ignored;
mod lifecycle;
mod limits;
mod load;
mod malformed;
mod notifications;
mod pages;
mod prompt_handlers;
mod raw;
mod responses;
mod timeouts;
mod undeclared;
mod validation;
