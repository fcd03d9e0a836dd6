//! `cargo xtask upstream`

mod packages;
mod render;
mod schemas;
mod source;

use std::collections::BTreeMap;
use std::error::Error;

use serde::{Deserialize, Serialize};

use self::packages::Package;
use self::source::Source;
use crate::args::{UpstreamArgs, UpstreamFormat, in_workspace};
use crate::print::print;

/// `xtask/upstream.yaml`, whose comments describe each member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Upstream {
    revisions: String,
    schema: String,
    draft: String,
    #[serde(default)]
    families: BTreeMap<String, Family>,
    extensions: BTreeMap<String, Extension>,
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    revisions: String,
    schema: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Extension {
    current: String,
    pinned: Option<String>,
}

/// A compared schema, text or package.
#[derive(Debug, Serialize)]
struct Item {
    /// `revision`, `schema`, `extension`, `npm`, `pypi` or `cargo`.
    kind: &'static str,
    name: String,
    #[serde(flatten)]
    state: State,
}

#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
enum State {
    /// It is the same as ours.
    Same,
    /// It differs from ours.
    Changed {
        ours: String,
        theirs: String,
        /// The changes of the protocol, if it is a schema.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<mcp_codegen::diff::Diff>,
    },
    /// It couldn't be read.
    Unread { why: String },
}

impl Item {
    fn new(kind: &'static str, name: impl Into<String>, state: Result<State, Box<dyn Error>>) -> Self {
        Self {
            kind,
            name: name.into(),
            state: state.unwrap_or_else(|error| State::Unread { why: error.to_string() }),
        }
    }
}

impl State {
    /// The state of something whose changes aren't listed.
    fn of(is_same: bool, ours: &str, theirs: String) -> Self {
        match is_same {
            true => Self::Same,
            false => Self::Changed {
                ours: ours.to_owned(),
                theirs,
                diff: None,
            },
        }
    }
}

pub fn run(args: &UpstreamArgs) -> Result<(), Box<dyn Error>> {
    let manifest = in_workspace("xtask/upstream.yaml");
    let text = std::fs::read_to_string(args.manifest.as_ref().unwrap_or(&manifest))?;
    let upstream: Upstream = yaml_serde::from_str(&text)?;
    let source = Source::new(args.from.clone());
    let mut items = schemas::compare(&upstream, &args.schema.directory(), &source)?;
    let root = in_workspace(".");
    items.extend(upstream.packages.iter().map(|package| package.compare(&root, &source)));
    print(match args.format {
        UpstreamFormat::Text => render::text(&items),
        UpstreamFormat::Markdown => render::markdown(&items)?,
        UpstreamFormat::Json => serde_json::to_string_pretty(&items)? + "\n",
    })?;
    let count = items.iter().filter(|item| !matches!(item.state, State::Same)).count();
    match count {
        0 => Ok(()),
        _ => Err(format!("{count} of {} have changed, or couldn't be read", items.len()).into()),
    }
}
