//! `cargo xtask ingest`

use std::error::Error;
use std::fmt::Display;
use std::io::IsTerminal;

use clap::error::ErrorKind;
use mcp_codegen::Cache;
use mcp_codegen::ingest::{
    ExtensionOptions, IngestError, IngestOptions, LeftOut, Position, ingest, ingest_extension, write_overlay,
};
use mcp_codegen::load::{Manifest, Revision};

use crate::args::IngestArgs;
use crate::help;
use crate::print::{print, status, warn};

const OVERLAY: &str = "overlay.yaml";

pub fn run(args: IngestArgs) -> Result<(), Box<dyn Error>> {
    let (revision, from) = match (args.revision_and_schema.as_slice(), &args.of) {
        ([revision, from], _) => {
            let revision = revision.parse::<Revision>();
            let revision = revision.unwrap_or_else(|error| misuse(ErrorKind::ValueValidation, &error));
            (revision, from.clone())
        }
        ([from], Some(of)) => (of.clone(), from.clone()),
        _ => misuse(
            ErrorKind::MissingRequiredArgument,
            &"the name of the revision and its schema are required",
        ),
    };
    let extension = args.extension.zip(args.of).map(|(id, of)| ExtensionOptions {
        id,
        name: args.name,
        of,
        official: !args.unofficial,
    });
    let options = IngestOptions {
        schema: args.schema.directory(),
        draft: (args.draft || args.released).then_some(args.draft),
        revision,
        from,
        source: args.source,
        commit: args.commit,
        accept: args.accept,
        keep_prose: args.keep_prose,
        position: match (args.after, args.before) {
            (Some(revision), _) => Position::After(revision),
            (None, Some(revision)) => Position::Before(revision),
            (None, None) => Position::Keep,
        },
    };
    if std::io::stderr().is_terminal() {
        status(format_args!("reading {}", options.from));
    }
    if args.overlay {
        return only_overlay(&options);
    }
    let done = match &extension {
        Some(extension) => ingest_extension(extension, &options),
        None => ingest(&options).inspect_err(|error| note_overlay(&options, error)),
    };
    let done = done?;
    let what = if done.is_new { "added" } else { "updated" };
    let (schema, dialect, sha256) = (done.schema.display(), done.dialect, &done.sha256);
    print(format_args!("{what} {schema} ({dialect}, sha256 {sha256})\n"))?;
    if let Some(overlay) = &done.overlay {
        let overlay = overlay.display();
        print(format_args!(
            "added {overlay}, with the corrections of the revision before that fit; review it\n"
        ))?;
    }
    for LeftOut { entry, why } in &done.left_out {
        let mut lines = entry.lines().map(str::trim);
        let mut first = lines.next().unwrap_or_default().to_owned();
        // The first place of several is on the line below `at:`.
        if first.ends_with(':') {
            first = format!("{first} {}", lines.next().unwrap_or_default());
        }
        status(format_args!("left out of the overlay: {first}\n  {why}"));
    }
    warn(&done.warnings);
    Ok(print("next: cargo xtask generate\n")?)
}

/// Writes only the overlay of a new revision.
fn only_overlay(options: &IngestOptions) -> Result<(), Box<dyn Error>> {
    let Some(overlay) = write_overlay(options, &Cache::default())? else {
        return Err("nothing to write: the revision is known, has an overlay, or inherits no entry that fits".into());
    };
    let overlay = overlay.display();
    Ok(print(format_args!(
        "added {overlay}, with the corrections of the revision before that fit; add others, and ingest the schema\n"
    ))?)
}

/// Says that an overlay that is written for a new revision replaces the inherited one, if a problem can be corrected
/// there.
fn note_overlay(options: &IngestOptions, error: &IngestError) {
    let overlay = options.schema.join(options.revision.as_str()).join(OVERLAY);
    let is_correctable = error.to_string().contains(OVERLAY);
    let is_new = Manifest::load(&options.schema)
        .is_ok_and(|manifest| !manifest.revisions.is_empty() && manifest.entry(options.revision.as_str()).is_none());
    if is_correctable && is_new && !overlay.exists() {
        status(format_args!(
            "note: {} would replace the overlay that the revision inherits; to correct the schema, first write the \
             inherited entries there, by the same command with --overlay",
            overlay.display()
        ));
    }
}

/// Ends the program with the status of misuse.
fn misuse(kind: ErrorKind, what: &dyn Display) -> ! {
    help::command().error(kind, what).exit()
}
