//! The commands that are clients of a server, with our own servers as child processes and over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

#[cfg(unix)]
use crate::servers::{HELLO, script};
use crate::servers::{HttpServer, REVISIONS, everything, mcp_rev, run, stderr, stdout, succeeds, weather};
use serde_json::{Value, json};

#[test]
fn inspect_shows_servers_in_every_revision_and_over_both_transports() {
    let http = HttpServer::start();
    for (revision, era) in REVISIONS.into_iter().zip(["handshake", "handshake", "stateless"]) {
        for server in [&["--", everything()][..], &[http.url.as_str()]] {
            let args = [&["inspect", "--revision", revision][..], server].concat();
            let shown = succeeds(&args);
            for line in [
                era,
                revision,
                "everything 0.1.0",
                "test_simple_text",
                "test://static-text",
                "test_simple_prompt",
            ] {
                assert!(shown.contains(line), "{line} {args:?}: {shown}");
            }
            let args = [&["inspect", "--format", "json", "--revision", revision][..], server].concat();
            let inspected: Value = serde_json::from_str(&succeeds(&args)).unwrap();
            assert_eq!(inspected["era"], era);
            assert_eq!(inspected["revision"], revision);
            assert_eq!(inspected["server"]["name"], "everything");
            assert!(
                inspected["tools"].as_array().unwrap().len() > 10,
                "every page is listed"
            );
            assert!(inspected["capabilities"]["tools"].is_object());
            assert_eq!(
                inspected["resourceTemplates"][0]["uriTemplate"],
                "test://template/{id}/data"
            );
        }
    }
}

#[test]
fn call_takes_the_types_of_arguments_from_the_input_schema() {
    let bern = succeeds(&[
        "call",
        "weather",
        "--arg",
        "city=Bern",
        "--format",
        "json",
        "--",
        weather(),
    ]);
    let result: Value = serde_json::from_str(&bern).unwrap();
    assert_eq!(result["structuredContent"], json!({"celsius": 21.5}));
    let whole = succeeds(&["call", "weather", "--args", r#"{"city":"Bern"}"#, "--", weather()]);
    assert!(whole.contains("21.5"), "{whole}");
    let failed = run(&["call", "weather", "--arg", "city=5", "--", weather()]);
    assert_eq!(failed.status.code(), Some(1), "a result with isError");
    assert!(stdout(&failed).contains("no measurement for 5"), "{}", stdout(&failed));
}

#[test]
fn arguments_can_be_given_as_json_or_read_from_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = directory.path().join(name);
        std::fs::write(&file, text).unwrap();
        format!("@{}", file.to_str().unwrap())
    };
    let (all, city) = (
        write("all.json", "{\"city\": \"Bern\"}"),
        write("city.json", "\"Bern\"\n"),
    );
    let request = write("request.json", r#"{"name":"weather","arguments":{"city":"Bern"}}"#);
    for arguments in [
        ["call", "weather", "--args", &all],
        ["call", "weather", "--arg", "city:=\"Bern\""],
        ["call", "weather", "--arg", &format!("city:={city}")],
        ["request", "tools/call", "--params", &request],
    ] {
        let result = succeeds(&[&arguments[..], &["--", weather()]].concat());
        assert!(result.contains("\"celsius\":21.5"), "{arguments:?}: {result}");
    }
    // Elsewhere in an argument, both signs are text.
    let text = run(&["call", "weather", "--arg", "city=@a:=b", "--", weather()]);
    assert!(stdout(&text).contains("no measurement for @a:=b"), "{}", stdout(&text));

    let broken = write("broken.json", "{\"city\":\n}");
    for (arguments, reason) in [
        (["--arg", "city:=Bern"], "not JSON: expected value at line 1 column 1"),
        (["--arg", &format!("city:={broken}")], "broken.json: "),
        (["--args", &broken], "not JSON: expected value at line 2 column 1"),
        (["--args", "[]"], "expected an object, found an array"),
        (["--args", "@/none.json"], "/none.json: "),
    ] {
        let refused = run(&[&["call", "weather"][..], &arguments, &["--", weather()]].concat());
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    }
}

#[test]
fn tool_shows_the_description_and_schemas_of_a_tool() {
    let shown = succeeds(&["tool", "weather", "--", weather()]);
    for part in [
        "weather\n\nGet the current weather of a city\n",
        "\nInput schema\n{\n  \"",
        "A city, such as Bern.",
        "\nOutput schema\n{",
    ] {
        assert!(shown.contains(part), "{part:?} is missing in {shown}");
    }
    let json = succeeds(&["tool", "weather", "--format", "json", "--", weather()]);
    let tool: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(tool["outputSchema"]["required"], json!(["celsius"]));
    let unknown = run(&["tool", "wether", "--", weather()]);
    assert!(
        stderr(&unknown).contains("did you mean \"weather\"?"),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn request_sends_any_method_and_prints_its_result() {
    for revision in REVISIONS {
        let listed = succeeds(&["request", "tools/list", "--revision", revision, "--", weather()]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed["tools"][0]["name"], "weather", "{revision}");
        let params = r#"{"name":"weather","arguments":{"city":"Bern"}}"#;
        let called = succeeds(&[
            "request",
            "tools/call",
            "--params",
            params,
            "--revision",
            revision,
            "--",
            weather(),
        ]);
        let called: Value = serde_json::from_str(&called).unwrap();
        assert_eq!(called["content"][0]["type"], "text", "{revision}");
    }
    // A method that the hub doesn't have is sent unchanged, and the server's error is reported.
    assert_eq!(
        succeeds(&["request", "ping", "--revision", REVISIONS[0], "--", weather()]).trim(),
        "{}"
    );
    let unknown = run(&["request", "x/none", "--", weather()]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("-32601"), "{}", stderr(&unknown));
    for params in ["{", "[]", r#"{"name":1}"#, r#"{"name":"weather","_meta":1}"#] {
        let refused = run(&["request", "tools/call", "--params", params, "--", weather()]);
        assert_eq!(refused.status.code(), Some(2), "{params}: {}", stderr(&refused));
    }
}

#[test]
fn a_server_is_found_by_name_in_a_configuration_file() {
    let http = HttpServer::start();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    let servers = json!({"mcpServers": {
        "weather": {"command": weather(), "args": [], "env": {"CITY": "${PATH}"}},
        "remote": {"type": "http", "url": http.url, "headers": {"X-Team": "${MCP_REV_TEAM:-one}"}},
        "broken": {"command": weather(), "url": http.url},
        "unset": {"command": "${MCP_REV_NONE}"},
    }});
    std::fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for (name, offered) in [("weather", "weather 1.0"), ("remote", "everything 0.1.0")] {
        let shown = succeeds(&["inspect", "--config", file, "--server", name]);
        assert!(shown.contains(offered), "{shown}");
    }
    for (name, reason) in [
        ("wether", "did you mean \"weather\"?"),
        ("broken", "either a `command` or a `url`"),
        ("unset", "the environment has no MCP_REV_NONE"),
    ] {
        let refused = run(&["inspect", "--config", file, "--server", name]);
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert!(stderr(&refused).contains(reason), "{name}: {}", stderr(&refused));
    }
    let several = run(&["inspect", "--config", file]);
    assert!(
        stderr(&several).contains("broken, remote, unset, weather"),
        "{}",
        stderr(&several)
    );
    let twice = run(&["inspect", "--config", file, "--", weather()]);
    assert_eq!(twice.status.code(), Some(2));
    // If the file has only one server, its name can be omitted.
    let one = directory.path().join("one.json");
    std::fs::write(&one, json!({"servers": {"only": {"command": weather()}}}).to_string()).unwrap();
    assert!(succeeds(&["inspect", "--config", one.to_str().unwrap()]).contains("weather 1.0"));
}

#[cfg(unix)]
#[test]
fn the_env_option_sets_a_variable_for_the_started_server() {
    let told = run(&[
        "inspect",
        "-e",
        "GREETING=hello there",
        "--verbose",
        "--",
        "sh",
        "-c",
        "echo \"$GREETING\" >&2; exit 1",
    ]);
    assert!(stderr(&told).contains("hello there"), "{}", stderr(&told));
}

#[cfg(unix)]
#[test]
fn the_error_for_a_timeout_suggests_the_timeout_option() {
    let output = run(&["inspect", "--timeout", "1", "--", "sleep", "60"]);
    assert_eq!(output.status.code(), Some(3));
    let told = stderr(&output);
    assert!(
        told.contains("no answer came within 1s") && told.contains("--timeout"),
        "{told}"
    );
}

#[test]
fn the_error_for_a_404_suggests_another_path() {
    let http = HttpServer::start();
    let elsewhere = http.url.replace("/mcp", "/elsewhere");
    let output = run(&["inspect", &elsewhere]);
    assert_eq!(output.status.code(), Some(3));
    let told = stderr(&output);
    assert!(told.contains("404") && told.contains("such as /mcp"), "{told}");
}

#[test]
fn an_invalid_or_missing_server_is_reported_with_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    let servers = json!({"a": {"url": "nowhere"}, "c": {"command": "x", "disabled": true}});
    std::fs::write(&file, json!({"mcpServers": servers}).to_string()).unwrap();
    let file = file.to_str().unwrap();
    for (server, reason) in [
        ("a", "server \"a\": `url`: \"nowhere\" isn't an HTTP URL"),
        ("b", "has no server \"b\""),
        ("c", "server \"c\" is disabled"),
    ] {
        let refused = run(&["inspect", "--config", file, "--server", server]);
        assert_eq!(refused.status.code(), Some(2));
        let told = stderr(&refused);
        assert!(told.contains(file) && told.contains(reason), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn inspect_shows_the_types_of_arguments() {
    let tools = r##"{"tools":[{"name":"search","inputSchema":{"type":"object","required":["tags"],"properties":{
        "any":{},"tags":{"$ref":"#/$defs/Tags"},"zip":{"anyOf":[{"type":"string"},{"type":"null"}]}},"$defs":{"Tags":{"type":"array"}}}}]}"##;
    let server = script("", &[HELLO, ("tools/list", &tools.replace('\n', ""))]);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let shown = succeeds(&[&["inspect", "--revision", "2025-06-18"][..], &server].concat());
    assert!(shown.contains("any?: any, tags: array, zip?: string|null"), "{shown}");
}

#[test]
fn an_unknown_tool_name_has_a_suggestion() {
    let output = run(&["call", "wether", "--", weather()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("did you mean \"weather\"?"),
        "{}",
        stderr(&output)
    );
    let output = run(&["call", "weather", "--args", "[]", "--", weather()]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn progress_and_log_messages_go_to_standard_error() {
    for revision in REVISIONS {
        let args = [
            "call",
            "test_tool_with_progress",
            "--revision",
            revision,
            "--",
            everything(),
        ];
        let output = run(&args);
        assert_eq!(output.status.code(), Some(0));
        let expected = ["[progress 0/100]", "[progress 50/100]", "[progress 100/100]"];
        let shown = stderr(&output);
        let shown: Vec<&str> = shown.lines().filter(|line| line.contains("progress")).collect();
        assert_eq!(shown, expected, "{revision}");
        let args = [
            "call",
            "test_tool_with_logging",
            "--log",
            "info",
            "--revision",
            revision,
            "--",
            everything(),
        ];
        let output = run(&args);
        assert!(stderr(&output).contains("[info"), "{revision}: {}", stderr(&output));
        assert!(!stdout(&output).contains("[info"), "{revision}: {}", stdout(&output));
    }
}

#[test]
fn input_requests_are_answered_from_a_file_and_otherwise_declined() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.json");
    let accepted = json!({"action": "accept", "content": {"username": "ann", "email": "ann@example.org"}});
    std::fs::write(
        &file,
        json!({"elicitation": [accepted], "sampling": ["Paris"]}).to_string(),
    )
    .unwrap();
    let http = HttpServer::start();
    // Elicitation was introduced in 2025-06-18.
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for server in [&["--", everything()][..], &[http.url.as_str()]] {
            let ask = |answers: &[&str]| {
                let args = [
                    "call",
                    "test_elicitation",
                    "--arg",
                    "message=Who?",
                    "--revision",
                    revision,
                ];
                run(&[&args[..], answers, server].concat())
            };
            let answered = ask(&["--answers", file.to_str().unwrap()]);
            assert!(
                stdout(&answered).contains("ann@example.org"),
                "{revision}: {}",
                stderr(&answered)
            );
            let declined = ask(&[]);
            assert!(
                stdout(&declined).contains("action=decline"),
                "{revision}: {}",
                stdout(&declined)
            );
            assert!(
                stderr(&declined).contains("Who?") && stderr(&declined).contains("--answers"),
                "{}",
                stderr(&declined)
            );

            let args = [
                "call",
                "test_sampling",
                "--arg",
                "prompt=Where?",
                "--revision",
                revision,
            ];
            let args = [&args[..], &["--answers", file.to_str().unwrap()], server].concat();
            assert_eq!(succeeds(&args), "LLM response: Paris\n", "{revision}");
        }
    }
    std::fs::write(&file, r#"{"elicit": []}"#).unwrap();
    let output = run(&["call", "a", "--answers", file.to_str().unwrap(), "--", everything()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 1 column 9"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn a_user_can_fill_in_a_form_on_a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    for revision in ["2025-11-25", "2026-07-28"] {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let user = std::fs::File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let args = [
            "call",
            "test_elicitation",
            "--arg",
            "message=Who?",
            "--revision",
            revision,
            "--",
            everything(),
        ];
        let mut child = mcp_rev(&args)
            .stdin(user)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::fs::File::from(terminal.try_clone().unwrap())
            .write_all(b"ann\n\nann@example.org\n")
            .unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let answer = r#"action=accept, content={"email":"ann@example.org","username":"ann"}"#;
        assert!(
            stdout(&output).contains(answer) || stdout(&output).contains("ann@example.org"),
            "{}",
            stdout(&output)
        );
        for line in ["The server asks: Who?", "username (text, required)", "it is required"] {
            assert!(stderr.contains(line), "{line}: {stderr}");
        }
    }
}

#[test]
fn read_writes_text_and_bytes_as_they_are() {
    let text = succeeds(&["read", "test://static-text", "--", everything()]);
    assert!(!text.is_empty() && !text.contains("\"contents\""), "{text}");
    let picture = run(&["read", "test://static-binary", "--", everything()]);
    assert!(picture.stdout.starts_with(b"\x89PNG"), "{:?}", picture.stdout);
    let whole = succeeds(&["read", "test://static-text", "--format", "json", "--", everything()]);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["contents"][0]["text"], text.as_str());
    for revision in REVISIONS {
        let output = run(&["read", "test://nothing", "--revision", revision, "--", everything()]);
        assert_eq!(output.status.code(), Some(1), "{revision}");
        assert!(
            stderr(&output).starts_with("error: the peer answered with error"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn prompt_prints_messages() {
    let args = [
        "prompt",
        "test_prompt_with_arguments",
        "--arg",
        "arg1=one",
        "--arg",
        "arg2=two",
        "--",
        everything(),
    ];
    let messages = succeeds(&args);
    assert!(
        messages.starts_with("user: ") && messages.contains("one") && messages.contains("two"),
        "{messages}"
    );
}

#[test]
fn listen_prints_each_change_as_a_line() {
    let http = HttpServer::start();
    for revision in ["2025-11-25", "2026-07-28"] {
        let resource = "test://watched-resource";
        let args = [
            "listen",
            "--resource",
            resource,
            "--format",
            "json",
            "--revision",
            revision,
            &http.url,
        ];
        let mut listener = mcp_rev(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agreed = String::new();
        BufReader::new(listener.stderr.take().unwrap())
            .read_line(&mut agreed)
            .unwrap();
        assert!(
            agreed.starts_with("[listening] tools, prompts, resources") && agreed.contains(resource),
            "{agreed}"
        );
        // Each session has its own router here, so only a stateless server notifies one client of another's changes.
        if revision == "2026-07-28" {
            succeeds(&[
                "call",
                "test_touch_resource",
                "--arg",
                "uri=test://watched-resource",
                &http.url,
            ]);
            let mut line = String::new();
            BufReader::new(listener.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap();
            assert_eq!(line, "{\"changed\":\"resource\",\"uri\":\"test://watched-resource\"}\n");
        }
        listener.kill().unwrap();
        listener.wait().unwrap();
    }
}

#[test]
fn an_unreachable_server_has_exit_status_3() {
    for server in [
        &["http://127.0.0.1:1/mcp"][..],
        &["--", "there-is-no-such-program"],
        &["--", "sh", "-c", "echo broken >&2; exit 4"],
    ] {
        for command in [
            &["inspect"][..],
            &["call", "a"],
            &["read", "a:b"],
            &["prompt", "a"],
            &["listen"],
        ] {
            let output = run(&[command, server].concat());
            assert_eq!(
                output.status.code(),
                Some(3),
                "{command:?} {server:?}: {}",
                stderr(&output)
            );
            assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
        }
    }
}

#[test]
fn the_last_lines_of_a_server_that_ends_at_the_start_are_shown() {
    for (script, expected) in [
        (
            "echo broken >&2; exit 4",
            "exit status: 4; the end of its standard error is:\nbroken",
        ),
        ("exit 4", "exit status: 4 and wrote nothing to its standard error"),
    ] {
        let output = run(&["inspect", "--", "sh", "-c", script]);
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[test]
fn the_option_vv_shows_every_message() {
    let output = run(&["inspect", "-vv", "--revision", "2025-06-18", "--", weather()]);
    let stderr = stderr(&output);
    assert!(
        stderr.contains("> {\"jsonrpc\":\"2.0\"") && stderr.contains("\n< {"),
        "{stderr}"
    );
}

/// Runs a command with a server of 2025-06-18 in a shell script, which answers these methods.
#[cfg(unix)]
fn run_with_script(command: &[&str], capabilities: &str, results: &[(&str, &str)]) -> std::process::Output {
    mcp_rev(
        &with_script(command, capabilities, results)
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    )
    .output()
    .unwrap()
}

#[cfg(unix)]
fn with_script(command: &[&str], capabilities: &str, results: &[(&str, &str)]) -> Vec<String> {
    // The version of the server is the number of messages with the word `elicitation`.
    let hello = format!(
        r#"{{"protocolVersion":"2025-06-18","capabilities":{capabilities},"serverInfo":{{"name":"script","version":"'$(printf %s "$line" | grep -c elicitation)'"}}}}"#
    );
    let results = [&[("initialize", hello.as_str())], results].concat();
    let command = command
        .iter()
        .copied()
        .chain(["--revision", "2025-06-18"])
        .map(str::to_owned);
    command.chain(script("", &results)).collect()
}

#[cfg(unix)]
#[test]
fn inspect_prints_the_error_of_a_failed_list_and_the_other_lists() {
    let all = r#"{"tools":{},"resources":{},"prompts":{}}"#;
    let tools = (
        "tools/list",
        r#"{"tools":[{"name":"hammer","inputSchema":{"type":"object"}}]}"#,
    );
    for (resources, code) in [
        // A method of a capability that the server declares but doesn't implement.
        (("resources/subscribe", "{}"), "-32601"),
        (
            ("resources/list", r#"{"code":-32603,"message":"the disk is full"}"#),
            "-32603",
        ),
    ] {
        let results = [tools, resources, ("prompts/list", r#"{"prompts":[{"name":"greet"}]}"#)];
        let output = run_with_script(&["inspect"], all, &results);
        let shown = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{shown} {}", stderr(&output));
        assert!(shown.contains("hammer") && shown.contains("greet"), "{shown}");
        let (_, section) = shown.split_once("Resources (0)\n  error: ").expect(&shown);
        assert!(section.lines().next().unwrap().contains(code), "{shown}");
        // Many servers have no templates, so a missing method is no error there.
        assert!(!shown.contains("Resource templates"), "{shown}");

        let output = run_with_script(&["inspect", "--format", "json"], all, &results);
        assert_eq!(output.status.code(), Some(1));
        let inspected: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(inspected["tools"][0]["name"], "hammer");
        assert_eq!(inspected["resources"], json!([]));
        assert!(
            inspected["errors"]["resources"].as_str().unwrap().contains(code),
            "{inspected}"
        );
        assert_eq!(inspected["errors"].as_object().unwrap().len(), 1, "{inspected}");
    }
}

#[cfg(unix)]
#[test]
fn inspect_declares_the_same_capabilities_as_call() {
    let output = run_with_script(&["inspect"], r#"{"tools":{}}"#, &[("tools/list", r#"{"tools":[]}"#)]);
    assert!(stdout(&output).starts_with("script 1\n"), "{}", stdout(&output));
}

/// An escape sequence, a C1 control character, and characters that change the direction of text or are invisible.
#[cfg(unix)]
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}\u{200b}";

#[cfg(unix)]
#[track_caller]
fn assert_plain(text: &str) {
    let hostile = |it: &char| HOSTILE.chars().any(|other| *it == other && !other.is_ascii_graphic());
    assert_eq!(text.chars().find(hostile), None, "{text:?}");
    assert!(text.contains('\u{fffd}'), "{text:?}");
}

/// Escapes every character as in JSON, for use within single quotes of a shell.
#[cfg(unix)]
fn escaped(text: &str) -> String {
    text.chars().map(|it| format!("\\u{:04x}", it as u32)).collect()
}

#[cfg(unix)]
#[test]
fn an_error_of_a_server_reaches_standard_error_without_escape_sequences() {
    let error = format!(r#"{{"code":-32000,"message":"{}"}}"#, escaped(HOSTILE));
    let output = run_with_script(&["read", "a:b"], r#"{"resources":{}}"#, &[("resources/read", &error)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
    assert_plain(&stderr(&output));
}

#[cfg(unix)]
#[test]
fn the_last_lines_of_a_server_that_ends_are_shown_without_escape_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let last = folder.path().join("last");
    std::fs::write(&last, HOSTILE).unwrap();
    for verbosity in [&["inspect"][..], &["inspect", "-vv"]] {
        let program = format!("cat {} >&2; exit 4", last.to_str().unwrap());
        let output = run(&[verbosity, &["--", "sh", "-c", &program]].concat());
        assert_eq!(output.status.code(), Some(3));
        assert_plain(&stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn output_is_sanitized_on_a_terminal_and_unchanged_in_a_file() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let contents = format!(r#"{{"contents":[{{"uri":"a:b","text":"{}"}}]}}"#, escaped(HOSTILE));
    for format in ["text", "json"] {
        let read = with_script(
            &["read", "a:b", "--format", format],
            r#"{"resources":{}}"#,
            &[("resources/read", &contents)],
        );
        let read: Vec<&str> = read.iter().map(String::as_str).collect();
        let written = succeeds(&read);
        assert!(written.contains('\u{202e}'), "{written:?}");

        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let user = std::fs::File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let mut child = mcp_rev(&read).stdout(user).stderr(Stdio::null()).spawn().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        // After everything that was written, reading a terminal whose other side is closed is an error.
        let mut shown = Vec::new();
        let _ = std::io::Read::read_to_end(&mut std::fs::File::from(terminal), &mut shown);
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains("owned"), "{shown:?}");
        assert_plain(&shown);
    }
}

#[cfg(unix)]
#[test]
fn an_option_limits_the_size_of_messages_from_the_server() {
    let text = r#"'"$(head -c 2000000 /dev/zero | tr '\0' a)"'"#;
    let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    let tools = r#"{"tools":[{"name":"long","inputSchema":{"type":"object"}}]}"#;
    let server = script("", &[HELLO, ("tools/list", tools), ("tools/call", &result)]);
    let server: Vec<&str> = server.iter().map(String::as_str).collect();
    let call = ["call", "long", "--revision", "2025-06-18", "--max-message"];
    assert_eq!(succeeds(&[&call[..], &["2"], &server].concat()).trim().len(), 2_000_000);
    let bridge = ["--", env!("CARGO_BIN_EXE_mcp-rev"), "bridge", "--max-message"];
    let bridged = [&call[..], &["2"], &bridge, &["2"], &server].concat();
    assert_eq!(succeeds(&bridged).trim().len(), 2_000_000);
    for refused in [
        [&call[..], &["1"], &server].concat(),
        [&call[..], &["2"], &bridge, &["1"], &server].concat(),
    ] {
        let output = run(&refused);
        assert_eq!(output.status.code(), Some(1));
        let error = stderr(&output);
        assert!(error.contains("a message has more than 1048576 bytes"), "{error}");
    }
    for invalid in ["0", "-1", "x", "99999999999999999"] {
        let output = run(&[&call[..4], &[&*format!("--max-message={invalid}")], &server].concat());
        assert_eq!(output.status.code(), Some(2), "{invalid}");
    }
}
