//! The commands with other output than Rust: they read a schema directory, and return a diff, or write documents or
//! JSON-LD.

use std::path::Path;

use crate::adapt::{Rules, plan_pair};
use crate::cache::Cache;
use crate::diff::{Diff, diff};
use crate::emit::EmitInput;
use crate::error::GenerateError;
use crate::files::{FileSet, GENERATED, Report};
use crate::generate::position;
use crate::ingest::Drafts;
use crate::jsonld::{annotated_schema, context};
use crate::load::load;
use crate::model::ModelledRevision;
use crate::protocol::Protocol;
use crate::reference::{gaps, reference};
use crate::stages::{plan, planned};

/// The directories of the generated documents.
const OWNED: &[&str] = &["changes/", "reference/"];

/// Writes Markdown files into a directory of documentation: in `changes` the changes between adjacent revisions, in
/// `reference` the definitions of each revision, and in `schema-gaps.md` what the overlays add to the schemas. With
/// `check`, nothing is written.
///
/// # Errors
/// Problems of the input, and files that can't be read or written.
pub fn generate_documents(schema: &Path, docs: &Path, check: bool) -> Result<Report, GenerateError> {
    let planned = planned(load(schema)?, &Cache::default())?;
    let diffs: Vec<Diff> = (0..planned.revisions.len())
        .filter_map(|later| diff_before(&planned, later))
        .collect();
    let mut files = FileSet::default();
    let header = format!("<!-- {GENERATED} by `cargo xtask generate` from schema/; don't edit it. -->\n\n");
    for diff in &diffs {
        let path = format!("changes/{}_{}.md", diff.from, diff.to);
        files.insert(path, header.clone() + &diff.markdown()?)?;
    }
    for (index, input) in EmitInput::all(&planned, "").enumerate() {
        let path = match input.extension() {
            Some(extension) => format!("reference/extensions/{}.md", extension.name),
            None => format!("reference/{}.md", input.model().revision),
        };
        files.insert(path, header.clone() + &reference(&planned, (index, &input), &diffs)?)?;
    }
    files.insert("schema-gaps.md", header + &gaps(&planned.revisions)?)?;
    Ok(files.write_or_check(docs, OWNED, check)?)
}

/// Writes `context.jsonld` and `schema.yaml` of a revision into a directory: its JSON-LD context, and its schema with the IRI of each
/// member.
///
/// # Errors
/// Problems of the input, an unknown revision, and files that can't be written.
pub fn write_jsonld(schema: &Path, revision: &str, out: &Path) -> Result<Report, GenerateError> {
    let protocol = planned(load(schema)?, &Cache::default())?;
    let index = position(&protocol.manifest, revision)?;
    let mut files = FileSet::default();
    for input in EmitInput::all(&protocol, "").skip(index).take(1) {
        let context = serde_json::to_string_pretty(&context(input.model()))? + "\n";
        files.insert("context.jsonld", context)?;
        let schema = yaml_serde::to_string(&annotated_schema(input.schema(), &input.docs))?;
        files.insert("schema.yaml", schema)?;
    }
    Ok(files.write(out, &[])?)
}

/// Returns the changes between two revisions. Each is the name of a known revision, or the path of a schema file that
/// isn't ingested yet. A file is compared as it would be ingested after the other revision, or after the last one if
/// both are files: without prose, and with the `overlay.yaml` next to it, or else with the entries of the previous
/// revision's overlay that apply to it.
///
/// # Errors
/// Problems of the input, or an unknown revision.
pub fn revision_diff(schema: &Path, from: &str, to: &str) -> Result<Diff, GenerateError> {
    let cache = Cache::default();
    let mut drafts = Drafts::new(schema, &cache)?;
    let known = drafts.revisions();
    let position = |wanted: &str| known.iter().position(|known| known == wanted);
    let file = |wanted| match Path::new(wanted) {
        path if path.is_file() => Ok(path),
        _ => Err(GenerateError::UnknownRevision {
            wanted: String::from(wanted),
            known: known.clone(),
        }),
    };
    let (earlier, later) = match [from, to].map(position) {
        [Some(earlier), Some(later)] => (earlier, later),
        [Some(earlier), None] => (earlier, drafts.insert(earlier + 1, file(to)?)?),
        [None, Some(later)] => (drafts.insert(later + 1, file(from)?)?, later),
        [None, None] => {
            let files = (file(from)?, file(to)?);
            (
                drafts.insert(known.len(), files.0)?,
                drafts.insert(known.len() + 1, files.1)?,
            )
        }
    };
    let modelled = drafts.model()?;
    let is_adjacent = later == earlier + 1 && modelled.revisions.len() == known.len();
    let diff_of = |modelled: &Protocol| diff_of_modelled(&modelled.revisions[earlier], &modelled.revisions[later]);
    let mut diff = match is_adjacent {
        true => {
            let planned = plan(modelled, &cache)?;
            diff_before(&planned, later).unwrap_or_else(|| diff_of(&planned))
        }
        false => diff_of(&modelled),
    };
    (diff.from, diff.to) = (from.to_owned(), to.to_owned());
    Ok(diff)
}

/// Returns the changes between any two revisions, without rules.
pub(crate) fn diff_of_modelled(earlier: &ModelledRevision, later: &ModelledRevision) -> Diff {
    let (plans, _) = plan_pair(earlier, later, &Rules::default());
    diff(earlier, later, &plans, false)
}

/// Returns the changes between the revision at this position and the one before it, if there is one.
fn diff_before(planned: &Protocol, later: usize) -> Option<Diff> {
    let (earlier, plans) = planned.before(later)?;
    Some(diff(earlier, &planned.revisions[later], plans, true))
}
