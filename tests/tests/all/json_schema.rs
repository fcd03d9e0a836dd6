//! The schemas that the feature `schemars` derives.

use mcp_adapters::Revision;
use mcp_tests::corrected;
use mcp_types_2024_11_05 as first;
use mcp_types_2025_11_25 as latest;
use schemars::{Schema, schema_for};
use serde_json::{Value, json};

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 40;

/// Asserts that a derived schema and the official one accept the same instances.
fn agrees(revision: Revision, definition: &str, derived: &Schema) {
    let judge = jsonschema::options()
        .should_validate_formats(false)
        .build(derived.as_value())
        .unwrap_or_else(|error| panic!("{revision} {definition}: {error}"));
    let instances = corrected(revision).of(definition, 5, COUNT);
    let (valid, invalid): (Vec<_>, Vec<_>) = instances.into_iter().partition(|instance| instance.valid);
    assert!(
        !valid.is_empty() && !invalid.is_empty(),
        "{revision} {definition}: nothing to try"
    );
    for instance in valid.iter().chain(&invalid) {
        assert_eq!(
            judge.is_valid(&instance.value),
            instance.valid,
            "{revision} {definition}: {} by {derived:?}",
            instance.value
        );
    }
}

macro_rules! agree {
    ($revision:expr, $krate:ident: $($definition:ident),* $(,)?) => {
        $(agrees($revision, stringify!($definition), &schema_for!($krate::$definition));)*
    };
}

#[test]
fn derived_schemas_accept_the_same_instances_as_the_official_ones() {
    agree!(Revision::V2024_11_05, first:
        CallToolResult, CompleteResult, CreateMessageResult, EmbeddedResource, InitializeResult, ListRootsResult,
        LoggingLevel, ModelPreferences, ProgressToken, ReadResourceResult, Tool);
    agree!(Revision::V2025_11_25, latest:
        CallToolResult, ClientCapabilities, CompleteRequestParams, ContentBlock, CreateMessageRequestParams,
        CreateMessageResult, ElicitRequestParams, ElicitResult, GetTaskResult, InitializeRequestParams,
        ListResourcesResult, LoggingLevel, PrimitiveSchemaDefinition, ReadResourceResult, SamplingMessage, Tool);
}

#[test]
fn types_of_several_revisions_have_separate_definitions_in_one_document() {
    let mut generator = schemars::SchemaGenerator::default();
    let early = generator.subschema_for::<first::CallToolResult>();
    let late = generator.subschema_for::<latest::CallToolResult>();
    assert_ne!(early, late);
    let definitions = Value::Object(generator.take_definitions(true));
    let judge = |schema: &Schema| {
        let mut document = schema.as_value().clone();
        document["$defs"] = definitions.clone();
        jsonschema::validator_for(&document).unwrap()
    };
    let link = json!({"content": [{"type": "resource_link", "name": "a", "uri": "a:b"}]});
    assert!(judge(&late).is_valid(&link));
    assert!(!judge(&early).is_valid(&link));
}
