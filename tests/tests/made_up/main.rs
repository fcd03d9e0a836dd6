//! Made-up revisions: they need only data files, and our server and client speak them.

mod hub;

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use futures_util::StreamExt;
use mcp_adapters::Revision;
use mcp_adapters::hub::{Prompt, Tool};
use mcp_codegen::files::Report;
use mcp_codegen::load::{Manifest, NAMES};
use mcp_codegen::{GenerateOptions, generate, revision_tables};
use mcp_runtime::router::{Router, tool_with_schema};
use mcp_runtime::transport::channel;
use mcp_runtime::{Client, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

use mcp_tests::made_up::{
    ASKING, BOTH, EVERYTHING, MADE_UP, MadeUp, Names, QUIET, RENAMED, SESSIONS, STATELESS, here, latest, read,
};

/// Returns the rest of a text after a line.
fn after<'t>(text: &'t str, line: &str) -> &'t str {
    text.split_once(line)
        .unwrap_or_else(|| panic!("there is no {line:?} in {text}"))
        .1
}

/// Lets a server and a client speak a revision, and returns their messages. A loaded revision can't be unloaded, so
/// each one has a separate process.
fn speak(made_up: &MadeUp, names: impl FnOnce(&Value, &Value) -> Names) -> String {
    let root = TempDir::new().unwrap();
    let options = made_up.ingested_with(root.path(), names);
    let tables = revision_tables(&options.schema).unwrap_or_else(|error| panic!("{}: {error}", made_up.name));
    let made = tables.last().unwrap();
    for (file, text) in [
        ("name", &made.revision),
        ("table.json", &made.table),
        ("schema.json", &made.schema),
    ] {
        fs::write(root.path().join(file), text).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_speak"))
        .arg(root.path())
        .output()
        .unwrap();
    let messages = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {messages}{errors}", made_up.name);
    messages
}

/// Returns the names that sessions of the made-up revision use.
fn lifecycle(adapters: &Path) -> Value {
    let table: Value = serde_json::from_str(&read(&adapters.join("tables").join(format!("{MADE_UP}.json")))).unwrap();
    table["lifecycle"].clone()
}

#[test]
fn a_revision_with_a_handshake_and_renamed_session_methods_needs_only_data_files() {
    let root = TempDir::new().unwrap();
    let options = SESSIONS.ingested(root.path());
    generate(&options).unwrap_or_else(|error| panic!("{error}"));
    let adapters = options.out.join("mcp-adapters");

    let lifecycle = lifecycle(&adapters);
    let schema = read(&options.schema.join(MADE_UP).join("schema.json"));
    // The latest revision can have dropped log messages.
    let is_declared = |name: &str| schema.contains(&json!(name).to_string());
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
        assert_eq!(lifecycle[role].as_str(), is_declared(name).then_some(name), "{role}");
    }
    let members = json!({"name": "revision", "capabilities": "offers", "implementation": "guest"});
    assert_eq!(lifecycle["begin_params"], members);
    let members = json!({"name": "revision", "capabilities": "offers", "implementation": "host", "text": "advice"});
    assert_eq!(lifecycle["begin_result"], members);
    assert_eq!(lifecycle.get("meta_version"), None);

    let renamed = SESSIONS.renamed[..6].iter().filter(|(_, new)| is_declared(new));
    let renamed = Vec::from_iter(renamed);
    // Sessions treat a renamed method like the original, so its messages are converted.
    let report = read(&adapters.join("ADAPTERS.md"));
    for (from, to) in [(latest(), MADE_UP), (MADE_UP, latest())] {
        let way = after(&report, &format!("## {from} to {to}\n"));
        let way = way.split_once("\n## ").map_or(way, |(way, _)| way);
        for (old, new) in &renamed {
            for method in [old, new] {
                assert!(
                    !way.contains(&format!("`{method}`")),
                    "{from} to {to}: {method} isn't converted"
                );
            }
        }
    }
    // Renaming a method isn't a loss: the table lists the old name of each renamed method.
    let table = read(&adapters.join("tables/2099-01-01.json"));
    let down = after(&table, "\"down\": {\n");
    for (old, new) in renamed {
        let renamed = format!("\"{new}\": \"{old}\"");
        assert!(down.contains(&renamed), "{renamed} isn't in\n{down}");
    }
}

#[test]
fn revisions_with_new_names_and_new_input_requests_need_only_data_files() {
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
fn a_later_revision_with_renamed_definitions_changes_no_published_crate() {
    let root = TempDir::new().unwrap();
    let options = GenerateOptions {
        out: here("../generated"),
        check: true,
        ..RENAMED.ingested(root.path())
    };
    // The published revisions are those whose names are recorded.
    let revisions = Manifest::load(&options.schema).unwrap().revisions;
    let revisions = revisions.iter().map(|entry| entry.revision.to_string());
    let published: Vec<String> = revisions
        .filter(|name| options.schema.join(name).join(NAMES).exists())
        .collect();
    let of_published = |files: Report| {
        let changed = [files.stale, files.missing, files.orphaned].concat().into_iter();
        let changed = changed.map(|path| path.display().to_string());
        let is_published = |path: &String| {
            published
                .iter()
                .any(|name| path.starts_with(&format!("mcp-types-{name}/")))
        };
        changed.filter(is_published).collect::<Vec<_>>()
    };
    let generated = generate(&options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(of_published(generated.files), [""; 0]);

    // Without its recorded names, types of the latest revision get other names, and some of their documentation may
    // then have no place.
    let latest = published.last().unwrap();
    fs::remove_file(options.schema.join(latest).join(NAMES)).unwrap();
    match generate(&options) {
        Ok(generated) => assert_ne!(of_published(generated.files), [""; 0]),
        Err(error) => assert!(
            error.to_string().contains("nothing that `ServerCapabilities"),
            "{error}"
        ),
    }
}

/// The made-up revisions that get further names from seeds.
const SHAPES: [&MadeUp; 5] = [&ASKING, &SESSIONS, &EVERYTHING, &QUIET, &BOTH];

/// Lets a server and a client speak the revisions of these seeds.
fn speak_seeds(seeds: Range<u64>) {
    for seed in seeds {
        let shape = SHAPES[seed as usize % SHAPES.len()];
        speak(shape, |schema, facts| {
            let names = Names::of_seed(seed, schema, facts);
            println!("seed {seed}: {} with {} other names", shape.name, names.count());
            names
        });
    }
}

#[test]
fn a_server_and_a_client_speak_a_stateless_revision_with_random_names() {
    speak_seeds(0..1);
}

#[test]
fn a_server_and_a_client_speak_a_revision_with_sessions_and_random_names() {
    speak_seeds(1..2);
}

#[test]
#[ignore = "takes a minute"]
fn a_server_and_a_client_speak_revisions_with_random_names_from_twelve_seeds() {
    let wanted = std::env::var("SEEDS").unwrap_or_else(|_| "0..12".to_owned());
    let (first, end) = wanted.split_once("..").expect("SEEDS=0..12");
    speak_seeds(first.parse().unwrap()..end.parse().unwrap());
}

#[test]
#[ignore = "takes half a minute"]
fn a_server_and_a_client_speak_the_made_up_revisions() {
    let wanted = std::env::var("MADE_UP").ok();
    for made_up in SHAPES {
        if wanted.as_deref().is_none_or(|wanted| wanted == made_up.name) {
            println!("{}", speak(made_up, |_, _| Names::default()));
        }
    }
}

/// [`STATELESS`] with a member in lists of tools that no rule supplies, and without pages of prompts.
const DEMANDING: MadeUp = MadeUp {
    change: |schema| {
        (STATELESS.change)(schema);
        let list = &mut schema["$defs"]["ListToolsResult"];
        list["properties"]["total"] = json!({"type": "integer"});
        list["required"].as_array_mut().unwrap().push(json!("total"));
        let prompts = &mut schema["$defs"]["ListPromptsResult"]["properties"];
        prompts.as_object_mut().unwrap().remove("nextCursor");
    },
    ..STATELESS
};

/// Both need a loaded revision, of which a process can have one.
#[test]
fn tools_are_accepted_if_a_revision_requires_what_no_list_has_and_lists_without_pages_are_whole() {
    let root = TempDir::new().unwrap();
    let options = DEMANDING.ingested(root.path());
    let tables = revision_tables(&options.schema).unwrap();
    let made = tables.last().unwrap();
    let loaded = Revision::load(&made.revision, &made.table, &made.schema);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(prompts_in_pages(loaded), ["a", "b", "c"]);
    let router = Router::new("server", "1.0").tool("greet", "Greets", || "hello");
    // Other revisions are still checked.
    let invalid = tool_with_schema(Tool::new("rest", json!({"type": "string"})), || "");
    let refused = router.insert(invalid.unwrap()).unwrap_err().to_string();
    assert!(
        refused.contains("the tool `rest` makes the list of revision"),
        "{refused}"
    );
}

/// Serves prompts in pages of two, and returns the names of those that a client of a revision lists.
#[tokio::main(flavor = "current_thread")]
async fn prompts_in_pages(revision: Revision) -> Vec<String> {
    let names = ["a", "b", "c"];
    let server = names
        .into_iter()
        .fold(Router::new("server", "1.0").page_size(2), |router, name| {
            router.prompt(name, "A prompt", || "hello")
        });
    let (theirs, ours) = channel(16);
    let serving = server.serve(Options::default(), theirs);
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let client = Client::new("client", "1.0").options(options);
    let session = client.connect(ours).await.unwrap();
    let prompts = session.peer().list::<Prompt>().map(|prompt| prompt.unwrap().name);
    let listed = prompts.collect().await;
    session.close().await;
    drop(serving);
    listed
}
