//! Revisions that nobody published, by data alone, and a server and a client of ours that speak them.

mod revision;
mod variants;
mod workspace;

use mcp_codegen::files::Report;
use mcp_codegen::load::NAMES;
use mcp_codegen::{GenerateOptions, generate};
use tempfile::TempDir;

use crate::revision::{LATEST, MADE_UP, here, read};
use crate::variants::{ASKING, BOTH, EVERYTHING, QUIET, RENAMED, SESSIONS, STATELESS};

/// The section of a text after a line.
fn after<'t>(text: &'t str, line: &str) -> &'t str {
    text.split_once(line)
        .unwrap_or_else(|| panic!("there is no {line:?} in {text}"))
        .1
}

#[test]
fn a_revision_that_renames_what_a_session_does_and_has_a_handshake_again_is_taken_by_data_alone() {
    let root = TempDir::new().unwrap();
    let options = SESSIONS.ingested(root.path());
    generate(&options).unwrap_or_else(|error| panic!("{error}"));
    let adapters = options.out.join("mcp-adapters");

    let table = read(&adapters.join("src/peer_types.rs"));
    let lifecycle = after(&table, "        V2099_01_01 {\n");
    let lifecycle = lifecycle.split_once("        }\n").unwrap().0;
    let members = "name: Some(\"revision\"), capabilities: Some(\"offers\")";
    for row in [
        "acknowledge: Some(\"notifications/changes/watching\")".to_owned(),
        "begin: Some(\"session/open\")".to_owned(),
        "begun: Some(\"notifications/opened\")".to_owned(),
        "cancel: Some(\"notifications/aborted\")".to_owned(),
        "discover: Some(\"session/describe\")".to_owned(),
        "listen: Some(\"changes/watch\")".to_owned(),
        "log: Some(\"notifications/logged\")".to_owned(),
        "filter_tools: Some(\"toolsNews\")".to_owned(),
        "filter_uris: Some(\"news\")".to_owned(),
        "meta_log_level: Some(\"org.example/level\")".to_owned(),
        "meta_server: Some(\"org.example/host\")".to_owned(),
        "meta_subscription: Some(\"org.example/watch\")".to_owned(),
        "progress: Some(\"notifications/advanced\")".to_owned(),
        "result_kind: Some(\"resultSort\")".to_owned(),
        format!("begin_params: Members {{ {members}, implementation: Some(\"guest\"), ..Members::NONE }}"),
        format!(
            "begin_result: Members {{ {members}, implementation: Some(\"host\"), text: Some(\"advice\"), ..Members::NONE }}"
        ),
    ] {
        assert!(lifecycle.contains(&row), "{row} isn't in {lifecycle}");
    }
    assert!(!lifecycle.contains("meta_version"), "{lifecycle}");

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
        let lifecycle = read(&options.out.join("mcp-adapters/src/peer_types.rs"));
        let lifecycle = after(&lifecycle, "        V2099_01_01 {\n");
        let lifecycle = lifecycle.split_once("        }\n").unwrap().0;
        for (old, new) in made_up.renamed {
            assert!(
                !lifecycle.contains(&format!("Some(\"{old}\")")),
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
