//! Colour and the width of tables, on a terminal and elsewhere.
#![cfg(unix)]

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;

use crate::servers::{everything, mcp_rev, stdout, succeeds, weather};

const BOLD: &str = "\u{1b}[1m";
const CYAN: &str = "\u{1b}[36m";
const RED: &str = "\u{1b}[31m";

/// Returns what a command writes to a terminal with this many columns.
fn on_terminal(command: &mut Command, columns: u16) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let user = File::options().read(true).write(true).open(name.to_str().unwrap());
    let user: OwnedFd = user.unwrap().into();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(user.as_fd(), size).unwrap();
    let command = command.env("TERM", "xterm").stdout(user).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The terminal closes when its last writer is dropped.
    command.stdout(Stdio::null());
    // The terminal buffers only some kilobytes, so it is read while the command runs. Its end is an error.
    let mut shown = Vec::new();
    let mut terminal = File::from(terminal);
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = terminal.read(&mut part) {
        shown.extend_from_slice(&part[..read]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

#[test]
fn headings_and_names_are_styled_on_a_terminal_unless_disabled() {
    let inspect = |before: &[&str]| {
        let mut command = mcp_rev(&[before, &["inspect", "--", weather()]].concat());
        command.env_remove("NO_COLOR");
        command
    };
    let styled = on_terminal(&mut inspect(&[]), 100);
    assert!(styled.contains(&format!("{BOLD}Tools (1)")), "{styled:?}");
    assert!(styled.contains(&format!("  {CYAN}weather")), "{styled:?}");
    for plain in [
        on_terminal(inspect(&[]).env("NO_COLOR", "1"), 100),
        on_terminal(&mut inspect(&["--color", "never"]), 100),
        on_terminal(&mut mcp_rev(&["inspect", "--format", "json", "--", weather()]), 100),
        stdout(&inspect(&[]).output().unwrap()),
    ] {
        assert!(plain.contains("weather") && !plain.contains('\u{1b}'), "{plain:?}");
    }
    let mut wanted = inspect(&["--color=always"]);
    assert!(stdout(&wanted.env("NO_COLOR", "1").output().unwrap()).contains(BOLD));
}

#[test]
fn changes_checks_and_errors_are_coloured_by_severity() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, tools: &[&str]| {
        let path = directory.path().join(name);
        let tools: Vec<_> = tools
            .iter()
            .map(|tool| json!({"name": tool, "inputSchema": {"type": "object"}}))
            .collect();
        std::fs::write(&path, json!({"tools": tools}).to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (old, new) = (file("old", &["a"]), file("new", &["b"]));
    let diff = stdout(&mcp_rev(&["diff", &old, &new, "--color", "always"]).output().unwrap());
    assert!(
        diff.contains(&format!("{RED}breaking")) && diff.contains("\u{1b}[32madditive"),
        "{diff:?}"
    );
    let diff = stdout(&mcp_rev(&["diff", &old, &new]).output().unwrap());
    assert_eq!(diff, "  breaking  tool a  removed\n  additive  tool b  added\n");

    let checked = succeeds(&["check", "--color", "always", "--", weather()]);
    assert!(checked.contains("\u{1b}[32mok"), "{checked:?}");
    let failed = mcp_rev(&["tool", "none", "--color", "always", "--", weather()])
        .output()
        .unwrap();
    let told = String::from_utf8(failed.stderr).unwrap();
    assert!(told.starts_with(&format!("{BOLD}{RED}error:\u{1b}[0m ")), "{told:?}");
}

#[test]
fn rows_are_cut_to_the_width_of_a_terminal_and_complete_elsewhere() {
    let inspect = || mcp_rev(&["inspect", "--color", "never", "--", everything()]);
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().skip_while(|line| !line.starts_with("Tools ("));
        rows.map(str::to_owned).collect()
    };
    let narrow = rows(&on_terminal(&mut inspect(), 100));
    let whole = rows(&stdout(&inspect().output().unwrap()));
    assert_eq!(narrow.len(), whole.len());
    assert!(whole.iter().any(|row| row.chars().count() > 100));
    for (row, whole) in narrow.iter().zip(&whole) {
        assert!(row.chars().count() <= 100, "{row}");
        let name = |row: &str| row.split_whitespace().next().map(str::to_owned);
        assert_eq!(name(row), name(whole));
    }
    assert!(narrow.iter().any(|row| row.ends_with('…')));
}

#[test]
fn the_color_option_applies_to_help() {
    let help = |color: &[&str]| succeeds(&[color, &["call", "--help"]].concat());
    let styled = help(&["--color", "always"]);
    assert!(styled.contains('\u{1b}'), "{styled}");
    assert_eq!(styled, help(&["--color=always"]));
    assert!(!help(&["--color", "never"]).contains('\u{1b}'));
}
