//! Extensions of a revision: types that they share with it, and extensions that are refused.

use std::fs;
use std::path::PathBuf;

use mcp_codegen::ingest::{ExtensionOptions, IngestOptions, ingest, ingest_extension};
use mcp_codegen::{GenerateOptions, generate};
use serde_json::{Value, json};
use tempfile::TempDir;

const REVISION: &str = "2099-01-01";
const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema directory with one revision.
struct Directory {
    root: TempDir,
}

impl Directory {
    fn new() -> Self {
        let directory = Self {
            root: TempDir::new().unwrap(),
        };
        ingest(&directory.options(&core(), REVISION)).unwrap();
        directory
    }

    fn schema(&self) -> PathBuf {
        self.root.path().join("schema")
    }

    fn options(&self, schema: &Value, revision: &str) -> IngestOptions {
        let file = self.root.path().join("official.json");
        fs::write(&file, schema.to_string()).unwrap();
        IngestOptions {
            source: Some("https://example.org/schema.json".into()),
            accept: true,
            draft: Some(true),
            ..IngestOptions::new(self.schema(), revision.parse().unwrap(), file.display().to_string())
        }
    }

    /// Ingests an extension with these definitions and this overlay, as version 1.
    fn extend(&self, id: &str, definitions: &Value, overlay: &str) -> Result<(), String> {
        self.extend_by(id, &json!({"$schema": DIALECT, "$defs": definitions}), overlay)
    }

    /// Ingests an extension with this schema and this overlay, as version 1.
    fn extend_by(&self, id: &str, schema: &Value, overlay: &str) -> Result<(), String> {
        let extension = ExtensionOptions {
            id: id.to_owned(),
            name: None,
            of: REVISION.parse().unwrap(),
            official: true,
        };
        let folder = self
            .schema()
            .join("extensions")
            .join(id.rsplit('/').next().unwrap())
            .join("1");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("overlay.yaml"), overlay).unwrap();
        let ingested = ingest_extension(&extension, &self.options(schema, "1"));
        ingested.map(|_| ()).map_err(|error| error.to_string())
    }

    /// A file of an extension's crate.
    fn generated(&self, file: &str) -> String {
        let out = self.root.path().join("generated");
        generate(&GenerateOptions {
            schema: self.schema(),
            out: out.clone(),
            crates: "../..".to_owned(),
            check: false,
        })
        .unwrap();
        fs::read_to_string(out.join(file)).unwrap()
    }
}

/// The schema of the revision.
fn core() -> Value {
    json!({
        "$schema": DIALECT,
        "$defs": {
            "Amount": {
                "type": "object",
                "description": "How much.",
                "properties": {
                    "value": {"type": "integer"},
                    "unit": {"type": "string", "enum": ["kg", "m"]},
                },
                "required": ["value", "unit"],
            },
            "WeighRequest": {
                "type": "object",
                "properties": {"method": {"type": "string", "const": "scales/weigh"}},
                "required": ["method"],
            },
            "Goods": {"type": "object", "properties": {"_meta": {"type": "object"}}},
            "WeighResult": {"type": "object", "properties": {"amount": {"$ref": "#/$defs/Amount"}}},
            "ClientRequest": {"anyOf": [{"$ref": "#/$defs/WeighRequest"}]},
        },
    })
}

/// A request of an extension, with a definition equivalent to the revision's `Amount`.
fn price(method: &str) -> Value {
    json!({
        "Amount": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "value": {"type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64},
                "unit": {"anyOf": [{"type": "string", "const": "kg"}, {"type": "string", "const": "m"}]},
            },
            "required": ["unit", "value"],
        },
        "PriceRequest": {
            "type": "object",
            "properties": {
                "method": {"type": "string", "const": method},
                "params": {"type": "object", "properties": {"of": {"$ref": "#/$defs/Amount"}}, "required": ["of"]},
            },
            "required": ["method", "params"],
        },
        "PriceResult": {
            "type": "object",
            "properties": {
                "price": {"type": "number"},
                "of": {
                    "type": "object",
                    "properties": {"value": {"type": "integer"}, "unit": {"type": "string", "enum": ["kg", "m"]}},
                    "required": ["value", "unit"],
                },
            },
            "required": ["price"],
        },
    })
}

const CLIENT: &str = r##"
corrections:
  - at: "#/$defs/ClientRequest"
    to: {$ref: "#/$defs/PriceRequest"}
    why: Clients ask.
    link: https://example.org/prices
"##;

#[test]
fn an_equivalent_definition_uses_the_type_of_the_revision() {
    let directory = Directory::new();
    directory
        .extend("com.example/prices", &price("prices/get"), CLIENT)
        .unwrap();
    let types = directory.generated("mcp-ext-prices/src/prices.rs");
    assert!(types.contains("use mcp_types_2099_01_01::Amount;"), "{types}");
    assert!(!types.contains("struct Amount"), "{types}");
    // The result repeats the same definition inline.
    assert!(types.contains("pub of: Option<Amount>,"), "{types}");
    let methods = directory.generated("mcp-ext-prices/src/methods.rs");
    assert!(
        methods.contains(r#"Method::request("prices/get", Direction::ClientToServer"#),
        "{methods}"
    );
    assert!(!methods.contains("scales/weigh"), "{methods}");
    let manifest = directory.generated("mcp-ext-prices/Cargo.toml");
    assert!(
        manifest.contains(r#"mcp-types-2099-01-01 = { path = "../mcp-types-2099-01-01""#),
        "{manifest}"
    );
}

#[test]
fn a_definition_that_differs_from_one_of_the_same_name_must_be_renamed() {
    let directory = Directory::new();
    let mut definitions = price("prices/get");
    definitions["Amount"]["properties"]["value"] = json!({"type": "string"});
    let refused = directory
        .extend("com.example/prices", &definitions, CLIENT)
        .unwrap_err();
    let core = directory.schema().join(REVISION).join("schema.json");
    assert!(
        refused.contains("#/$defs/Amount: `Amount` is another type in revision 2099-01-01"),
        "{refused}"
    );
    assert!(refused.contains(&format!("{}:", core.display())), "{refused}");
    let named = format!(
        "{CLIENT}  - {{at: \"#/$defs/Amount/x-name\", to: Price, why: Another type., link: https://example.org}}\n"
    );
    directory.extend("com.example/prices", &definitions, &named).unwrap();
    let types = directory.generated("mcp-ext-prices/src/prices.rs");
    assert!(types.contains("pub struct Price {"), "{types}");
}

#[test]
fn an_inline_schema_uses_the_type_that_the_overlay_names_if_that_can_hold_it() {
    let directory = Directory::new();
    let mut definitions = price("prices/get");
    definitions["PriceResult"]["properties"]["of"] = json!({
        "type": "object",
        "properties": {
            "value": {"type": "integer", "minimum": 0},
            "unit": {"const": "kg"},
            "grade": {"type": "string"},
        },
        "required": ["value", "unit"],
        "additionalProperties": false,
    });
    let overlay = |name: &str| {
        let at = "#/$defs/PriceResult/properties/of/x-type";
        format!("{CLIENT}  - {{at: \"{at}\", to: {name}, why: An amount., link: https://example.org}}\n")
    };
    directory
        .extend("com.example/prices", &definitions, &overlay("Amount"))
        .unwrap();
    let types = directory.generated("mcp-ext-prices/src/prices.rs");
    assert!(types.contains("pub of: Option<Amount>,"), "{types}");

    definitions["PriceResult"]["properties"]["of"]["properties"]["value"] = json!({"type": "number"});
    let refused = directory
        .extend("com.example/prices", &definitions, &overlay("Amount"))
        .unwrap_err();
    assert!(
        refused.contains("of/x-type: `Amount` can't hold what is valid here: `value` is another type"),
        "{refused}"
    );
    let refused = directory
        .extend("com.example/prices", &definitions, &overlay("Sum"))
        .unwrap_err();
    assert!(refused.contains("of/x-type: there is no definition `Sum`"), "{refused}");
}

#[test]
fn members_added_to_metadata_of_the_revision_are_described() {
    let directory = Directory::new();
    let meta = |of: &str, definition: &str| {
        format!(
            "{CLIENT}meta:\n  - {{of: {of}, member: price, definition: {definition}, why: Goods., link: https://example.org}}\n"
        )
    };
    directory
        .extend(
            "com.example/prices",
            &price("prices/get"),
            &meta("Goods", "PriceResult"),
        )
        .unwrap();
    let text = directory.generated("mcp-ext-prices/src/extension.rs");
    let entry = r##"MetaMember { of: "Goods", member: "price", definition: "#/$defs/PriceResult" }"##;
    assert!(text.contains(entry), "{text}");
    let refused = directory
        .extend("com.example/prices", &price("prices/get"), &meta("Amount", "Cost"))
        .unwrap_err();
    assert!(
        refused.contains("the revision has no `Amount` with `_meta`"),
        "{refused}"
    );
    assert!(refused.contains("the schema has no definition `Cost`"), "{refused}");
}

#[test]
fn documents_bundled_as_definitions_keep_their_nested_definitions() {
    let directory = Directory::new();
    let mut definitions = price("prices/get");
    definitions["PriceResult"]["$schema"] = json!(DIALECT);
    definitions["PriceResult"]["$defs"] = json!({"Currency": {"type": "string", "enum": ["EUR", "CHF"]}});
    definitions["PriceResult"]["properties"]["currency"] = json!({"$ref": "#/$defs/Currency"});
    directory.extend("com.example/prices", &definitions, CLIENT).unwrap();
    let types = directory.generated("mcp-ext-prices/src/prices.rs");
    assert!(types.contains("pub currency: Option<Currency>,"), "{types}");
}

#[test]
fn a_result_that_is_added_to_a_request_of_the_revision_is_described() {
    let directory = Directory::new();
    let overlay = format!(
        "{CLIENT}results:\n  - {{method: scales/weigh, result: PriceResult, why: Scales tell prices., link: https://example.org}}\n"
    );
    directory
        .extend("com.example/prices", &price("prices/get"), &overlay)
        .unwrap();
    let text = directory.generated("mcp-ext-prices/src/extension.rs");
    let added = r##"AddedResult { method: "scales/weigh", kind: None, definition: "#/$defs/PriceResult" }"##;
    assert!(text.contains(added), "{text}");
}

#[test]
fn an_invalid_extension_is_refused_and_the_manifest_stays_unchanged() {
    let directory = Directory::new();
    let manifest = || fs::read_to_string(directory.schema().join("revisions.yaml")).unwrap();
    let before = manifest();
    let missing = json!({"Price": {"type": "object", "properties": {"of": {"$ref": "#/$defs/Currency"}}}});
    let unknown =
        "results:\n  - {method: scales/tare, result: Tare, why: w, link: https://example.org}\nsettings: Settings\n";
    let mut with_enumeration = price("prices/get");
    with_enumeration["Unit"] = json!({"enum": ["g", "kg"]});
    let mut with_list = price("prices/get");
    with_list["Unit"] = json!({"type": "array"});
    let settings = &*format!("{CLIENT}settings: Unit\n");
    let cases = [
        (
            "com.example/prices",
            with_enumeration,
            settings,
            "/overlay.yaml:7:11: #/settings: `Unit` isn't an object",
        ),
        ("com.example/prices", with_list, settings, "`Unit` isn't an object"),
        (
            "com.example/prices",
            price("scales/weigh"),
            CLIENT,
            "`scales/weigh` is a method of revision 2099-01-01 itself",
        ),
        ("com.example/prices", missing, "", "#/$defs/Currency leads to nothing"),
        (
            "prices",
            price("prices/get"),
            CLIENT,
            "--extension: \"prices\" can't be the id of an extension",
        ),
        (
            "com..example/prices",
            price("prices/get"),
            CLIENT,
            "--extension: \"com..example/prices\" can't be the id of an extension",
        ),
        (
            "com.example/Prices",
            price("prices/get"),
            CLIENT,
            "--extension: \"Prices\" can't name an extension\n  give the extension another name by `--name`",
        ),
        (
            "com.example/prices",
            price("prices/get"),
            unknown,
            "neither the extension nor the revision has a request `scales/tare`",
        ),
        (
            "com.example/prices",
            price("prices/get"),
            unknown,
            "the schema has no definition `Tare`",
        ),
        (
            "com.example/prices",
            price("prices/get"),
            unknown,
            "the schema has no definition `Settings`",
        ),
    ];
    for (id, definitions, overlay, problem) in cases {
        let refused = directory.extend(id, &definitions, overlay).unwrap_err();
        assert!(refused.contains(problem), "{refused}");
        assert_eq!(manifest(), before);
    }
}

#[test]
fn a_schema_in_an_earlier_dialect_is_converted_to_that_of_the_revision() {
    let directory = Directory::new();
    let definitions = price("prices/get")
        .to_string()
        .replace("#/$defs/", "#/definitions/")
        .replace(DIALECT, DRAFT_07);
    let definitions: Value = serde_json::from_str(&definitions).unwrap();
    let schema = json!({"$schema": DRAFT_07, "definitions": definitions});
    directory.extend_by("com.example/prices", &schema, CLIENT).unwrap();
    let types = directory.generated("mcp-ext-prices/src/prices.rs");
    assert!(types.contains("use mcp_types_2099_01_01::Amount;"), "{types}");
    assert!(types.contains("pub of: Option<Amount>,"), "{types}");
}

#[test]
fn messages_of_the_revision_are_refused_in_an_extension() {
    let directory = Directory::new();
    let refused = directory
        .extend("com.example/prices", &core()["$defs"], "")
        .unwrap_err();
    assert!(
        refused.contains("every definition is one of revision 2099-01-01"),
        "{refused}"
    );
    // A union that equals the revision's is accepted.
    let mut definitions = price("prices/get");
    for name in ["WeighRequest", "WeighResult", "ClientRequest"] {
        definitions[name] = core()["$defs"][name].clone();
    }
    directory.extend("com.example/prices", &definitions, "").unwrap();
    let union = json!({"anyOf": [{"$ref": "#/$defs/PriceRequest"}, {"$ref": "#/$defs/WeighRequest"}]});
    definitions["ClientRequest"] = union;
    let refused = directory.extend("com.example/prices", &definitions, "").unwrap_err();
    let what = "#/$defs/WeighRequest: this member of `ClientRequest` is a message of the revision";
    assert!(refused.contains(what), "{refused}");
}

#[test]
fn extensions_that_share_a_method_or_a_name_are_refused() {
    let directory = Directory::new();
    directory
        .extend("com.example/prices", &price("prices/get"), CLIENT)
        .unwrap();
    let refused = directory
        .extend("com.example/costs", &price("prices/get"), CLIENT)
        .unwrap_err();
    assert!(
        refused.contains("`prices/get` is a method of com.example/"),
        "{refused}"
    );
    let refused = directory
        .extend("org.example/prices", &price("prices/ask"), CLIENT)
        .unwrap_err();
    assert!(
        refused.contains("`prices` is the name of com.example/prices"),
        "{refused}"
    );
}
