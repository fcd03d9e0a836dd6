//! A client over `fetch`, and a server as a function with elicitation, for JavaScript. `run.mjs` calls both.

#[cfg(all(feature = "client", target_family = "wasm"))]
mod client;
#[cfg(all(feature = "function", target_family = "wasm"))]
mod function;
#[cfg(feature = "function")]
pub mod server;
