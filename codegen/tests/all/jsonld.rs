//! The JSON-LD of a revision, read by a JSON-LD library.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::load::Manifest;
use mcp_codegen::write_jsonld;
use oxjsonld::JsonLdParser;
use oxrdf::Dataset;
use oxrdf::dataset::CanonicalizationAlgorithm;
use serde_json::{Value, json};
use tempfile::TempDir;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The context and the annotated schema.
fn jsonld(revision: &str) -> (Value, Value) {
    let out = TempDir::new().unwrap();
    write_jsonld(&here("../schema"), revision, out.path()).unwrap();
    let read = |name| fs::read_to_string(out.path().join(name)).unwrap();
    let context = serde_json::from_str(&read("context.jsonld")).unwrap();
    (context, yaml_serde::from_str(&read("schema.yaml")).unwrap())
}

/// The triples of a message under a context. Blank nodes get canonical names.
fn triples(message: &Value, context: &Value) -> Dataset {
    let mut message = message.clone();
    message["@context"] = context["@context"].clone();
    let text = message.to_string();
    let quads = JsonLdParser::new().for_slice(&text);
    let mut triples: Dataset = quads
        .map(|quad| quad.unwrap_or_else(|error| panic!("{error}: {text}")))
        .collect();
    triples.canonicalize(CanonicalizationAlgorithm::Unstable);
    triples
}

#[test]
fn each_member_of_a_message_becomes_a_triple_with_its_iri() {
    let (context, _) = jsonld("2025-11-25");
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "draw", "arguments": {"undeclared": true}},
    });
    let triples = triples(&call, &context);
    let predicates: BTreeSet<&str> = triples.iter().map(|quad| quad.predicate.as_str()).collect();
    let names = ["jsonrpc", "id", "method", "params", "name", "arguments", "undeclared"];
    let iris = names.map(|name| format!("http://modelcontextprotocol.io/ontology#{name}"));
    assert_eq!(predicates, iris.iter().map(String::as_str).collect());
    assert_eq!(triples.len(), names.len());
}

#[test]
fn the_schema_of_each_revision_has_an_iri_for_each_member_and_our_descriptions() {
    for entry in Manifest::load(&here("../schema")).unwrap().revisions {
        let revision = entry.revision;
        let (context, schema) = jsonld(revision.as_str());
        assert_eq!(schema["x-jsonld-vocab"], context["@context"]["@vocab"]);
        let definitions = schema.get("$defs").or(schema.get("definitions")).unwrap();
        let tool = &definitions["Tool"];
        assert_eq!(
            tool["properties"]["inputSchema"]["x-jsonld-id"],
            "http://modelcontextprotocol.io/ontology#inputSchema"
        );
        assert!(tool["description"].is_string() && tool["properties"]["name"]["description"].is_string());
        let mut members = 0;
        for definition in definitions.as_object().unwrap().values() {
            for (name, member) in definition
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let term = context["@context"][name].as_str();
                assert_eq!(term, Some(format!("mcp:{name}").as_str()), "{revision}");
                assert!(
                    !member.is_object() || member["x-jsonld-id"].is_string(),
                    "{revision} {name}"
                );
                members += 1;
            }
        }
        assert!(members > 100, "{revision}: {members} members");
    }
}

/// The code blocks in a language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let start = format!("\n```{language}\n");
    text.split(start.as_str())
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect()
}

#[test]
#[ignore = "reads ../shared, which isn't part of this repository"]
fn the_examples_of_the_building_block_have_the_same_triples_under_both_contexts() {
    let page = fs::read_to_string(here("../../shared/spec/003_7b0eb83a3874b59f.txt")).unwrap();
    let theirs: Value = serde_json::from_str(blocks(&page, "jsonld").last().unwrap()).unwrap();
    let (ours, _) = jsonld("2025-06-18");
    let examples = blocks(&page, "json");
    assert_eq!(examples.len(), 20);
    for example in examples {
        let message: Value = serde_json::from_str(example).unwrap();
        let expected = triples(&message, &theirs);
        assert!(expected.len() >= 2, "{example}");
        assert_eq!(triples(&message, &ours), expected, "{example}");
    }
}

#[test]
#[ignore = "reads ../shared, which isn't part of this repository"]
fn the_schema_has_the_iris_of_the_building_block() {
    let page = fs::read_to_string(here("../../shared/spec/003_7b0eb83a3874b59f.txt")).unwrap();
    let theirs: Value = yaml_serde::from_str(blocks(&page, "yaml")[0]).unwrap();
    let (_, ours) = jsonld("2025-06-18");
    let mut compared = 0;
    for (name, definition) in theirs["definitions"].as_object().unwrap() {
        for (member, schema) in definition
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let own = &ours["definitions"][name]["properties"][member];
            assert_eq!(own["x-jsonld-id"], schema["x-jsonld-id"], "{name}.{member}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} members");
    for keyword in ["x-jsonld-vocab", "x-jsonld-prefixes"] {
        assert_eq!(ours[keyword], theirs[keyword]);
    }
}
