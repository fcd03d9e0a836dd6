//! Tests that the numbers quoted on other pages are the last measured ones.

use std::path::Path;

use crate::measured::shown;
use crate::parts::Part;
use crate::store;

/// A quotation: a page, the beginning of a line on it, a part and one of its tables, and the rows and columns whose
/// numbers the line quotes.
type Quote = (
    &'static str,
    &'static str,
    (Part, &'static str),
    &'static [&'static str],
    &'static [&'static str],
);

const README: &str = "../README.md";
const COMPARED: &str = "compared.md";

const STDIO: &str = "stdio, 1 in flight, 100 B, 2025-11-25";
const HTTP: &str = "http, 1 in flight, 100 B, 2025-11-25";
const DECODE: (Part, &str) = (Part::Decode, "decode");
const CALLS: (Part, &str) = (Part::Calls, "CPU time a call, µs");
const CPU: (Part, &str) = (Part::Builds, "CPU time of a release build, s");
const SIZE: (Part, &str) = (Part::Builds, "release size, KB");
const SESSIONS: (Part, &str) = (Part::Sessions, "memory of a session, KB");

const BOTH: &[&str] = &["ours", "rmcp"];
const ALL: &[&str] = &["ours", "rmcp", "rmcp, nodelay"];
const DECODERS: &[&str] = &["typed", "message", "rmcp", "rust-mcp-schema"];

const QUOTES: [Quote; 13] = [
    (README, "| release build of a server", CPU, &["server"], BOTH),
    (README, "| release build of a server", SIZE, &["server"], BOTH),
    (README, "| a call over stdio, HTTP", CALLS, &[STDIO], BOTH),
    (README, "| a call over stdio, HTTP", CALLS, &[HTTP], ALL),
    (README, "| a call of a tool", DECODE, &["call"], DECODERS),
    (README, "| a list of 200 tools", DECODE, &["tools"], DECODERS),
    (README, "| a result with 50 blocks", DECODE, &["blocks"], DECODERS),
    (COMPARED, "| Release build of a server", CPU, &["server"], BOTH),
    (COMPARED, "| Its size", SIZE, &["server"], BOTH),
    (COMPARED, "| A call over stdio", CALLS, &[STDIO], BOTH),
    (COMPARED, "| A call over HTTP", CALLS, &[HTTP], ALL),
    (
        COMPARED,
        "| Memory of an idle session",
        SESSIONS,
        &["1000 sessions"],
        BOTH,
    ),
    (COMPARED, "| Decoding a call", DECODE, &["call"], DECODERS.split_at(1).1),
];

/// Returns the numbers in a line, as they are written there.
fn numbers(line: &str) -> Vec<&str> {
    let parts = line.split(|character: char| !matches!(character, '0'..='9' | '.' | ','));
    parts.map(|part| part.trim_matches(['.', ','])).collect()
}

#[test]
fn numbers_quoted_on_other_pages_are_the_last_measured_ones() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (page, line, (part, table), rows, columns) in QUOTES {
        let text = std::fs::read_to_string(docs.join(page)).expect("the page is there");
        let quoting = text.lines().find(|written| written.starts_with(line));
        let quoting = quoting.unwrap_or_else(|| panic!("{page} has no line {line:?}"));
        let measured = store::read(&docs, part).expect("it is JSON").expect("it was measured");
        for (row, column) in rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| (row, column)))
        {
            let number = measured.at(table, row, column).expect("it was measured").mean();
            let number = shown(number);
            assert!(
                numbers(quoting).contains(&&*number),
                "{page}: {table} of {column}, {row}, is {number}:\n{quoting}"
            );
        }
    }
}
