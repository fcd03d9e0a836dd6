//! Errors of loading a revision. A loaded revision can't be unloaded, so the tests of `mcp-rev` load revisions in
//! separate processes.

use mcp_adapters::{LoadError, Revision};

const NAME: &str = "2099-01-01";

/// Loads the table of the latest revision under another name, as its successor, with `from` replaced by `to`.
fn load(from: &str, to: &str) -> LoadError {
    let latest = Revision::LATEST;
    let table = latest.table();
    let before = table.lines().find(|line| line.starts_with("\"before\"")).unwrap();
    let table = table
        .replacen(
            &format!("\"revision\": \"{latest}\""),
            &format!("\"revision\": \"{NAME}\""),
            1,
        )
        .replacen(before, &format!("\"before\": \"{latest}\","), 1);
    assert!(table.contains(from), "{from} isn't in the table");
    let error = Revision::load(NAME, &table.replacen(from, to, 1), latest.schema().text()).unwrap_err();
    assert!(Revision::all().all(|revision| revision.as_str() != NAME));
    error
}

#[test]
fn a_known_revision_is_not_loaded_again() {
    let latest = Revision::LATEST;
    let error = Revision::load(latest.as_str(), latest.table(), latest.schema().text()).unwrap_err();
    assert_eq!(error.to_string(), format!("there is a revision {latest} already"));
}

#[test]
fn a_revision_that_does_not_follow_the_last_one_is_not_loaded() {
    let before = format!("\"before\": \"{}\"", Revision::LATEST);
    let error = load(&before, "\"before\": \"2024-11-05\"");
    assert!(
        matches!(&error, LoadError::Order { after, .. } if after == "2024-11-05"),
        "{error}"
    );
}

#[test]
fn an_invalid_table_is_not_loaded() {
    for (from, to, problem) in [
        ("\"types\": {", "\"types\": [", "expected"),
        (
            "[[\"input_required\"],0]",
            "[[\"input_required\"],7]",
            "a variant for each decision",
        ),
        (
            "\"lifecycle\": {",
            "\"lifecycle\": {\"sing\": \"song\",",
            "lifecycle.sing",
        ),
        ("\"revision\": \"2099-01-01\"", "\"revision\": \"2098-01-01\"", NAME),
    ] {
        let error = load(from, to);
        assert!(matches!(error, LoadError::Table { .. }), "{error}");
        assert!(error.to_string().contains(problem), "{error}");
    }
}

#[test]
fn an_invalid_schema_is_not_loaded() {
    let error = Revision::load(NAME, Revision::LATEST.table(), "{").unwrap_err();
    assert!(matches!(error, LoadError::Schema { .. }), "{error}");
}
