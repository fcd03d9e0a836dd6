//! `mcp-rev shell`.

use std::io::{Read, Write};
use std::process::{Output, Stdio};

use crate::servers::{REVISIONS, everything, mcp_rev, stderr, stdout, weather};

/// Writes lines to a shell that isn't on a terminal.
fn typed(args: &[&str], lines: impl AsRef<[u8]>) -> Output {
    let history = tempfile::tempdir().unwrap();
    let mut child = mcp_rev(args)
        .env("XDG_DATA_HOME", history.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_ref()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn lines_are_commands_of_one_session() {
    for revision in REVISIONS {
        let lines =
            "inspect\ncall weather city=Bern\n\ncall weather '{\"city\": \"Bern\"}'\nping\nquit\ncall weather\n";
        let output = typed(&["shell", "--revision", revision, "--", weather()], lines);
        assert_eq!(output.status.code(), Some(0), "{revision}: {}", stderr(&output));
        let shown = stdout(&output);
        assert!(shown.contains(&format!("revision      {revision}")), "{shown}");
        assert_eq!(shown.matches("{\"celsius\":21.5}").count(), 2, "{shown}");
        assert!(shown.contains(" ms\n"), "{shown}");
    }
}

#[test]
fn a_resource_ends_with_a_line_break() {
    let output = typed(&["shell", "--", everything()], "read test://static-text\n".repeat(2));
    let lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    assert!(lines.len() == 2 && lines[0] == lines[1], "{lines:?}");
}

#[test]
fn an_error_in_a_line_is_reported_and_the_session_continues() {
    let lines = "cal weather\ncall wether\ncall 'weather\ncall weather city\ntool weather\n";
    let output = typed(&["shell", "--", weather()], lines);
    assert_eq!(output.status.code(), Some(1));
    let reasons = stderr(&output);
    for reason in [
        "error: line 1: unrecognized subcommand 'cal'",
        "did you mean \"weather\"?",
        "error: line 3: a quote isn't closed",
        "\"city\": there is no `=` between name and value; arguments are NAME=VALUE, NAME:=JSON, or one JSON object",
    ] {
        assert!(reasons.contains(reason), "{reason}: {reasons}");
    }
    assert!(stdout(&output).contains("Input schema"));
    let output = typed(&["shell", "--", weather()], b"ping\n\xff\ncall weather city=Bern\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("error: line 2: it isn't UTF-8"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("21.5"));
    let help = typed(&["shell", "--", weather()], "help\nhelp call\n");
    assert_eq!(help.status.code(), Some(0));
    assert!(stderr(&help).contains("Call a tool"), "{}", stderr(&help));
}

#[test]
fn json_in_a_line_does_not_have_to_be_quoted() {
    let lines = "call weather {\"city\": \"Bern\"}\ncall weather city:=\"Bern\"\nrequest tools/call {\"name\": \"weather\", \"arguments\": {\"city\": \"Bern\"}}\n";
    let output = typed(&["shell", "--", weather()], lines);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stdout(&output).matches("\"celsius\":21.5").count(),
        3,
        "{}",
        stdout(&output)
    );
}

#[test]
fn resources_and_prompts_are_read_and_progress_is_shown() {
    let lines =
        "read test://static-text\nprompt test_prompt_with_arguments arg1=a arg2=b\ncall test_tool_with_progress\n";
    let output = typed(&["shell", "--", everything()], lines);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("user: "), "{}", stdout(&output));
    assert!(stderr(&output).contains("[progress 50/100]"), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn the_terminal_completes_names_and_keeps_a_history() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let open = || {
        let mut user = std::fs::File::options();
        user.read(true).write(true).open(name.to_str().unwrap()).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("history");
    let mut child = mcp_rev(&["shell", "--history", history.to_str().unwrap(), "--", weather()])
        .env("TERM", "xterm")
        .stdin(open())
        .stdout(open())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut terminal = std::fs::File::from(terminal);
    let mut shown = String::new();
    for (prompts, keys) in [(1, "call wea\tci\tBern\n"), (2, "quit\n")] {
        // The output of a command comes before the next prompt.
        while shown.matches("> \r").count() < prompts {
            let mut part = [0; 1024];
            let read = terminal.read(&mut part).unwrap();
            shown.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        terminal.write_all(keys.as_bytes()).unwrap();
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(shown.contains("{\"celsius\":21.5}"), "{shown:?}");
    let kept = std::fs::read_to_string(&history).unwrap();
    assert!(kept.contains("call weather city=Bern"), "{kept:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&history).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "only its owner can read it");
}
