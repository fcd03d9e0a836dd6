//! Keeps `codegen/PIPELINE.md` up to date: each of its blocks is the output of a stage for the schemas in this folder.
//! `UPDATE_PIPELINE=1` rewrites them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cache::Cache;
use crate::crates::emit_protocol;
use crate::emit::revision_table;
use crate::ingest::{IngestOptions, ingest};
use crate::load::load;
use crate::model::TypeRef;
use crate::normalise::normalise_revision;
use crate::stages::{model, plan};

const POINTER: &str = "#/$defs/Link";

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn case(file: &str) -> PathBuf {
    here("tests/pipeline").join(file)
}

/// Ingests both revisions, and adds the hand-written files.
fn schema_directory(root: &TempDir) -> PathBuf {
    let schema = root.path().join("schema");
    for revision in ["1", "2"] {
        let official = case(revision).with_extension("json");
        let options = IngestOptions {
            source: Some(format!("https://example.org/notes/{revision}.json")),
            ..IngestOptions::new(&schema, revision.parse().unwrap(), official.display().to_string())
        };
        ingest(&options).unwrap();
    }
    for (file, copy) in [
        ("overlay.yaml", "2/overlay.yaml"),
        ("adapt.yaml", "2/adapt.yaml"),
        ("docs.yaml", "docs.yaml"),
    ] {
        fs::copy(case(file), schema.join(copy)).unwrap();
    }
    schema
}

/// The blocks of the page by their names.
fn blocks() -> BTreeMap<&'static str, String> {
    let root = TempDir::new().unwrap();
    let schema = schema_directory(&root);
    let mut blocks = BTreeMap::new();
    let official: Value = serde_json::from_slice(&fs::read(case("2.json")).unwrap()).unwrap();
    blocks.insert("official", pretty(&official["$defs"]["Link"]));
    let ingested: Value = serde_json::from_slice(&fs::read(schema.join("2/schema.json")).unwrap()).unwrap();
    blocks.insert("ingested", pretty(&ingested["$defs"]["Link"]));

    let loaded = load(&schema).unwrap();
    let documents = &loaded.revisions[1];
    let address = format!("{POINTER}/properties/address");
    let problem = documents.schema.problem(&address, "a problem would be reported here");
    let file = problem
        .to_string()
        .replace(&schema.join("").display().to_string(), "schema/");
    blocks.insert("loaded", file);
    blocks.insert("overlay", fs::read_to_string(case("overlay.yaml")).unwrap());

    let cache = Cache::default();
    let normalised = normalise_revision(documents, None, &cache.schemas).unwrap();
    let corrected = normalised.document.get(POINTER).unwrap();
    blocks.insert("corrected", pretty(&corrected["required"]));
    let definition = &normalised.shapes.definitions[POINTER];
    blocks.insert("shape", said(&format!("{:#?}", definition.node.shape)));

    let protocol = model(loaded, &cache).unwrap();
    let types = &protocol.revisions[1].model.types;
    blocks.insert("model", yaml(&json!({"Link": types["Link"], "Block": types["Block"]})));

    let protocol = plan(protocol, &cache).unwrap();
    let block = TypeRef::Named("Block".to_owned());
    let [_, down] = protocol.plans[0].as_ref();
    let (_, row) = down.conversions[&(block.clone(), block)].row.as_ref().unwrap();
    blocks.insert("rule", fs::read_to_string(case("adapt.yaml")).unwrap());
    blocks.insert("plan", yaml(row));
    let table = &revision_table(&protocol, 1);
    let rows = table
        .lines()
        .filter(|line| line.starts_with("\"Link\"") || line.starts_with("\"Block\""));
    blocks.insert(
        "table",
        rows.map(|row| row.trim_end_matches(',').to_owned() + "\n").collect(),
    );

    let emitted = emit_protocol((&protocol, &cache), "../..").unwrap();
    let is_of_types = |(path, _): &(&Path, &str)| path.starts_with("mcp-types-2");
    let (_, text) = emitted
        .files
        .iter()
        .filter(is_of_types)
        .find(|(_, text)| text.contains("pub struct Link"))
        .unwrap();
    let union = format!(
        "{}\n{}",
        item(text, "pub enum Block"),
        item(text, "union! {\n    Block:")
    );
    blocks.insert(
        "struct",
        format!(
            "{}\n{}",
            item(text, "pub struct Link"),
            item(text, "object! {\n    Link:")
        ),
    );
    blocks.insert("union", union);
    blocks
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

fn yaml(value: &impl Serialize) -> String {
    yaml_serde::to_string(&json!(value)).unwrap()
}

/// Debug output without the fields that are `None` or `false`.
fn said(debug: &str) -> String {
    let is_said = |line: &&str| !line.ends_with(": None,") && !line.ends_with(": false,");
    let lines = debug.lines().filter(is_said);
    lines.map(|line| format!("{line}\n")).collect()
}

/// An item of a file with its documentation: from the empty line before a text to the brace that ends the item.
fn item(text: &str, head: &str) -> String {
    let at = text.find(head).unwrap_or_else(|| panic!("there is no `{head}`"));
    let start = text[..at].rfind("\n\n").map_or(0, |empty| empty + 2);
    let end = text[at..].find("\n}").map_or(text.len(), |brace| at + brace + 2);
    text[start..end].to_owned() + "\n"
}

/// The page with these blocks in the code fences that follow `<!-- name -->`.
fn with_blocks(page: &str, blocks: &BTreeMap<&str, String>) -> String {
    let mut parts = page.split("<!-- ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let block = blocks
            .get(name)
            .unwrap_or_else(|| panic!("no stage produces the block `{name}`"));
        let (fence, rest) = rest.split_once('\n').unwrap();
        let (_, rest) = rest.split_once("```").unwrap();
        text += &format!("<!-- {name} -->\n{fence}\n{}\n```{rest}", block.trim_end());
    }
    text
}

#[test]
fn the_pipeline_page_shows_the_output_of_each_stage() {
    let file = here("PIPELINE.md");
    let page = fs::read_to_string(&file).unwrap();
    let blocks = blocks();
    let found = with_blocks(&page, &blocks);
    if std::env::var_os("UPDATE_PIPELINE").is_some() {
        fs::write(&file, &found).unwrap();
    } else {
        assert_eq!(page, found, "run this test with UPDATE_PIPELINE=1");
    }
    for name in blocks.keys() {
        assert!(
            page.contains(&format!("<!-- {name} -->")),
            "the page lacks the block `{name}`"
        );
    }
}

/// The modules of the stages, in order. None imports a later one.
const STAGES: [&str; 9] = [
    "load",
    "overlay",
    "extension",
    "normalise",
    "model",
    "adapt",
    "diff",
    "emit",
    "crates",
];

#[test]
fn no_stage_imports_a_later_one() {
    for (index, stage) in STAGES.iter().enumerate() {
        let mut left = vec![here("src").join(stage), here("src").join(stage).with_extension("rs")];
        let mut files = 0;
        while let Some(path) = left.pop() {
            if let Ok(entries) = fs::read_dir(&path) {
                left.extend(entries.map(|entry| entry.unwrap().path()));
            } else if let Ok(text) = fs::read_to_string(&path) {
                files += 1;
                let imported = STAGES[index + 1..]
                    .iter()
                    .find(|later| text.contains(&format!("crate::{later}::")));
                assert_eq!(imported, None, "{} imports a later stage", path.display());
            }
        }
        assert!(files > 0, "there is no stage `{stage}`");
    }
}
