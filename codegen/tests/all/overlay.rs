//! Corrections apply only where they fit; the others are reported.

use mcp_codegen::load::{Document, Format};
use mcp_codegen::overlay::{Overlay, apply_overlay};
use mcp_codegen::{Place, Problems};
use serde_json::{Value, json};

const SCHEMA: &str = r#"{
  "$defs": {
    "A": { "type": ["string", "integer"], "default": null },
    "B": {}
  }
}"#;

fn correct(corrections: &str) -> Result<Document, Problems> {
    let schema = Document::parse("schema.json", SCHEMA.as_bytes(), Format::Json).unwrap();
    let indented = corrections.replace('\n', "\n  ");
    let text = format!("corrections:\n  {indented}\n");
    let overlay = Overlay::of(Document::parse("overlay.yaml", text.as_bytes(), Format::Yaml)?)?;
    apply_overlay(&schema, &overlay)
}

fn corrected(corrections: &str) -> Value {
    correct(corrections).unwrap().root()["$defs"].clone()
}

const REASON: &str = "why: it is so, link: 'https://example.org'";

#[test]
fn a_value_is_replaced_added_and_removed() {
    let all = format!(
        "- {{at: '#/$defs/A/type/1', expect: integer, to: number, {REASON}}}\n\
         - {{at: ['#/$defs/C', '#/$defs/B/type'], to: x, {REASON}}}\n\
         - {{at: '#/$defs/A/type/2', to: boolean, {REASON}}}\n\
         - {{at: '#/$defs/A/type/0', expect: string, {REASON}}}\n\
         - {{at: '#/$defs/A/default', expect: null, to: 1, {REASON}}}"
    );
    assert_eq!(
        corrected(&all),
        json!({ "A": { "type": ["number", "boolean"], "default": 1 }, "B": { "type": "x" }, "C": "x" })
    );
}

#[test]
fn positions_survive_corrections() {
    let text = format!(
        "- {{at: '#/$defs/A/type/0', expect: string, {REASON}}}\n- {{at: '#/$defs/B', expect: {{}}, to: {{type: [x]}}, {REASON}}}"
    );
    let document = correct(&text).unwrap();
    assert_eq!(document.place("#/$defs/A/type/0"), Place { line: 3, column: 31 });
    assert_eq!(document.place("#/$defs/B/type/0"), Place { line: 4, column: 10 });
}

#[test]
fn expecting_null_differs_from_expecting_no_value() {
    assert!(correct(&format!("- {{at: '#/$defs/A/default', to: 1, {REASON}}}")).is_err());
    assert!(correct(&format!("- {{at: '#/$defs/A/other', expect: null, to: 1, {REASON}}}")).is_err());
}

#[test]
fn every_correction_that_does_not_fit_is_reported_with_its_position() {
    let text = format!(
        "- {{at: '#/$defs/A/type/1', expect: number, to: x, {REASON}}}\n\
         - {{at: ['#/$defs/X/type', '#/$defs/B/type'], to: x, {REASON}}}\n\
         - {{at: '/$defs/B', expect: {{}}, {REASON}}}\n\
         - {{at: '#', {REASON}}}\n\
         - {{at: '#/$defs/A/type/9', to: x, {REASON}}}\n\
         - {{at: '#/$defs/C', to: {{const: c}}, {REASON}}}\n\
         - {{at: ['#/$defs/B/x-tag', '#/$defs/C/x-tag'], to: b, {REASON}}}"
    );
    let problems = correct(&text).unwrap_err();
    let whats: Vec<_> = problems
        .iter()
        .map(|problem| problem.to_string().lines().next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        whats,
        [
            "overlay.yaml:2:5: #/corrections/0: #/$defs/A/type/1: \"number\" was expected there, and the schema has \"integer\"",
            "overlay.yaml:3:11: #/corrections/1/at/0: #/$defs/X/type: the schema has no object or list around this place",
            "overlay.yaml:4:5: #/corrections/2: /$defs/B: this isn't a JSON pointer",
            "overlay.yaml:5:5: #/corrections/3: #: this isn't a place that a correction can be made at",
            "overlay.yaml:6:5: #/corrections/4: #/$defs/A/type/9: the schema has no object or list around this place",
            "overlay.yaml:8:30: #/corrections/6/at/1: #/$defs/C/x-tag: the schema has a constant there, which distinguishes the object from others",
        ]
    );
}

#[test]
fn an_entry_without_reason_or_with_an_unknown_field_is_refused() {
    let text = "- {at: '#/a', to: 1, link: 'https://example.org'}\n- {at: '#/a', to: 1, why: x, link: here}\n- {at: '#/a', from: 1, why: x, link: 'https://example.org'}\n- {at: 7, why: x, link: 'https://example.org'}";
    let problems = correct(text).unwrap_err().to_string();
    for problem in [
        "overlay.yaml:2:5: #/corrections/0: missing field `why`",
        "overlay.yaml:3:5: #/corrections/1: `link` isn't an https address",
        "overlay.yaml:4:23: #/corrections/2/from: unknown field `from`",
        "overlay.yaml:5:10: #/corrections/3/at: expected a string or an array of strings",
    ] {
        assert!(problems.lines().any(|each| each.starts_with(problem)), "{problems}");
    }
}

#[test]
fn every_wrong_value_is_reported_at_its_place_in_the_terms_of_json() {
    let text = "corrections: {a: 1}\nresults: 5\nfacts:\n  version_header: 5\n  listening: [yes]\n  \
                statuses: {-1: x, -2: 400, -3: 1.5}\n  mirrors: {params: {X: {tools/call: 5}}}\nsummary: [a, 1, b, 2]\nmeta:\n- a\n\
                - {of: 1, member: {}, definition: 007, why: x, link: 'https://example.org'}\nsumary: []\n";
    let overlay = Document::parse("overlay.yaml", text.as_bytes(), Format::Yaml).unwrap();
    let problems = Overlay::of(overlay).unwrap_err();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let last = problems
        .last()
        .map(|problem| problem.split(',').next().unwrap_or_default());
    assert_eq!(last, Some("overlay.yaml:12:9: #/sumary: unknown field `sumary`"));
    assert_eq!(
        problems[..problems.len() - 1],
        [
            "overlay.yaml:1:14: #/corrections: expected an array, found an object",
            "overlay.yaml:2:10: #/results: expected an array, found 5",
            "overlay.yaml:4:19: #/facts/version_header: expected a string, found 5",
            "overlay.yaml:5:14: #/facts/listening: expected a boolean, found an array",
            "overlay.yaml:6:18: #/facts/statuses/-1: expected an integer, found \"x\"",
            "overlay.yaml:6:34: #/facts/statuses/-3: expected an integer, found 1.5",
            "overlay.yaml:7:38: #/facts/mirrors/params/X/tools~1call: expected a string, found 5",
            "overlay.yaml:8:14: #/summary/1: expected a string, found 1",
            "overlay.yaml:8:20: #/summary/3: expected a string, found 2",
            "overlay.yaml:10:3: #/meta/0: expected an object, found \"a\"",
            "overlay.yaml:11:8: #/meta/1/of: expected a string or an array of strings",
            "overlay.yaml:11:19: #/meta/1/member: expected a string, found an object",
        ]
    );
}

#[test]
fn an_empty_or_missing_overlay_changes_nothing() {
    let schema = Document::parse("schema.json", SCHEMA.as_bytes(), Format::Json).unwrap();
    let empty = Document::parse("overlay.yaml", b"# nothing yet\n", Format::Yaml).unwrap();
    for document in [empty, Document::empty("overlay.yaml")] {
        let overlay = Overlay::of(document).unwrap();
        assert_eq!(apply_overlay(&schema, &overlay).unwrap(), schema);
    }
}

#[test]
fn a_deprecation_of_a_missing_member_is_reported_with_its_position() {
    let schema = Document::parse("schema.json", SCHEMA.as_bytes(), Format::Json).unwrap();
    let text = format!(
        "deprecated:\n  - feature: letters\n    at: ['#/$defs/A', '#/$defs/B/properties/c']\n    since: 2099-01-01\n    \
         removal: in a year\n    instead: use digits\n    {}\n",
        REASON.replace(", ", "\n    ")
    );
    let overlay = Document::parse("overlay.yaml", text.as_bytes(), Format::Yaml).unwrap();
    let problems = apply_overlay(&schema, &Overlay::of(overlay).unwrap()).unwrap_err();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    let expected = "overlay.yaml:2:5: #/deprecated/0: the schema has nothing at #/$defs/B/properties/c";
    assert!(problem.starts_with(expected), "{problem}");
}
