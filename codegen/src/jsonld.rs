//! A revision as linked data: a JSON-LD context, and its schema with the IRI of each member, in the form of the OGC's
//! building blocks.

use std::collections::BTreeSet;

use mcp_json_schema::{DEFINITIONS, change_schemas};
use serde_json::{Map, Value, json};

use crate::load::Docs;
use crate::model::{MemberSchema, Model};

/// The prefix of the IRIs of members.
const VOCABULARY: &str = "http://modelcontextprotocol.io/ontology#";

/// The abbreviation of [`VOCABULARY`] in a context.
const PREFIX: &str = "mcp";

/// The abbreviations in a context, and the prefixes of IRIs that they stand for.
const PREFIXES: [(&str, &str); 3] = [
    (PREFIX, VOCABULARY),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
];

/// Returns the JSON-LD context of a revision, with a term for each member that it declares. Undeclared members are
/// terms of the same vocabulary.
pub(crate) fn context(model: &Model) -> Value {
    let mut terms = BTreeSet::new();
    for (ty, object) in model.objects() {
        terms.extend(object.names());
        let within = ty.schema.members.values().flat_map(MemberSchema::declared);
        terms.extend(within.map(|(name, _)| name.as_str()));
    }
    let mut context = Map::new();
    context.insert("@version".into(), json!(1.1));
    context.insert("@vocab".into(), VOCABULARY.into());
    context.extend(prefixes());
    let terms = terms.into_iter();
    context.extend(terms.map(|term| (term.to_owned(), format!("{PREFIX}:{term}").into())));
    json!({ "@context": context })
}

fn prefixes() -> impl Iterator<Item = (String, Value)> {
    PREFIXES
        .into_iter()
        .map(|(prefix, iri)| (prefix.to_owned(), iri.into()))
}

/// Returns the schema of a revision with the IRI of each member (`x-jsonld-id`), and with the descriptions of
/// `docs.yaml`.
pub(crate) fn annotated_schema(schema: &Value, docs: &Docs) -> Value {
    let mut annotated = schema.clone();
    change_schemas(&mut annotated, &mut |schema| {
        let Some(schema) = schema.as_object_mut() else {
            return;
        };
        // Keywords with this prefix are instructions to the generator.
        schema.retain(|keyword, _| !keyword.starts_with("x-"));
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, member) in members.into_iter().flatten() {
            if let Some(member) = member.as_object_mut() {
                member.insert("x-jsonld-id".into(), format!("{VOCABULARY}{name}").into());
            }
        }
    });
    for keyword in DEFINITIONS {
        let definitions = annotated.get_mut(keyword).and_then(Value::as_object_mut);
        for (name, definition) in definitions.into_iter().flatten() {
            describe(definition, docs.entry(name, None));
            let members = definition.get_mut("properties").and_then(Value::as_object_mut);
            for (member, schema) in members.into_iter().flatten() {
                describe(schema, docs.entry(name, Some(member)));
            }
        }
    }
    if let Some(root) = annotated.as_object_mut() {
        root.insert("x-jsonld-vocab".into(), VOCABULARY.into());
        root.insert("x-jsonld-prefixes".into(), Map::from_iter(prefixes()).into());
    }
    annotated
}

fn describe(schema: &mut Value, entry: Option<(String, &str)>) {
    if let (Some(schema), Some((_, text))) = (schema.as_object_mut(), entry) {
        schema.insert("description".into(), text.into());
    }
}
