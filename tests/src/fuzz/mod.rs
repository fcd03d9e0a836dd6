//! Properties that must hold for any input, for fuzzing.
//!
//! Each is a function that panics if its input breaks the property. `fuzz/` calls them with inputs that libFuzzer
//! generates. The tests call them with the seeds, and with inputs that once broke a property, which are kept in
//! `fuzz/findings`.

mod client;
mod definitions;
mod http;
mod schemas;
mod stdio;
mod translations;

use std::time::Duration;

use mcp_adapters::Revision;

/// A property that must hold for any input.
pub struct Property {
    /// Its name, which the fuzz target and the folders of its inputs share.
    pub name: &'static str,
    /// Panics if the property doesn't hold for the input.
    pub check: fn(&[u8]),
    /// The inputs from which fuzzing starts.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All properties.
pub const PROPERTIES: &[Property] = &[
    Property {
        name: "definitions",
        check: definitions::check,
        seeds: definitions::seeds,
    },
    Property {
        name: "translations",
        check: translations::check,
        seeds: translations::seeds,
    },
    Property {
        name: "stdio",
        check: stdio::check,
        seeds: stdio::seeds,
    },
    Property {
        name: "http",
        check: http::check,
        seeds: http::seeds,
    },
    Property {
        name: "client",
        check: client::check,
        seeds: client::seeds,
    },
    Property {
        name: "schemas",
        check: schemas::check,
        seeds: schemas::seeds,
    },
];

/// Checks the property with this name.
///
/// # Panics
/// If there is none, or it doesn't hold for the input.
pub fn check(name: &str, input: &[u8]) {
    let property = PROPERTIES.iter().find(|property| property.name == name);
    (property.expect("a property has this name").check)(input);
}

/// Splits an input into the words of its first line and the bytes after it.
fn header(input: &[u8]) -> Option<(Vec<&str>, &[u8])> {
    let end = input.iter().position(|byte| *byte == b'\n')?;
    let words = str::from_utf8(&input[..end]).ok()?.split(' ').collect();
    Some((words, &input[end + 1..]))
}

fn revision(name: &str) -> Option<Revision> {
    name.parse().ok()
}

/// Runs a future on a paused clock, which advances to the next timer when the runtime is idle.
///
/// # Panics
/// If the future isn't done after an hour on that clock.
fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let done = tokio::time::timeout(Duration::from_secs(3600), future).await;
        done.expect("it ends within an hour")
    })
}
