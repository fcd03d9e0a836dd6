//! The help of `cargo xtask`: its commands in groups.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use crate::args::Args;

/// The headings and their commands. The first group is all that a new revision needs.
const GROUPS: [(&str, &[&str]); 5] = [
    ("A new revision", &["upstream", "diff", "ingest", "generate"]),
    ("Known revisions", &["absorb", "rename", "withdraw", "lock"]),
    ("What is generated", &["model", "adapters", "jsonld", "report"]),
    (
        "With other programs",
        &["interop", "conformance", "authorization", "json-schema-suite", "bench"],
    ),
    ("Releases", &["publish"]),
];

/// The command line, with the commands grouped in its help.
pub fn command() -> Command {
    let mut command = Args::command();
    command.build();
    let groups = groups(&command);
    command
        .help_template("{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}")
        .before_help(groups)
}

fn groups(command: &Command) -> StyledStr {
    let mut help = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(help, "{heading}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(help, "  {name:18} {about}");
        }
        help.push('\n');
    }
    help.truncate(help.trim_end().len());
    help.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = Args::command();
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        assert_eq!(known.len(), grouped.len());
        assert_eq!(BTreeSet::from_iter(known), BTreeSet::from_iter(grouped));
    }
}
