//! Revisions loaded from a directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::servers::{everything, mcp_rev, run, stderr, stdout, succeeds};
use mcp_adapters::Revision;
use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_tests::made_up::{DESCRIBED, MADE_UP, MadeUp, SESSIONS, STATELESS, copy, here, latest, read};

/// A directory of schemas with a made-up revision after the last.
struct Schemas {
    root: TempDir,
    directory: String,
}

impl Schemas {
    fn with(made_up: &MadeUp) -> Self {
        let root = TempDir::new().unwrap();
        let _options = made_up.ingested(root.path());
        let directory = root.path().join("schema").display().to_string();
        Self { root, directory }
    }

    /// Adds a keyword to a definition of the revision.
    fn constrain(&self, definition: &str, keyword: &str, value: Value) {
        let path = format!("{}/{MADE_UP}/schema.json", self.directory);
        let mut schema: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        schema["$defs"][definition][keyword] = value;
        fs::write(path, schema.to_string()).unwrap();
    }

    /// Runs a command that filters JSON.
    fn filter(&self, command: &[&str], input: &Value) -> (Output, Value) {
        let args = [&["--schemas", &self.directory], command].concat();
        let mut child = mcp_rev(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.to_string().as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let value = serde_json::from_str(&stdout(&output)).unwrap();
        (output, value)
    }
}

#[test]
fn values_of_a_loaded_revision_are_decoded_by_its_schema() {
    let schemas = Schemas::with(&SESSIONS);
    let revisions = succeeds(&["revisions", "--schemas", &schemas.directory]);
    assert_eq!(revisions.lines().last(), Some(MADE_UP));

    let decode = ["decode", "--revision", MADE_UP, "--strict", "--type", "OpenRequest"];
    let open = |params: Value| json!({"method": "session/open", "params": params});
    let guest = json!({"name": "a", "version": "1"});
    let valid = open(json!({"revision": MADE_UP, "offers": {}, "guest": guest}));
    let (_, decoded) = schemas.filter(&decode, &valid);
    assert_eq!(decoded, json!({"ok": true, "value": valid}));

    let (output, refused) = schemas.filter(&decode, &open(json!({"revision": MADE_UP, "offers": {}})));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(refused["path"], "params.guest");
}

#[test]
fn a_union_of_results_of_a_loaded_revision_is_decoded_as_any_json() {
    let schemas = Schemas::with(&SESSIONS);
    let decode = ["decode", "--revision", MADE_UP, "--type", "ServerResult"];
    for result in [json!({"a": 1}), json!(["a"]), json!(null)] {
        let (_, decoded) = schemas.filter(&decode, &result);
        assert_eq!(decoded, json!({"ok": true, "value": result}));
    }
}

#[test]
fn a_folder_missing_from_the_manifest_causes_a_warning() {
    let schemas = Schemas::with(&SESSIONS);
    let revisions = || run(&["revisions", "--schemas", &schemas.directory]);
    let before = revisions();
    assert_eq!(stderr(&before), "");
    for folder in ["2100-01-01", ".git"] {
        fs::create_dir(format!("{}/{folder}", schemas.directory)).unwrap();
    }
    let after = revisions();
    assert_eq!((after.status.code(), stdout(&after)), (Some(0), stdout(&before)));
    let directory = &schemas.directory;
    let expected = format!(
        "warning: nothing in {directory}/2100-01-01 is used, because {directory}/revisions.yaml doesn't list 2100-01-01\n  list it with \
         `cargo xtask ingest --schema {directory} 2100-01-01 PATH-OR-URL`, or move the folder elsewhere\n"
    );
    assert_eq!(stderr(&after), expected);
}

#[test]
fn each_problem_of_a_directory_is_reported_once() {
    let missing = run(&["revisions", "--schemas", "/none"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        stderr(&missing).contains("there is no such directory"),
        "{}",
        stderr(&missing)
    );

    let schemas = Schemas::with(&SESSIONS);
    // The overlay of a revision is also read for its extensions.
    let overlay = format!("{}/2026-07-28/overlay.yaml", schemas.directory);
    let text = fs::read_to_string(&overlay).unwrap();
    fs::write(&overlay, format!("{text}nonsense: 1\n")).unwrap();
    let refused = run(&["revisions", "--schemas", &schemas.directory]);
    assert_eq!(
        stderr(&refused).matches("unknown field `nonsense`").count(),
        1,
        "{}",
        stderr(&refused)
    );
}

#[test]
fn violations_of_schema_keywords_are_refused_at_their_path() {
    let schemas = Schemas::with(&SESSIONS);
    schemas.constrain("TextContent", "minProperties", json!(3));
    schemas.constrain("ToolListChangedNotification", "propertyNames", json!({"maxLength": 6}));
    let translated = |name: &str, value: Value| {
        let translate = ["translate", "--from", "2025-11-25", "--to", MADE_UP, "--type", name];
        schemas.filter(&translate, &value).1
    };
    let result = |block: Value| translated("CallToolResult", json!({"content": [block]}));
    assert_eq!(result(json!({"type": "text", "text": "a", "_meta": {}}))["ok"], true);
    let refused = result(json!({"type": "text", "text": "a"}));
    // A revision between the two may have the content inside another member.
    let path = refused["path"].as_str().unwrap();
    assert!(path.ends_with("content[0]"), "{refused}");
    assert_eq!(refused["code"], -32602);
    assert_eq!(refused["error"], "expected at least 3 members, found 2");

    // The name `jsonrpc` is longer than 6, but the envelope isn't part of the definition.
    let changed = |value: Value| translated("JSONRPCNotification", value);
    let method = "notifications/tools/list_changed";
    assert_eq!(changed(json!({"jsonrpc": "2.0", "method": method}))["ok"], true);
    let refused = changed(json!({"jsonrpc": "2.0", "method": method, "longest": 1}));
    assert_eq!(refused["ok"], false, "{refused}");
}

#[test]
fn typescript_is_generated_for_loaded_and_compiled_revisions() {
    let schemas = Schemas::with(&SESSIONS);
    let generated = succeeds(&["generate", "--schemas", &schemas.directory, "--typescript", MADE_UP]);
    assert!(generated.contains(&format!("export const PROTOCOL_VERSION = \"{MADE_UP}\";")));
    assert!(generated.contains("  \"session/open\": { request: OpenRequest; result: "));

    let compiled = succeeds(&["generate", "--typescript", "2025-11-25"]);
    assert!(compiled.contains("export interface Tool {"));
    let unknown = run(&["generate", "--typescript", MADE_UP]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn the_crate_of_an_extension_is_written_and_checked() {
    let out = TempDir::new().unwrap();
    let here = env!("CARGO_MANIFEST_DIR");
    let (folder, schemas) = (
        format!("{here}/../tests/extension/billing"),
        format!("{here}/../schema"),
    );
    let out_path = out.path().display().to_string();
    let extension = [
        "generate",
        "--extension",
        "com.example/billing",
        "--of",
        "2026-07-28",
        &folder,
    ];
    let options = ["--schemas", &schemas, "--out", &out_path];
    let generate = |more: &[&str]| run(&[&extension[..], &options, more].concat());
    assert_eq!(generate(&["--check"]).status.code(), Some(1));
    assert!(generate(&[]).status.success());
    assert!(generate(&["--check"]).status.success());
    assert!(out.path().join("mcp-ext-billing/src/billing.rs").exists());
    // The schemas of the protocol aren't part of the program.
    assert_eq!(run(&[&extension[..], &options[2..]].concat()).status.code(), Some(2));
}

#[test]
fn a_loaded_revision_is_translated_in_both_directions() {
    let schemas = Schemas::with(&SESSIONS);
    let cancel = |method: &str| json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": 1, "reason": "no"}});
    let (official, made_up) = ("notifications/cancelled", "notifications/aborted");
    for (from, to, sent, received) in [
        ("2025-11-25", MADE_UP, official, made_up),
        (MADE_UP, "2025-11-25", made_up, official),
    ] {
        let translate = [
            "translate",
            "--from",
            from,
            "--to",
            to,
            "--type",
            "CancelledNotification",
        ];
        let (_, translated) = schemas.filter(&translate, &cancel(sent));
        assert_eq!(translated["value"]["method"], received, "{translated}");
        assert_eq!(translated["losses"], json!([]));
    }
}

#[test]
fn two_bridges_can_speak_a_loaded_revision_with_each_other() {
    let schemas = Schemas::with(&STATELESS);
    let recorded = schemas.root.path().join("session.jsonl");
    let record = recorded.display().to_string();
    let own = env!("CARGO_BIN_EXE_mcp-rev");
    let directory = schemas.directory.as_str();
    for (client, server) in [("2025-11-25", "2026-07-28"), ("2026-07-28", "2025-06-18")] {
        let _ = fs::remove_file(&recorded);
        #[rustfmt::skip]
        let asked = run(&[
            "call", "test_elicitation", "--arg", "message=Who?", "--revision", client, "--",
            own, "bridge", "--schemas", directory, "--record", &record, "--speak", MADE_UP, "--",
            own, "bridge", "--schemas", directory, "--speak", server, "--",
            everything(),
        ]);
        assert!(
            stderr(&asked).contains("Who?"),
            "{client} to {server}: {}",
            stderr(&asked)
        );
        assert!(
            stdout(&asked).contains("action=decline"),
            "{client} to {server}: {}",
            stdout(&asked)
        );
        let transcript = read(&recorded);
        for name in ["server/describe", "org.example/revision"] {
            assert!(transcript.contains(name), "{client} to {server}: {transcript}");
        }
    }
}

#[test]
fn peers_that_describe_themselves_by_a_renamed_definition_are_understood() {
    let schemas = Schemas::with(&DESCRIBED);
    let own = env!("CARGO_BIN_EXE_mcp-rev");
    let directory = schemas.directory.as_str();
    #[rustfmt::skip]
    let greeted = succeeds(&[
        "call", "greet", "--arg", "name=Ann", "--schemas", directory, "--revision", MADE_UP, "--",
        own, "bridge", "--schemas", directory, "--", everything(),
    ]);
    assert_eq!(greeted.trim(), "Hello, Ann!");
}

#[test]
fn a_stateless_server_of_several_revisions_is_used_in_that_of_the_client() {
    let schemas = Schemas::with(&STATELESS);
    let recorded = schemas.root.path().join("session.jsonl");
    let record = recorded.display().to_string();
    let own = env!("CARGO_BIN_EXE_mcp-rev");
    let directory = schemas.directory.as_str();
    let program = Revision::HUB.as_str();
    // With a handshake among the revisions, a slow answer to the discovery would be taken for that of another server.
    let both = ["--speak", program, "--speak", MADE_UP];
    for (asked, spoken) in [
        (&[program, MADE_UP][..], program),
        (&[program], program),
        (&[MADE_UP], MADE_UP),
    ] {
        let _ = fs::remove_file(&recorded);
        let mut command = vec!["call", "--schemas", directory, "greet", "--arg", "name=Ann"];
        command.extend(asked.iter().flat_map(|asked| ["--revision", asked]));
        command.extend(["--", own, "bridge", "--schemas", directory, "--record", &record]);
        command.extend(both);
        command.extend(["--", own, "bridge", "--schemas", directory, "--", everything()]);
        assert_eq!(succeeds(&command).trim(), "Hello, Ann!");
        let transcript = read(&recorded);
        let messages = transcript.lines().map(|line| serde_json::from_str(line).unwrap());
        let spoken_by: BTreeSet<[String; 2]> = messages
            .map(|message: Value| ["side", "revision"].map(|member| message[member].as_str().unwrap().to_owned()))
            .collect();
        let expected = ["client", "server"].map(|side| [side.to_owned(), spoken.to_owned()]);
        assert_eq!(spoken_by, BTreeSet::from(expected), "{asked:?}: {transcript}");
    }
}

#[test]
fn two_bridges_speak_a_release_that_renames_what_sessions_need_without_a_line_for_it() {
    let root = TempDir::new().unwrap();
    let schemas = root.path().join("schema");
    copy(&here("../schema"), &schemas);
    let official = read(&schemas.join(latest()).join("schema.json"));
    let renamed = [
        ("\"notifications/cancelled\"", "\"notifications/cancel\""),
        ("\"server/discover\"", "\"discover\""),
        ("\"subscriptions/listen\"", "\"listen\""),
        ("\"tools/call\"", "\"tools/invoke\""),
        ("io.modelcontextprotocol/protocolVersion", "mcp/revision"),
        ("resultType", "kind"),
    ];
    let release = renamed.iter().fold(official, |schema, (old, new)| {
        assert!(schema.contains(old), "{old}");
        schema.replace(old, new)
    });
    let file = root.path().join("release.json").display().to_string();
    fs::write(&file, release).unwrap();
    let done = ingest(&IngestOptions::new(&schemas, MADE_UP.parse().unwrap(), file)).unwrap();
    assert_eq!(done.left_out, []);
    let (schemas, record) = (schemas.display().to_string(), root.path().join("session.jsonl"));
    let (own, recorded) = (env!("CARGO_BIN_EXE_mcp-rev"), record.display().to_string());
    #[rustfmt::skip]
    let greeting = succeeds(&[
        "call", "--revision", "2025-11-25", "greet", "--arg", "name=Ann", "--",
        own, "bridge", "--schemas", &schemas, "--record", &recorded, "--speak", MADE_UP, "--",
        own, "bridge", "--schemas", &schemas, "--speak", "2025-03-26", "--",
        everything(),
    ]);
    assert_eq!(greeting.trim(), "Hello, Ann!");
    let transcript = read(&record);
    for name in ["\"discover\"", "\"tools/invoke\"", "\"mcp/revision\"", "\"kind\""] {
        assert!(transcript.contains(name), "{name}: {transcript}");
    }
}

#[test]
fn a_broken_rule_is_reported_with_its_line() {
    let schemas = Schemas::with(&SESSIONS);
    let rules = schemas.root.path().join("schema").join(MADE_UP).join("adapt.yaml");
    let broken = format!(
        "{}\n  - at: Nothing.here\n    drop: true\n    why: It isn't there.\n    link: https://example.org\n",
        read(&rules)
    );
    let line = broken.lines().position(|line| line.contains("Nothing.here")).unwrap() + 1;
    fs::write(&rules, broken).unwrap();
    let output = run(&["revisions", "--schemas", &schemas.directory]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
    assert!(
        stderr(&output).contains(&format!("adapt.yaml:{line}:")),
        "{}",
        stderr(&output)
    );
}

#[test]
fn schemas_without_the_revisions_of_the_program_are_refused() {
    let schemas = Schemas::with(&SESSIONS);
    let overlay = schemas.root.path().join("schema/2025-11-25/overlay.yaml");
    let changed = read(&overlay).replace("polling: true", "polling: false");
    fs::write(&overlay, changed).unwrap();
    let output = run(&["revisions", "--schemas", &schemas.directory]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("revision 2025-11-25 is missing or differs from that of mcp-rev"),
        "{}",
        stderr(&output)
    );

    fs::remove_file(schemas.root.path().join("schema/revisions.yaml")).unwrap();
    let output = run(&["revisions", "--schemas", &schemas.directory]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("revisions.yaml"), "{}", stderr(&output));
}
