//! Reading of official schemas: values, their positions, and documents that are refused.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::load::{Document, Format, MAX_DEPTH, Manifest, check_document, load_document};
use mcp_codegen::{Place, Problems, model_yaml};
use serde_json::{Value, json};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn hub_schema() -> String {
    let manifest = Manifest::load(&here("../schema")).unwrap();
    let hub = manifest.hub().unwrap().as_str();
    fs::read_to_string(here("../schema").join(hub).join("schema.json")).unwrap()
}

fn yaml(text: &str) -> Document {
    Document::parse("schema.yaml", text.as_bytes(), Format::Yaml).unwrap()
}

fn check(file: &str, bytes: &[u8]) -> Result<(), Problems> {
    check_document(&Document::parse(file, bytes, Format::of(file, bytes))?)
}

/// Each folder of `bad` holds a schema and the problems that are reported for it; `UPDATE_EXPECT=1` rewrites them.
#[test]
fn every_kind_of_bad_schema_is_reported_with_all_its_problems() {
    let mut cases = 0;
    for folder in fs::read_dir(here("tests/bad")).unwrap() {
        let folder = folder.unwrap().path();
        let name = ["schema.json", "schema.yaml"]
            .into_iter()
            .find(|name| folder.join(name).exists())
            .unwrap();
        let found = check(name, &fs::read(folder.join(name)).unwrap())
            .unwrap_err()
            .to_string()
            + "\n";
        let expected = folder.join("expected.txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&expected).unwrap(), "{}", folder.display());
        cases += 1;
    }
    assert!(cases > 10);
}

#[test]
fn problems_of_different_revisions_and_shared_files_are_reported_together() {
    let schema = r#"{"$defs": {"Thing": {"type": "object"}}}"#;
    let tree = tempfile::tempdir().unwrap();
    let mut manifest = String::from("revisions:\n");
    for revision in ["a", "b", "c", "d"] {
        let sha256 = "0".repeat(64);
        manifest +=
            &format!("- {{revision: {revision}, source: 'https://example.org', sha256: {sha256}, dialect: 2020-12}}\n");
        fs::create_dir(tree.path().join(revision)).unwrap();
        fs::write(tree.path().join(revision).join("schema.json"), schema).unwrap();
    }
    for (file, text) in [
        ("revisions.yaml", manifest.as_str()),
        ("a/overlay.yaml", "corrections: ["),
        ("a/adapt.yaml", "rules: {"),
        ("b/overlay.yaml", "corrections: [{at: '#/$defs/Thing'}]"),
        ("c/adapt.yaml", "rules: [{at: Thing.name, down: {vanish: true}}]"),
        ("capabilities.yaml", "[]"),
        ("d/schema.json", r#"{"$defs": {"Thing": {"type": "thing"}}}"#),
        ("docs.yaml", "Thing: [A thing.]"),
        ("modules.yaml", "things: Thing"),
    ] {
        fs::write(tree.path().join(file), text).unwrap();
    }
    let report = model_yaml(tree.path(), "a").unwrap_err().to_string();
    let folder = format!("{}/", tree.path().display());
    let problems = report.lines().filter(|line| !line.starts_with(' '));
    let files: Vec<&str> = problems
        .map(|problem| problem.strip_prefix(&folder).unwrap().split(':').next().unwrap())
        .collect();
    assert_eq!(
        files,
        [
            "a/adapt.yaml",
            "a/overlay.yaml",
            "b/overlay.yaml",
            "c/adapt.yaml",
            "capabilities.yaml",
            "d/schema.json",
            "docs.yaml",
            "modules.yaml",
        ]
    );
}

#[test]
fn every_committed_schema_and_the_manifest_are_read() {
    let manifest = Manifest::load(&here("../schema")).unwrap();
    assert!(!manifest.revisions.is_empty());
    for entry in &manifest.revisions {
        let schema = here("../schema").join(entry.revision.as_str()).join("schema.json");
        check_document(&load_document(&schema).unwrap()).unwrap();
    }
}

#[test]
fn the_committed_manifest_is_as_ingest_writes_it() {
    let text = fs::read_to_string(here("../schema/revisions.yaml")).unwrap();
    let manifest = Manifest::parse("revisions.yaml", &text).unwrap();
    assert_eq!(manifest.to_yaml().unwrap(), text);
}

#[test]
fn every_supported_keyword_is_accepted() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/schema", "x-note": [1],
        "$defs": {
            "Yes": true, "No": false, "Empty": {},
            "a/b c": { "$defs": { "Inner": { "type": ["string", "null"], "const": "x", "enum": ["x"] } } },
            "Uses": {
                "allOf": [{ "$ref": "#/$defs/a~1b%20c/$defs/Inner" }, { "$ref": "#/definitions/Mixed" }],
                "oneOf": [true], "not": false, "if": true, "then": {}, "else": {},
                "properties": { "unknown keyword": {}, "$ref": { "$ref": "#/$defs/Uses" }, "type": { "type": "number" } },
                "patternProperties": { "^x": {} }, "propertyNames": { "pattern": "^.$" }, "additionalProperties": { "$ref": "#/$defs/Uses" },
                "required": ["a"], "minProperties": 0, "maxProperties": 2.0,
                "dependentRequired": { "a": ["b"] }, "dependentSchemas": { "a": true }, "dependencies": { "a": ["b"], "c": {} },
                "default": { "$ref": 7 }, "const": { "type": "none" }, "enum": [{ "$ref": "nowhere" }],
            },
            "List": {
                "items": { "$ref": "#/$defs/List" }, "prefixItems": [{}], "additionalItems": false, "contains": {},
                "minContains": 0, "maxContains": 1, "minItems": 0, "maxItems": 9, "uniqueItems": true,
            },
            "Scalar": {
                "multipleOf": 0.5, "minimum": 0, "maximum": 1e3, "exclusiveMinimum": -1, "exclusiveMaximum": 1001,
                "minLength": 0, "maxLength": 3, "format": "uri", "contentEncoding": "base64", "contentMediaType": "image/png",
                "title": "t", "description": "d", "$comment": "c", "examples": [1], "deprecated": true, "readOnly": true, "writeOnly": false,
            },
        },
        "definitions": { "Mixed": { "anyOf": [{ "$ref": "#/$defs/Uses/properties/type" }] } },
    });
    check("schema.json", schema.to_string().as_bytes()).unwrap();
    let draft = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": { "Pair": { "items": [{}, {}], "$ref": "#/$defs/Other", "anyOf": [{ "$ref": "#/definitions/Pair" }] } },
        "$defs": { "Other": {} },
    });
    check("schema.json", draft.to_string().as_bytes()).unwrap();
}

#[test]
fn a_chain_of_aliases_longer_than_the_stack_is_followed() {
    let count = 20_000;
    let definition = |index: usize| {
        (
            format!("D{index}"),
            json!({ "$ref": format!("#/$defs/D{}", index + 1) }),
        )
    };
    let mut definitions: serde_json::Map<_, _> = (0..count).map(definition).collect();
    definitions.insert(format!("D{count}"), json!({}));
    check("schema.json", json!({ "$defs": definitions }).to_string().as_bytes()).unwrap();
}

#[test]
fn deep_nesting_is_a_problem_and_does_not_overflow_the_stack() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        for (format, depth) in [(Format::Json, 10_000), (Format::Yaml, 1_000)] {
            let text = open.repeat(depth) + "1" + &close.repeat(depth);
            let problems = Document::parse("deep", text.as_bytes(), format).unwrap_err();
            assert!(problems.iter().next().unwrap().place.is_some(), "{problems}");
        }
        let text = open.repeat(MAX_DEPTH) + "1" + &close.repeat(MAX_DEPTH);
        Document::parse("deep", text.as_bytes(), Format::Json).unwrap();
    }
}

#[test]
fn a_bomb_of_yaml_aliases_is_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("a{level}: &a{level} [{inner}]\n");
    }
    assert!(Document::parse("bomb.yaml", text.as_bytes(), Format::Yaml).is_err());
}

#[test]
fn documents_whose_pointers_take_too_many_bytes_are_refused() {
    let name = "a".repeat(1 << 20);
    let text = format!("{{\"{name}\": [{}1]}}", "1, ".repeat(1 << 20));
    let problems = Document::parse("x.json", text.as_bytes(), Format::Json).unwrap_err();
    let place = Place {
        line: 1,
        column: name.len() + 7 + 3 * 127,
    };
    assert_eq!(problems.iter().next().unwrap().place, Some(place));
    assert!(
        problems.to_string().contains("take more than 134217728 bytes"),
        "{problems}"
    );
}

#[test]
fn invalid_utf_8_is_reported_with_its_position() {
    let problems = Document::parse("x.json", b"{\n  \"\xff\": 1}", Format::Json).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "x.json:2:4: invalid UTF-8\n  save the file as UTF-8"
    );
}

#[test]
fn a_folder_or_a_device_is_not_read_as_a_document() {
    let devices: &[&str] = if cfg!(unix) { &["/dev/null"] } else { &[] };
    for path in [env!("CARGO_MANIFEST_DIR")].iter().chain(devices) {
        let problems = load_document(Path::new(path)).unwrap_err();
        assert_eq!(problems.to_string(), format!("{path}: this isn't a regular file"));
    }
}

#[test]
fn columns_count_characters() {
    let document = Document::parse("x.json", "{\"äöü\": [\"€\", 1]}".as_bytes(), Format::Json).unwrap();
    assert_eq!(document.place("#/äöü/1"), Place { line: 1, column: 15 });
}

#[test]
fn a_character_that_json_escapes_as_two_surrogates_is_read() {
    let text = r#"{"\ud83d\ude00": ["\\ud83d \uD83D\uDE00", 1], "b": 2}"#;
    let document = Document::parse("x.json", text.as_bytes(), Format::Json).unwrap();
    assert_eq!(*document.root(), json!({ "😀": ["\\ud83d 😀", 1], "b": 2 }));
    assert_eq!(document.place("#/b"), Place { line: 1, column: 52 });
}

#[test]
fn a_pointer_to_a_missing_value_has_the_position_of_the_enclosing_value() {
    let document = Document::parse("x.json", b"{\n \"a\": [1,\n {}]}", Format::Json).unwrap();
    assert_eq!(document.place("#/a/1/b/c"), Place { line: 3, column: 2 });
}

/// Another parser that starts at the position of a value reads that value.
#[test]
fn every_json_value_is_at_its_reported_position() {
    let text = hub_schema();
    let document = Document::parse("schema.json", text.as_bytes(), Format::Json).unwrap();
    assert_eq!(*document.root(), serde_json::from_str::<Value>(&text).unwrap());
    let mut count = 0;
    each_value("#", document.root(), &mut |pointer, value| {
        let rest = text_at(&text, document.place(pointer));
        let read = serde_json::Deserializer::from_str(rest)
            .into_iter::<Value>()
            .next()
            .unwrap()
            .unwrap();
        assert_eq!(read, *value, "{pointer}");
        count += 1;
    });
    assert!(count > 1000);
}

#[test]
fn yaml_is_read_with_positions() {
    let text = "\
%YAML 1.1
---
# a comment: with a colon
plain: text  # and a comment
'it''s': \"quoted: yes\"
empty:
folded: >-
  plain: not a key
  text
sameindent:
- one: 1
  two: &anchor
    three: [3, {four: 4, \"five\": 'f: ,}', six: }, 'x', *anchor2]

-   - - deep
    - !!str 12
-
  below: true
alias: *anchor
multi: 'starts here

  plain: continues'
last: null
"
    .replace("*anchor2", "12.5");
    let document = yaml(&text);
    let expected = json!({
        "plain": "text", "it's": "quoted: yes", "empty": null, "folded": "plain: not a key text",
        "sameindent": [
            { "one": 1, "two": { "three": [3, { "four": 4, "five": "f: ,}", "six": null }, "x", 12.5] } },
            [["deep"], "12"],
            { "below": true },
        ],
        "alias": { "three": [3, { "four": 4, "five": "f: ,}", "six": null }, "x", 12.5] },
        "multi": "starts here\nplain: continues", "last": null,
    });
    assert_eq!(*document.root(), expected);
    let starts = [
        ("#/plain", "text "),
        ("#/it's", "\"quoted"),
        ("#/empty", "empty:"),
        ("#/folded", "plain: not a key"),
        ("#/sameindent", "one: 1"),
        ("#/sameindent/0", "one: 1"),
        ("#/sameindent/0/two", "&anchor"),
        ("#/sameindent/0/two/three", "[3"),
        ("#/sameindent/0/two/three/1", "{four"),
        ("#/sameindent/0/two/three/1/five", "'f: "),
        ("#/sameindent/0/two/three/1/six", "six: }"),
        ("#/sameindent/0/two/three/2", "'x'"),
        ("#/sameindent/0/two/three/3", "12.5"),
        ("#/sameindent/1/0/0", "deep"),
        ("#/sameindent/1/1", "!!str 12\n"),
        ("#/sameindent/2/below", "true"),
        ("#/alias", "*anchor"),
        ("#/alias/three/0", "*anchor"),
        ("#/multi", "'starts"),
        ("#/last", "null"),
    ];
    for (pointer, start) in starts {
        let found = text_at(&text, document.place(pointer));
        assert!(found.starts_with(start), "{pointer}: {:?}", found.lines().next());
    }
}

#[test]
#[ignore = "reads ../shared"]
fn every_value_of_the_official_yaml_is_at_its_reported_position() {
    let text = fs::read_to_string(here("../../shared/schema/ogc-2025-06-18.yaml")).unwrap();
    let document = yaml(&text);
    each_value("#", document.root(), &mut |pointer, value| {
        let found = text_at(&text, document.place(pointer));
        assert!(starts(found, value), "{pointer}: {:?}", found.lines().next());
    });
}

/// Whether a text starts with a value.
fn starts(found: &str, value: &Value) -> bool {
    match value {
        Value::Object(members) if members.is_empty() => found.starts_with("{}"),
        Value::Object(members) => members
            .keys()
            .any(|name| found.trim_start_matches(['"', '\'']).starts_with(name.as_str())),
        // A list that isn't indented starts where its first element does.
        Value::Array(list) => found.starts_with(['-', '[']) || list.first().is_some_and(|first| starts(found, first)),
        Value::String(text) => {
            let word = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
            found.starts_with(['"', '\'', '|', '>']) || word(found) == word(text)
        }
        scalar => found.starts_with(&scalar.to_string()),
    }
}

#[test]
fn yaml_that_json_cannot_represent_is_refused() {
    for text in [
        "a: .inf",
        "a: .nan",
        "a: !tag {b: 1}",
        "{[1]: 2}",
        "a: 1\n---\nb: 2",
        "a: &a [*a]",
        "? [1]\n: 2",
    ] {
        assert!(
            Document::parse("x.yaml", text.as_bytes(), Format::Yaml).is_err(),
            "{text}"
        );
    }
}

#[test]
fn a_file_of_comments_is_null() {
    assert_eq!(*yaml("# nothing yet\n").root(), Value::Null);
    assert_eq!(*yaml("").root(), Value::Null);
}

#[test]
fn a_manifest_reports_each_wrong_entry() {
    let text = "revisions:\n- revision: ../x\n- revision: a\n  source: x\n  sha256: no\n  dialect: draft-07\n- {revision: b, source: x, sha256: no, dialect: draft-07, extra: 1}\n";
    let problems = Manifest::parse("revisions.yaml", text).unwrap_err().to_string();
    let lines: Vec<_> = problems.lines().collect();
    assert_eq!(lines.len(), 3, "{problems}");
    assert!(
        lines[0].starts_with("revisions.yaml:2:13: #/revisions/0/revision: \"../x\" isn't a valid name of a revision"),
        "{problems}"
    );
    assert!(
        lines[1].starts_with("revisions.yaml:5:11: #/revisions/1/sha256: "),
        "{problems}"
    );
    assert!(
        lines[2].starts_with("revisions.yaml:7:66: #/revisions/2/extra: unknown field `extra`"),
        "{problems}"
    );
}

#[test]
fn random_damage_never_panics() {
    let root: Value = serde_json::from_str(&hub_schema()).unwrap();
    let definitions = root["$defs"].as_object().unwrap();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for round in 0..2_000 {
        let (name, definition) = definitions.iter().nth(random.below(definitions.len())).unwrap();
        let mut small = json!({ "$schema": root["$schema"], "$defs": { name: definition } });
        if round % 2 == 0 {
            replace_somewhere(&mut small, &mut random);
        }
        let json = serde_json::to_string_pretty(&small).unwrap();
        // The block style of YAML exercises the tracking of positions.
        let text = if round % 4 < 2 { json } else { block_yaml(&small, 0) };
        let mut bytes = text.into_bytes();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = b"{}[]\",:-#&*!|>'%\\ \n\xc30"[random.below(21)],
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at.max(1)),
            }
        }
        for format in [Format::Json, Format::Yaml] {
            if let Ok(document) = Document::parse("random", &bytes, format)
                && let Err(problems) = check_document(&document)
            {
                assert!(!problems.to_string().is_empty());
            }
        }
    }
}

fn block_yaml(value: &Value, indent: usize) -> String {
    let space = " ".repeat(indent);
    match value {
        Value::Object(members) if !members.is_empty() => {
            let lines = members
                .iter()
                .map(|(name, value)| format!("\n{space}{}: {}", json!(name), block_yaml(value, indent + 2)));
            lines.collect()
        }
        Value::Array(elements) if !elements.is_empty() => elements
            .iter()
            .map(|value| format!("\n{space}- {}", block_yaml(value, indent + 2)))
            .collect(),
        scalar => scalar.to_string(),
    }
}

fn replace_somewhere(value: &mut Value, random: &mut Random) {
    let chosen = random.below(usize::MAX);
    let inner = match value {
        Value::Object(members) if !members.is_empty() => {
            let chosen = chosen % members.len();
            members.values_mut().nth(chosen)
        }
        Value::Array(elements) if !elements.is_empty() => {
            let chosen = chosen % elements.len();
            elements.get_mut(chosen)
        }
        _ => None,
    };
    match inner {
        Some(inner) if random.below(5) > 0 => replace_somewhere(inner, random),
        _ => {
            let all = [
                json!(null),
                json!(-1.5),
                json!("#/$defs"),
                json!([]),
                json!({}),
                json!([{}, "a", "a"]),
                json!({ "$ref": "#/$defs/~2" }),
                json!({ "a": [1] }),
            ];
            *value = all[random.below(all.len())].clone();
        }
    }
}

/// xorshift: the same sequence in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

fn each_value(pointer: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(pointer, value);
    let join = mcp_json_schema::pointer::child;
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, inner)| each_value(&join(pointer, name), inner, visit)),
        Value::Array(elements) => {
            let numbered = elements.iter().enumerate();
            numbered.for_each(|(index, inner)| each_value(&join(pointer, &index.to_string()), inner, visit));
        }
        _ => {}
    }
}

fn text_at(text: &str, place: Place) -> &str {
    let start: usize = text.split_inclusive('\n').take(place.line - 1).map(str::len).sum();
    let column = text[start..]
        .char_indices()
        .nth(place.column - 1)
        .map_or(0, |(at, _)| at);
    &text[start + column..]
}
