//! `cargo xtask report`

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use mcp_codegen::load::Manifest;
use mcp_codegen::{GenerateOptions, generate};

use crate::args::{ReportArgs, in_workspace};
use crate::command::git;
use crate::generate::crates_from;
use crate::print::{print, status};
use crate::programs;

/// A folder, and the extension of the files that count.
type Folder = (&'static str, &'static str);

/// The parts of the workspace: the name of each, how it is made, and its folders.
const LAYERS: [(&str, &str, &[Folder]); 9] = [
    ("Official schemas", "read", &[("schema", "json")]),
    ("Data beside the schemas", "written as data", &[("schema", "yaml")]),
    (
        "Types",
        "generated from the schemas, as the data corrects them",
        &[("generated", "rs")],
    ),
    (
        "Tables of the revisions and conversions",
        "generated from the schemas and the data",
        &[("generated/mcp-adapters/tables", "json")],
    ),
    (
        "Reference and changes",
        "generated from the schemas and the data",
        &[("docs/reference", "md"), ("docs/changes", "md")],
    ),
    (
        "Generator",
        "written",
        &[("codegen/src", "rs"), ("codegen/templates", "hbs")],
    ),
    (
        "Decoding, validation, conversion",
        "written",
        &[("json-schema/src", "rs"), ("wire/src", "rs"), ("convert/src", "rs")],
    ),
    ("Runtime", "written", &[("runtime", "rs")]),
    ("Command", "written", &[("cli/src", "rs")]),
];

/// Folders within a layer that don't count.
const OTHERS: [&str; 3] = ["tests", "examples", "target"];

pub fn run(args: &ReportArgs) -> Result<(), Box<dyn Error>> {
    let mut page = heading(args.run)?;
    page += &layers()?;
    page += &generation()?;
    page += &gaps()?;
    let mut failed = Vec::new();
    if args.run {
        let manifest = Manifest::load(&in_workspace("schema"))?;
        let latest = manifest.revisions.last().ok_or("the manifest has no revision")?;
        // The latest schema is absorbed like a release that follows itself: with the inherited data and the suggestions.
        let file = format!("schema/{}/schema.json", latest.revision.as_str());
        let schema = in_workspace(&file).to_string_lossy().into_owned();
        let absorb = ["--release", "--package", "mcp-absorb", "--", &schema];
        for (name, command) in [
            ("absorb", &absorb[..]),
            ("conformance", &["--package", "mcp-interop", "--", "conformance"]),
            ("interop", &["--package", "mcp-interop", "--", "peers"]),
        ] {
            status(format_args!("running `cargo xtask {name}`"));
            let (output, success) = programs::output(command)?;
            let output = output.replace(&schema, &file);
            let _ = write!(page, "\n## `cargo xtask {name}`\n\n{}", output.trim_start());
            failed.extend((!success).then_some(name));
        }
    }
    match &args.out {
        Some(file) => fs::write(file, page)?,
        None => print(page)?,
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(format!("failed: {}", failed.join(", ")).into()),
    }
}

/// The heading, with the command and the commit that the page is from.
fn heading(ran: bool) -> io::Result<String> {
    let run = if ran { " --run" } else { "" };
    let log = git(&in_workspace(""))
        .args(["log", "-1", "--format=%cs at %h"])
        .output()?;
    let commit = String::from_utf8_lossy(&log.stdout);
    Ok(format!(
        "# What is generated\n\nWhat of this project comes from the official schemas alone, what from data beside them, and what is code, from the \
         schemas to the tests of others. `cargo xtask report{run}` wrote this page on {}.\n",
        commit.trim()
    ))
}

/// The table of the layers.
fn layers() -> io::Result<String> {
    let mut table = "\n## Layers\n\n| Layer | How it is made | Files | Lines |\n|---|---|--:|--:|\n".to_owned();
    for (layer, from, folders) in LAYERS {
        let mut counted = Vec::new();
        for (folder, extension) in folders {
            count(&in_workspace(folder), extension, &mut counted)?;
        }
        let (files, lines) = (counted.len(), counted.iter().sum::<usize>());
        let _ = writeln!(table, "| {layer} | {from} | {files} | {lines} |");
    }
    Ok(table)
}

/// Adds the number of lines of each file.
fn count(folder: &Path, extension: &str, counted: &mut Vec<usize>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !OTHERS.iter().any(|other| path.ends_with(other)) {
            count(&path, extension, counted)?;
        } else if path.is_file() && path.extension().is_some_and(|own| own == extension) {
            counted.push(fs::read_to_string(&path)?.lines().count());
        }
    }
    Ok(())
}

/// The time to generate all crates.
fn generation() -> Result<String, Box<dyn Error>> {
    let start = Instant::now();
    let out = in_workspace("generated");
    let generated = generate(&GenerateOptions {
        schema: in_workspace("schema"),
        crates: crates_from(&out)?,
        out,
        check: true,
    })?;
    let seconds = start.elapsed().as_secs_f32();
    let (types, revisions) = (generated.types, generated.undocumented.len() - generated.extensions);
    let extensions = generated.extensions;
    Ok(format!(
        "\n## Generation\n\nAll crates of {revisions} revisions and {extensions} extensions, with {types} types: {seconds:.1} s with this build \
         of the generator.\n"
    ))
}

/// The table of schema gaps, from the page that lists them.
fn gaps() -> io::Result<String> {
    let page = fs::read_to_string(in_workspace("docs/schema-gaps.md"))?;
    let table = page.lines().skip_while(|line| !line.starts_with('|'));
    let table: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
    let table = table.join("\n").replace("](#", "](schema-gaps.md#");
    Ok(format!(
        "\n## What the schemas don't say\n\nEntries by revision, each of which [Schema gaps](schema-gaps.md) lists with its source.\n\n{table}\n"
    ))
}
