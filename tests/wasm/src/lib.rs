//! The types and conversions of every revision as a WebAssembly module, which `run.mjs` loads.

#[cfg(all(feature = "function", target_family = "wasm"))]
mod function;

use std::cell::RefCell;

use mcp_adapters::{Policy, Revision, translate};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

thread_local! {
    static INPUT: RefCell<Vec<u8>> = RefCell::default();
    static OUTPUT: RefCell<Vec<u8>> = RefCell::default();
}

/// A value of a definition to convert.
#[derive(Deserialize)]
struct Job<'j> {
    from: &'j str,
    to: &'j str,
    definition: &'j str,
    #[serde(borrow)]
    value: &'j RawValue,
}

/// Returns a buffer for an input of this length.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Runs the job in the input, and returns the length of the output.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    give(INPUT.with_borrow(|input| result(input)))
}

/// Stores a result as the output, and returns its length.
fn give(result: Result<Value, String>) -> usize {
    let output = result.unwrap_or_else(|error| json!({ "error": error })).to_string();
    OUTPUT.set(output.into_bytes());
    OUTPUT.with_borrow(Vec::len)
}

/// Returns the output.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Returns the names of all revisions for an empty input, and otherwise the converted value and its losses.
fn result(input: &[u8]) -> Result<Value, String> {
    if input.is_empty() {
        return Ok(Revision::ALL.iter().map(|revision| revision.to_string()).collect());
    }
    let job: Job = serde_json::from_slice(input).map_err(|error| error.to_string())?;
    let (from, to) = (revision(job.from)?, revision(job.to)?);
    #[cfg(feature = "types")]
    check(from, job.definition, job.value.get())?;
    let translation = translate(from, to, job.definition, job.value.get().as_bytes(), Policy::Conform);
    let translation = translation.map_err(|error| error.to_string())?;
    #[cfg(feature = "types")]
    check(to, translation.definition, translation.value.text())?;
    let value: Value = serde_json::from_str(translation.value.text()).map_err(|error| error.to_string())?;
    let losses: Vec<String> = translation.losses.iter().map(|loss| loss.path.to_string()).collect();
    Ok(json!({ "value": value, "losses": losses }))
}

fn revision(name: &str) -> Result<Revision, String> {
    name.parse().map_err(|_| format!("there is no revision {name}"))
}

/// Decodes a value as the revision's type, validates it, and encodes it again, which must give the same value.
#[cfg(feature = "types")]
fn check(revision: Revision, definition: &str, value: &str) -> Result<(), String> {
    let definitions = revision.definitions().iter();
    let definition = definitions.clone().find(|known| known.name == definition);
    let instance = definition.ok_or("unknown definition")?.decode(value.as_bytes());
    let instance = instance.map_err(|error| error.to_string())?;
    instance.validate().map_err(|error| error.to_string())?;
    let same = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let encoded = instance.to_json().map_err(|error| error.to_string())?;
    if same(&encoded)? != same(value)? {
        return Err(format!("{value} came back as {encoded}"));
    }
    Ok(())
}
