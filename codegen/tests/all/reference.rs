//! The reference pages have the definitions, members and methods of the official schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mcp_codegen::generate_documents;
use mcp_codegen::load::{NAMES, load_document};
use mcp_codegen::overlay::{Overlay, apply_overlay};
use serde_json::Value;
use tempfile::TempDir;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The generated documents, by their paths.
static DOCUMENTS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let docs = TempDir::new().unwrap();
    generate_documents(&here("../schema"), docs.path(), false).unwrap();
    let mut documents = BTreeMap::new();
    for folder in ["", "reference", "changes"] {
        let files = fs::read_dir(docs.path().join(folder)).unwrap();
        for file in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
            let name = file.strip_prefix(docs.path()).unwrap().to_str().unwrap();
            documents.insert(name.to_owned(), fs::read_to_string(&file).unwrap());
        }
    }
    documents
});

/// The pages of the revisions.
fn pages() -> BTreeMap<&'static str, &'static str> {
    let revision = |path: &'static str| path.strip_prefix("reference/")?.strip_suffix(".md");
    let pages = DOCUMENTS.iter();
    let pages = pages.filter_map(|(path, page)| Some((revision(path)?, page.as_str())));
    pages.collect()
}

/// The section of each type.
fn sections(page: &str) -> BTreeMap<&str, &str> {
    let sections = page
        .split("\n### `")
        .skip(1)
        .map(|section| section.split_once('`').unwrap());
    sections.collect()
}

/// The table row of a method or a member, without the name.
fn row<'p>(text: &'p str, name: &str) -> &'p str {
    let starts = [format!("| `{name}` | "), format!("| [`{name}`](")];
    let mut lines = text.lines();
    lines
        .find_map(|line| starts.iter().find_map(|start| line.strip_prefix(start.as_str())))
        .unwrap_or_else(|| panic!("no row about {name} in {text}"))
}

#[test]
fn every_definition_and_member_of_each_schema_is_on_its_page() {
    for (revision, page) in pages() {
        let directory = here("../schema").join(revision);
        let overlay = Overlay::of(load_document(&directory.join("overlay.yaml")).unwrap()).unwrap();
        let schema = apply_overlay(&load_document(&directory.join("schema.json")).unwrap(), &overlay).unwrap();
        let root = schema.root();
        let definitions = root
            .get("$defs")
            .or(root.get("definitions"))
            .and_then(Value::as_object)
            .unwrap();
        let sections = sections(page);
        let mut members = 0;
        for (name, definition) in definitions {
            let section = sections
                .get(name.as_str())
                .unwrap_or_else(|| panic!("{revision}: no {name}"));
            if section.contains("\nOne of ") {
                continue;
            }
            let required = definition
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
            // The page describes the envelope of messages only once.
            let is_message = definition.pointer("/properties/method").is_some() && !name.starts_with("JSONRPC");
            for (member, _) in definition
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                if is_message && matches!(member.as_str(), "jsonrpc" | "id") {
                    continue;
                }
                let row = row(section, member);
                let is_required = row.split(" | ").nth(1) == Some("yes");
                assert_eq!(
                    is_required,
                    required.contains(member.as_str()),
                    "{revision} {name}.{member}: {row}"
                );
                members += 1;
            }
        }
        assert!(members > 100, "{revision}: {members} members");
    }
}

#[test]
fn every_method_has_direction_params_result_errors_and_capability() {
    let pages = pages();
    let page = pages["2025-11-25"];
    assert_eq!(
        row(page, "resources/read"),
        "#readresourcerequest) | client to server | [`ReadResourceRequestParams`](#readresourcerequestparams) | \
         [`ReadResourceResult`](#readresourceresult) | [-32002](#error-codes) | `resources` | 2024-11-05 |"
    );
    assert!(row(page, "ping").contains("| both directions | [`RequestParams`](#requestparams), optional |"));
    assert!(row(page, "elicitation/create").contains("`elicitation.url` where `mode` is `url` | 2025-06-18; "));
    assert!(row(pages["2026-07-28"], "roots/list").contains("| in a result |"));
    for (revision, page) in &pages {
        let schema = fs::read_to_string(here("../schema").join(revision).join("schema.json")).unwrap();
        let methods = schema
            .split("\"const\": \"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        for method in methods.filter(|constant| constant.contains('/') && !constant.starts_with("ref/")) {
            assert!(!row(page, method).is_empty(), "{revision} {method}");
        }
    }
}

#[test]
fn members_show_since_when_they_exist_and_how_they_changed() {
    let pages = pages();
    let sections = sections(pages["2025-11-25"]);
    assert!(row(sections["Tool"], "icons").ends_with("| since 2025-11-25 |"));
    assert!(row(sections["Tool"], "name").ends_with("|  |"));
    let change = "[2025-11-25](../changes/2025-06-18_2025-11-25.md): now optional";
    assert!(row(sections["CancelledNotificationParams"], "requestId").contains(change));
    let renamed = "Since 2024-11-05; until 2025-06-18 `JSONRPCError`.";
    assert!(sections["JSONRPCErrorResponse"].contains(renamed));
    // A page doesn't mention later revisions.
    assert!(!pages["2025-06-18"].contains("2025-11-25"));
}

#[test]
fn each_link_within_a_page_leads_to_one_heading() {
    for (revision, page) in pages() {
        let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
        let anchors = headings.map(|heading| {
            let heading = heading.trim_start_matches('#').trim().replace('`', "");
            heading.to_lowercase().replace(' ', "-")
        });
        let anchors: Vec<String> = anchors.collect();
        let unique: BTreeSet<&str> = anchors.iter().map(String::as_str).collect();
        assert_eq!(
            unique.len(),
            anchors.len(),
            "{revision}: two headings have the same anchor"
        );
        for link in page.split("](#").skip(1) {
            let link = link.split(')').next().unwrap();
            assert!(unique.contains(link), "{revision}: {link}");
        }
    }
}

/// Compares with a recorded page of the specification.
#[test]
#[ignore = "reads ../shared, which isn't part of this repository"]
fn members_of_the_official_reference_are_on_the_page() {
    let official = fs::read_to_string(here("../../shared/spec/000_b583a90df6fd5383.txt")).unwrap();
    let pages = pages();
    let sections = sections(pages["2025-06-18"]);
    let mut found = 0;
    for section in official.split("\n### [`").skip(1) {
        let (name, text) = section.split_once('`').unwrap();
        let Some((_, interface)) = text.split_once("interface ") else {
            continue;
        };
        let own = sections.get(name).unwrap_or_else(|| panic!("no {name}"));
        for member in text.lines().filter_map(|line| line.strip_prefix("- **")) {
            let member = member.split("**").next().unwrap();
            assert!(own.contains(&format!("| `{member}` |")), "{name}.{member}");
            found += 1;
        }
        assert!(interface.starts_with(name), "{name}");
    }
    assert!(found > 100, "{found} members");
}

#[test]
fn a_page_of_changes_starts_with_the_summary() {
    let revisions: Vec<&str> = pages().into_keys().collect();
    for pair in revisions.windows(2) {
        let page = &DOCUMENTS[&format!("changes/{}_{}.md", pair[0], pair[1])];
        let overlay = load_document(&here("../schema").join(pair[1]).join("overlay.yaml")).unwrap();
        // A revision gets a summary before its names are locked, and so before it is published.
        let is_published = here("../schema").join(pair[1]).join(NAMES).exists();
        let Some(summary) = overlay.root()["summary"].as_array() else {
            assert!(!is_published, "write `summary` into the overlay of {}", pair[1]);
            continue;
        };
        let lines: Vec<String> = summary
            .iter()
            .map(|it| format!("- {}\n", it.as_str().unwrap()))
            .collect();
        let heading = format!("# Changes from {} to {}\n\n{}", pair[0], pair[1], lines.concat());
        assert!((3..=6).contains(&lines.len()) && page.contains(&heading), "{page}");
    }
}

#[test]
fn every_overlay_entry_and_rule_is_on_the_page_of_gaps_with_reason_and_source() {
    let page = &DOCUMENTS["schema-gaps.md"];
    let rows: BTreeSet<&str> = page.lines().collect();
    let mut entries = 0;
    for revision in pages().keys() {
        for file in ["overlay.yaml", "adapt.yaml"] {
            let path = here("../schema").join(revision).join(file);
            if !path.exists() {
                continue;
            }
            let document = load_document(&path).unwrap();
            let sections = document.root().as_object().unwrap().iter();
            let sections = sections.filter(|(section, _)| *section != "summary");
            for entry in sections.filter_map(|(_, entries)| entries.as_array()).flatten() {
                let (why, link) = (entry["why"].as_str().unwrap(), entry["link"].as_str().unwrap());
                let cell = why.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
                let end = format!("| {cell} [Source]({link}) |");
                assert!(rows.iter().any(|row| row.ends_with(&end)), "{revision}: {end}");
                entries += 1;
            }
        }
    }
    let counted = page.lines().filter(|line| line.starts_with("| [20"));
    let counted = counted
        .flat_map(|line| line.split('|').skip(2))
        .filter_map(|count| count.trim().parse::<usize>().ok());
    let facts = page
        .lines()
        .filter(|line| line.starts_with("| `") && !line.contains("[Source]("))
        .count();
    assert_eq!(counted.sum::<usize>(), entries + facts);
}
