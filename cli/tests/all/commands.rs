//! The output and exit status of the commands.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use mcp_adapters::Revision;
use serde_json::{Value, json};

fn mcp_rev(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-rev"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // If the arguments are wrong, the program exits without reading its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Decodes lines, and returns the exit status and the output lines.
fn decode(args: &[&str], input: &str) -> (Option<i32>, Vec<Value>) {
    let args: Vec<&str> = ["decode"].iter().chain(args).copied().collect();
    let output = mcp_rev(&args, input);
    assert_eq!(stderr(&output), "", "nothing is written to standard error");
    let answers = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (output.status.code(), answers)
}

/// Decodes lines as instances of a definition of 2025-11-25.
fn decode_as(definition: &str, input: &str) -> (Option<i32>, Vec<Value>) {
    decode(
        &["--revision", Revision::V2025_11_25.as_str(), "--type", definition],
        input,
    )
}

#[test]
fn valid_lines_are_decoded_with_exit_status_0() {
    let (status, answers) = decode_as("Cursor", "\"a\"\n\n\"b\"");
    assert_eq!(status, Some(0));
    assert_eq!(
        answers,
        [json!({"ok": true, "value": "a"}), json!({"ok": true, "value": "b"})]
    );
}

#[test]
fn a_duplicate_member_is_an_error_at_any_depth() {
    for (args, definition, line, path) in [
        (
            &[][..],
            "Implementation",
            r#"{"name":"a","version":"1","title":"x","title":null}"#,
            "title",
        ),
        (
            &[],
            "Implementation",
            r#"{"name":"a","version":"1","title":null,"title":"x"}"#,
            "title",
        ),
        (
            &[],
            "CallToolResult",
            r#"{"content":[{"type":"a","b":{"c":1,"c":2}}]}"#,
            "content[0].b.c",
        ),
        (
            &["--strict"],
            "CallToolResult",
            r#"{"content":[],"structuredContent":{"a":1,"a":2}}"#,
            "structuredContent.a",
        ),
    ] {
        let args = [
            &["--revision", Revision::V2025_11_25.as_str(), "--type", definition],
            args,
        ]
        .concat();
        let (status, answers) = decode(&args, line);
        assert_eq!(status, Some(1), "{line}");
        assert_eq!(answers[0]["path"], path, "{line}");
    }
}

#[test]
fn a_whole_message_is_validated_by_its_method() {
    // Members that only some revisions require in a request are open metadata in the others.
    let meta =
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"r","io.modelcontextprotocol/clientCapabilities":{}}"#;
    for revision in Revision::ALL {
        let strict = |message: &str| {
            let args = ["--revision", revision.as_str(), "--type", "JSONRPCMessage", "--strict"];
            let (_, answers) = decode(&args, message);
            answers[0]["path"].as_str().map(str::to_owned)
        };
        for (message, path) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"a"}}"#,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":5}}"#,
                Some("params.name"),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, Some("(root)")),
            (
                r#"{"jsonrpc":"2.0","method":"tools/call","params":{META,"name":"a"}}"#,
                Some("id"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{META,"name":"a"}}"#,
                Some("id"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{META,"name":"a"}}"#,
                Some("id"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{META,"name":"a","arguments":[]}}"#,
                Some("params.arguments"),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"1"}}"#,
                Some("params.progress"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}"#,
                Some("id"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"vendor/own","params":{"name":5}}"#,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":5}}"#,
                None,
            ),
        ] {
            // A method that the revision doesn't declare can have any parameters.
            if message.contains("prompts/get") && revision.method("prompts/get").is_none() {
                continue;
            }
            let message = message.replace("META", meta);
            assert_eq!(strict(&message).as_deref(), path, "{revision}: {message}");
        }
    }
}

#[test]
fn open_values_and_unknown_members_keep_their_spelling() {
    let line = r#"{"content":[],"structuredContent":{"b":1.50,"a":1e2},"vendor":{"z":0,"y":0}}"#;
    let args = [
        "decode",
        "--revision",
        Revision::V2025_11_25.as_str(),
        "--type",
        "CallToolResult",
    ];
    let output = mcp_rev(&args, line);
    assert_eq!(stdout(&output), format!("{{\"ok\":true,\"value\":{line}}}\n"));
}

#[test]
fn empty_input_succeeds() {
    assert_eq!(decode_as("Cursor", ""), (Some(0), vec![]));
}

#[test]
fn an_invalid_line_is_reported_with_its_path_and_exit_status_1() {
    let (status, answers) = decode_as(
        "CallToolResult",
        "{\"content\":[]}\n{\"content\":[{\"type\":7}]}\nnonsense\n{\"content\":[]}",
    );
    assert_eq!(status, Some(1));
    let good: Vec<bool> = answers.iter().map(|answer| answer["ok"].as_bool().unwrap()).collect();
    assert_eq!(good, [true, false, false, true]);
    assert_eq!(
        answers[1],
        json!({
            "ok": false, "line": 2, "column": 1, "byte": 15,
            "path": "content[0].type", "error": "expected a string, found a number",
        })
    );
    assert_eq!(answers[2]["path"], "(root)");
}

#[test]
fn values_can_span_several_lines_or_share_one() {
    let (status, answers) = decode_as(
        "CallToolResult",
        "{\n  \"content\": [\n  ]\n} {\"content\":7}\n{\"content\":[]}{",
    );
    assert_eq!(status, Some(1));
    let places: Vec<_> = answers
        .iter()
        .map(|answer| (&answer["line"], &answer["column"], &answer["byte"]))
        .collect();
    assert_eq!(answers[0], json!({"ok": true, "value": {"content": []}}));
    assert_eq!(places[1], (&json!(4), &json!(3), &json!(23)));
    assert_eq!(answers[2]["ok"], true);
    assert_eq!(places[3], (&json!(5), &json!(15), &json!(51)));
    assert!(answers[3]["error"].as_str().unwrap().contains("ends"), "{answers:?}");
    assert_eq!(answers.len(), 4);
}

#[test]
fn an_unknown_variant_is_decoded_but_refused_with_strict() {
    let line = r#"{"content":[{"type":"hologram"}]}"#;
    let args = ["--revision", Revision::V2025_11_25.as_str(), "--type", "CallToolResult"];
    assert_eq!(decode(&args, line).0, Some(0));
    let strict: Vec<&str> = args.iter().chain(&["--strict"]).copied().collect();
    let (status, answers) = decode(&strict, line);
    assert_eq!(status, Some(1));
    assert_eq!(answers[0]["path"], "content[0].type");
    let error = answers[0]["error"].as_str().unwrap();
    assert!(error.contains("\"hologram\""));
    assert!(!error.contains("content[0].type"), "the path is in its own member");
}

#[test]
fn typed_lines_name_their_definition_and_other_members_are_ignored() {
    let lines = concat!(
        r#"{"type":"Cursor","value":"a","valid":true}"#,
        "\n",
        r#"{"value":{"roots":[]},"type":"ListRootsResult"}"#,
        "\n",
        r#"{"type":"Nonesuch","value":1}"#,
        "\n",
        r#"{"value":1}"#,
        "\n7\n",
        r#"{"type":"Cursor","value":1}"#,
    );
    let (status, answers) = decode(&["--revision", Revision::V2025_11_25.as_str(), "--typed"], lines);
    assert_eq!(status, Some(1));
    assert_eq!(answers[0], json!({"ok": true, "value": "a"}));
    assert_eq!(answers[1], json!({"ok": true, "value": {"roots": []}}));
    assert_eq!(answers[2]["path"], "type");
    let error = answers[2]["error"].as_str().unwrap();
    assert!(
        error.contains("Nonesuch") && error.contains("ListRootsResult"),
        "{error}"
    );
    for (answer, line) in answers[3..5].iter().zip(["no type", "no object"]) {
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with("not a value"), "{line}: {error}");
        assert!(!error.contains("TypedValue"), "no Rust name: {error}");
    }
    assert_eq!(answers[5]["ok"], false);
    assert_eq!(answers.len(), 6);
}

#[test]
fn a_request_needs_the_envelope_if_its_schema_includes_it() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (status, answers) = decode_as("PingRequest", request);
    assert_eq!(status, Some(0));
    assert_eq!(answers[0]["value"], serde_json::from_str::<Value>(request).unwrap());
    for (line, path) in [
        (r#"{"jsonrpc":"2.0","method":"ping"}"#, "id"),
        (r#"{"id":1,"method":"ping"}"#, "jsonrpc"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "id"),
    ] {
        let (status, answers) = decode_as("PingRequest", line);
        assert_eq!((status, answers[0]["path"].as_str()), (Some(1), Some(path)), "{line}");
    }
    // Definitions of parameters have no envelope, and neither have requests in the schema of the first revision.
    assert_eq!(decode_as("RequestParams", "{}").0, Some(0));
    let first = ["--revision", Revision::ALL[0].as_str(), "--type", "PingRequest"];
    assert_eq!(decode(&first, r#"{"method":"ping"}"#).0, Some(0));
}

#[test]
fn every_definition_can_be_named() {
    for revision in Revision::ALL {
        for definition in revision.definitions() {
            let args = ["--revision", revision.as_str(), "--type", definition.name];
            assert_eq!(decode(&args, "").0, Some(0), "{revision} {}", definition.name);
        }
    }
}

#[test]
fn the_error_for_an_unknown_revision_lists_the_known_ones() {
    let output = mcp_rev(&["decode", "--revision", "1999-12-31", "--type", "Tool"], "1");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "");
    for revision in Revision::ALL {
        assert!(stderr(&output).contains(revision.as_str()), "{}", stderr(&output));
    }
}

#[test]
fn the_error_for_an_unknown_type_lists_the_known_ones() {
    let revision = Revision::V2025_11_25;
    let output = mcp_rev(&["decode", "--revision", revision.as_str(), "--type", "Nonesuch"], "1");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stdout(&output), "");
    for definition in revision.definitions() {
        assert!(stderr(&output).contains(definition.name), "{}", stderr(&output));
    }
}

#[test]
fn a_wrong_name_has_a_suggestion() {
    let revision = Revision::V2025_11_25.as_str();
    let mistakes: [(&[&str], &str); 5] = [
        (
            &["decode", "--revision", revision, "--type", "CallToolResul"],
            "CallToolResult",
        ),
        (&["decode", "--revision", "2025-11-26", "--type", "Tool"], "2025-11-25"),
        (&["decode", "--revison", revision, "--type", "Tool"], "--revision"),
        (&["trnslate"], "translate"),
        (&["man", "decoed"], "decode"),
    ];
    for (args, meant) in mistakes {
        let output = mcp_rev(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = stderr(&output);
        let (_, tip) = stderr
            .split_once("tip: ")
            .unwrap_or_else(|| panic!("{args:?}: {stderr}"));
        assert!(tip.contains(meant), "{args:?}: {stderr}");
    }
}

#[test]
fn a_command_of_a_server_without_dashes_has_a_tip() {
    let commands: [&[&str]; 4] = [
        &["inspect", "npx", "-y", "server"],
        &["call", "weather", "python", "server.py"],
        &["bridge", "npx", "-y", "server"],
        &["inspect", "http://127.0.0.1:1/mcp", "--quux"],
    ];
    for args in commands {
        let output = mcp_rev(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = stderr(&output);
        let tip = "tip: the command that starts a server goes after `--`\n";
        assert!(stderr.contains(tip), "{args:?}: {stderr}");
    }
    let output = mcp_rev(&["decode", "tools.json"], "");
    assert!(!stderr(&output).contains("tip"), "{}", stderr(&output));
}

#[test]
fn a_url_that_is_not_one_is_an_error_about_urls() {
    for url in ["example.org/mcp", "http://", "http://example.org:port/"] {
        let output = mcp_rev(&["bridge", "--to", url], "");
        assert_eq!(output.status.code(), Some(2), "{url}");
        let error = "not an HTTP URL, such as https://example.org/mcp\n";
        assert!(stderr(&output).contains(error), "{}", stderr(&output));
        assert_eq!(mcp_rev(&["inspect", url], "").status.code(), Some(2), "{url}");
    }
}

#[test]
fn a_value_without_a_name_is_an_error() {
    let output = mcp_rev(&["inspect", "-e", "=1", "--", "true"], "");
    assert_eq!(output.status.code(), Some(2));
    let error = "the name before `=` is empty\n";
    assert!(stderr(&output).contains(error), "{}", stderr(&output));
}

#[test]
fn commands_have_manual_pages_and_shells_have_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = mcp_rev(&["completions", shell], "");
        assert_eq!(script.status.code(), Some(0), "{shell}");
        assert!(stdout(&script).contains("revision"), "{shell}");
    }
    let page = mcp_rev(&["man"], "");
    assert!(stdout(&page).contains(".TH mcp-rev 1"), "{}", stdout(&page));
    for command in ["inspect", "call", "read", "prompt", "listen", "decode", "translate"] {
        assert!(stdout(&page).contains(command), "{command}");
        let page = mcp_rev(&["man", command], "");
        assert_eq!(page.status.code(), Some(0), "{command}");
        assert!(stdout(&page).contains("Example"), "{command}");
        let title = format!(".TH mcp-rev-{command} 1  \"mcp-rev {}\"", env!("CARGO_PKG_VERSION"));
        assert!(stdout(&page).contains(&title), "{}", stdout(&page));
    }
    let page = mcp_rev(&["man", "registry", "validate"], "");
    assert!(
        stdout(&page).contains(".TH mcp-rev-registry-validate 1"),
        "{}",
        stderr(&page)
    );
}

#[test]
fn wrong_arguments_have_exit_status_2() {
    let revision = Revision::V2025_11_25.as_str();
    let misuses: [&[&str]; 12] = [
        &[],
        &["decoed"],
        &["decode"],
        &["decode", "--type", "Tool"],
        &["decode", "--revision", revision],
        &["decode", "--revision", revision, "--type", "Tool", "--typed"],
        &["revisions", "--no-such-option"],
        &["man", "no-such-command"],
        &["completions", "no-such-shell"],
        &["inspect"],
        &["inspect", "server.js"],
        &["call", "add", "--arg", "a", "http://127.0.0.1:1/"],
    ];
    for args in misuses {
        let output = mcp_rev(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!stderr(&output).is_empty(), "{args:?}");
    }
}

#[test]
fn revisions_are_listed_the_earliest_first() {
    let output = mcp_rev(&["revisions"], "");
    assert_eq!(output.status.code(), Some(0));
    let listed: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!(listed, Revision::ALL.map(|revision| revision.to_string()));
    assert!(listed.is_sorted(), "their names are dates");
}

#[test]
fn help_names_the_commands_the_options_and_the_exit_status() {
    let help = mcp_rev(&["--help"], "");
    assert_eq!(help.status.code(), Some(0));
    for word in ["decode", "revisions", "Exit status"] {
        assert!(stdout(&help).contains(word), "{word}");
    }
    let help = mcp_rev(&["decode", "--help"], "");
    assert_eq!(help.status.code(), Some(0));
    for word in ["--revision", "--type", "--typed", "--strict", "Examples:"] {
        assert!(stdout(&help).contains(word), "{word}");
    }
}

#[test]
fn the_usage_of_each_command_ends_with_the_server() {
    for (command, operands) in [
        ("inspect", "<URL|--config FILE|-- COMMAND...>"),
        ("tool", "<TOOL> <URL|--config FILE|-- COMMAND...>"),
        ("call", "<TOOL> <URL|--config FILE|-- COMMAND...>"),
        ("read", "<URI> <URL|--config FILE|-- COMMAND...>"),
        ("prompt", "<NAME> <URL|--config FILE|-- COMMAND...>"),
        ("request", "<METHOD> <URL|--config FILE|-- COMMAND...>"),
        ("listen", "<URL|--config FILE|-- COMMAND...>"),
        ("check", "<URL|--config FILE|-- COMMAND...|--transcript <FILE>>"),
        ("replay", "<FILE> <URL|--config FILE|-- COMMAND...>"),
        ("bridge", "<--to <URL>|-- COMMAND...>"),
    ] {
        let usage = format!("mcp-rev {command} [OPTIONS] {operands}\n");
        let help = mcp_rev(&[command, "--help"], "");
        assert!(stdout(&help).contains(&format!("Usage: {usage}")), "{}", stdout(&help));
        let misused = mcp_rev(&[command], "");
        assert!(
            stderr(&misused).contains(&format!("Usage: {usage}")),
            "{}",
            stderr(&misused)
        );
        let page = stdout(&mcp_rev(&["man", command], "")).replace(r"\-", "-");
        let page = page.replace(r"\fB", "").replace(r"\fR", "");
        assert!(page.contains(&format!(".SH SYNOPSIS\n{usage}")), "{page}");
    }
}

/// Runs the blocks of the README and the guide that call `mcp-rev` with a shell, in a folder with the files that they
/// show with `cat`. Other blocks run other programs, which would have to be installed first.
#[cfg(unix)]
#[test]
fn the_commands_in_the_readme_and_guide_have_the_documented_output() {
    let mut tried = 0;
    for document in ["README.md", "../docs/guide/shell.md", "../docs/guide/registry.md"] {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(document)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for block in text.split("```console\n").skip(1) {
            let (block, _) = block.split_once("```").unwrap();
            if !block.contains("mcp-rev ") {
                continue;
            }
            for step in block.split("$ ").skip(1) {
                let (command, expected) = step.split_once('\n').unwrap();
                match command.strip_prefix("cat ") {
                    Some(file) => std::fs::write(folder.path().join(file), expected).unwrap(),
                    None => {
                        let mut happened = shell(folder.path(), command);
                        if command == "mcp-rev revisions" {
                            // Revisions that were added after the page was written come last.
                            happened.truncate(expected.len());
                        }
                        assert_eq!(happened, expected, "{document}: {command}");
                    }
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 0, "no block was found");
}

#[cfg(unix)]
fn shell(folder: &Path, command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_mcp-rev")).parent().unwrap();
    let examples = Path::new(crate::servers::weather()).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{path}", programs.display(), examples.display());
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", path)
        .current_dir(folder)
        .output()
        .unwrap();
    // A terminal shows both streams.
    stdout(&output) + &stderr(&output)
}

#[test]
fn no_command_panics_when_its_output_is_closed() {
    let commands: [&[&str]; 4] = [
        &["revisions"],
        &[
            "decode",
            "--revision",
            Revision::V2025_11_25.as_str(),
            "--type",
            "Result",
        ],
        &[
            "translate",
            "--from",
            Revision::V2025_11_25.as_str(),
            "--to",
            Revision::V2025_11_25.as_str(),
            "--type",
            "Result",
        ],
        &["--help"],
    ];
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), "{}\n".repeat(10_000)).unwrap();
    for args in commands {
        let command = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
            command.args(args).stdin(std::fs::File::open(input.path()).unwrap());
            command
        };
        let output = command().stdout(closed()).stderr(Stdio::piped()).output().unwrap();
        assert!(
            output.status.success() && stderr(&output).is_empty(),
            "{args:?}: {}",
            stderr(&output)
        );
        let status = command().stdout(closed()).stderr(closed()).status().unwrap();
        assert!(status.success(), "{args:?}: {status}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    for args in [&["help"][..], &["--version"], &["call", "--help"], &["revisions"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
        let output = command.args(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains("can't read or write"), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn wrong_arguments_exit_with_2_if_the_error_cannot_be_written() {
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for args in [&["decode", "--revision", "none"][..], &["none"], &[]] {
        for stderr in [full(), closed()] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
            let status = command.args(args).stderr(stderr).status().unwrap();
            assert_eq!(status.code(), Some(2), "{args:?}");
        }
    }
}
