//! Revisions that nobody published, by data alone, and a server and a client of ours that speak them.

mod revision;
mod variants;
mod workspace;

use std::path::Path;

use mcp_codegen::files::Report;
use mcp_codegen::load::NAMES;
use mcp_codegen::{GenerateOptions, generate};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::revision::{LATEST, MADE_UP, here, read};
use crate::variants::{ASKING, BOTH, EVERYTHING, QUIET, RENAMED, SESSIONS, STATELESS};

/// The section of a text after a line.
fn after<'t>(text: &'t str, line: &str) -> &'t str {
    text.split_once(line)
        .unwrap_or_else(|| panic!("there is no {line:?} in {text}"))
        .1
}

/// The names that sessions of the made-up revision use.
fn lifecycle(adapters: &Path) -> Value {
    let table: Value = serde_json::from_str(&read(&adapters.join("tables").join(format!("{MADE_UP}.json")))).unwrap();
    table["lifecycle"].clone()
}

#[test]
fn a_revision_that_renames_what_a_session_does_and_has_a_handshake_again_is_taken_by_data_alone() {
    let root = TempDir::new().unwrap();
    let options = SESSIONS.ingested(root.path());
    generate(&options).unwrap_or_else(|error| panic!("{error}"));
    let adapters = options.out.join("mcp-adapters");

    let lifecycle = lifecycle(&adapters);
    for (role, name) in [
        ("acknowledge", "notifications/changes/watching"),
        ("begin", "session/open"),
        ("begun", "notifications/opened"),
        ("cancel", "notifications/aborted"),
        ("discover", "session/describe"),
        ("listen", "changes/watch"),
        ("log", "notifications/logged"),
        ("filter_tools", "toolsNews"),
        ("filter_uris", "news"),
        ("meta_log_level", "org.example/level"),
        ("meta_server", "org.example/host"),
        ("meta_subscription", "org.example/watch"),
        ("progress", "notifications/advanced"),
        ("result_kind", "resultSort"),
    ] {
        assert_eq!(lifecycle[role], name, "{role}");
    }
    let members = json!({"name": "revision", "capabilities": "offers", "implementation": "guest"});
    assert_eq!(lifecycle["begin_params"], members);
    let members = json!({"name": "revision", "capabilities": "offers", "implementation": "host", "text": "advice"});
    assert_eq!(lifecycle["begin_result"], members);
    assert_eq!(lifecycle.get("meta_version"), None);

    // A method by another name is the same for a session, and so its messages are converted.
    let report = read(&adapters.join("ADAPTERS.md"));
    for (from, to) in [(LATEST, MADE_UP), (MADE_UP, LATEST)] {
        let way = after(&report, &format!("## {from} to {to}\n"));
        let way = way.split_once("\n## ").map_or(way, |(way, _)| way);
        for (old, new) in &SESSIONS.renamed[..6] {
            for method in [old, new] {
                assert!(
                    !way.contains(&format!("`{method}`")),
                    "{from} to {to}: {method} isn't converted"
                );
            }
        }
    }
    // The names of methods are no losses: the table names those that another name stands for.
    let table = read(&adapters.join("tables/2099-01-01.json"));
    let down = after(&table, "\"down\": {\n");
    for (old, new) in &SESSIONS.renamed[..6] {
        let renamed = format!("\"{new}\": \"{old}\"");
        assert!(down.contains(&renamed), "{renamed} isn't in\n{down}");
    }
}

#[test]
fn revisions_with_other_names_and_other_questions_are_generated_by_data_alone() {
    for made_up in [&STATELESS, &ASKING] {
        let root = TempDir::new().unwrap();
        let options = made_up.ingested(root.path());
        generate(&options).unwrap_or_else(|error| panic!("{}: {error}", made_up.name));
        let lifecycle = lifecycle(&options.out.join("mcp-adapters")).to_string();
        for (old, new) in made_up.renamed {
            assert!(
                !lifecycle.contains(&format!("\"{old}\"")),
                "{old} isn't {new}: {lifecycle}"
            );
        }
    }
}

#[test]
fn a_later_revision_that_renames_everything_changes_no_published_crate() {
    let root = TempDir::new().unwrap();
    let options = GenerateOptions {
        out: here("../generated"),
        check: true,
        ..RENAMED.ingested(root.path())
    };
    let Report {
        stale,
        missing,
        orphaned,
        ..
    } = generate(&options).unwrap_or_else(|error| panic!("{error}")).files;
    let changed = [stale, missing, orphaned].concat().into_iter();
    let changed = changed.map(|path| path.display().to_string());
    let of_earlier = |path: &String| path.starts_with("mcp-types-") && !path.contains(MADE_UP);
    assert_eq!(changed.filter(of_earlier).collect::<Vec<_>>(), [""; 0]);

    // Without the published names, the made-up revision renames types of the latest one, which has documented them.
    std::fs::remove_file(options.schema.join(LATEST).join(NAMES)).unwrap();
    let error = generate(&options).unwrap_err().to_string();
    assert!(
        error.contains("nothing that `ServerCapabilitiesTools.listChanged` documents"),
        "{error}"
    );
}

#[test]
#[ignore = "compiles the runtime for each revision"]
fn a_server_and_a_client_speak_revisions_that_nobody_published() {
    let wanted = std::env::var("MADE_UP").ok();
    for made_up in [&ASKING, &SESSIONS, &EVERYTHING, &QUIET, &BOTH] {
        if wanted.as_deref().is_none_or(|wanted| wanted == made_up.name) {
            println!("{}", workspace::run(made_up));
        }
    }
}
