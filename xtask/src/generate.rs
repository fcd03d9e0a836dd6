//! `cargo xtask generate` and `cargo xtask lock`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mcp_codegen::files::Report;
use mcp_codegen::load::families;
use mcp_codegen::{GenerateOptions, Generated, Undocumented};

use crate::args::{GenerateArgs, SchemaArgs, in_workspace};
use crate::print::{status, warn};

pub fn run(args: &GenerateArgs) -> Result<(), Box<dyn Error>> {
    let out = args.out();
    let (mut stale, mut unlocked, mut is_documented) = (Vec::new(), Vec::new(), true);
    for schema in families(&args.schema.directory()) {
        let start = Instant::now();
        let generated = mcp_codegen::generate(&GenerateOptions {
            schema: schema.clone(),
            crates: crates_from(&out)?,
            out: out.clone(),
            check: args.check,
        })?;
        for lacking in generated.undocumented.iter().filter(|lacking| !lacking.keys.is_empty()) {
            report_undocumented(lacking);
            is_documented &= !lacking.is_released;
        }
        warn(&generated.warnings);
        status(summary(&generated, (&schema, args), start.elapsed().as_secs_f32()));
        for path in &generated.files.foreign {
            status(format_args!("not generated, and kept: {}", out.join(path).display()));
        }
        stale.extend(list_stale(&out, &generated.files));
        unlocked.extend(list_stale(&schema, &generated.names));
    }
    let is_workspace = args.out.is_none() && !args.schema.is_given();
    if is_workspace {
        let docs = in_workspace("docs");
        let documents = mcp_codegen::generate_documents(&args.schema.directory(), &docs, args.check)?;
        stale.extend(list_stale(&docs, &documents));
        let workspace = in_workspace("");
        let lists = mcp_codegen::generate_lists(&args.schema.directory(), &workspace, args.check)?;
        stale.extend(list_stale(&workspace, &lists));
    }
    if !stale.is_empty() {
        stale.push(format!("run `{}`", command("generate", args)));
    }
    if !unlocked.is_empty() {
        stale.extend(unlocked);
        stale.push(format!("run `{}`", command("lock", args)));
    }
    if is_workspace && !is_documented {
        stale.push("add the entries for released revisions that docs.yaml lacks".to_owned());
    }
    if args.check && !stale.is_empty() {
        return Err(stale.join("\n").into());
    }
    Ok(())
}

/// The numbers of revisions and types that were read, and of files that were written or checked.
fn summary(generated: &Generated, (schema, args): (&Path, &GenerateArgs), seconds: f32) -> String {
    let files = &generated.files;
    let (extensions, types) = (generated.extensions, generated.types);
    let revisions = generated.undocumented.len() - extensions;
    let extensions = match extensions {
        0 => String::new(),
        1 => " and 1 extension".to_owned(),
        count => format!(" and {count} extensions"),
    };
    let out = args.out();
    let (stale, missing, orphaned) = (files.stale.len(), files.missing.len(), files.orphaned.len());
    let became = if args.check {
        format!(
            "{} files current, {stale} stale, {missing} missing, {orphaned} orphaned",
            files.unchanged
        )
    } else {
        let written = stale + missing;
        format!(
            "{written} files written, {orphaned} removed, {} left as they were",
            files.unchanged
        )
    };
    format!(
        "{}: {revisions} revisions{extensions} with {types} types read\n{}: {became} ({seconds:.2} s)",
        schema.display(),
        out.display()
    )
}

pub fn run_lock(args: &SchemaArgs) -> Result<(), Box<dyn Error>> {
    for schema in families(&args.directory()) {
        let names = mcp_codegen::lock_names(&schema, false)?;
        let written = names.stale.len() + names.missing.len();
        status(format_args!(
            "{}: {written} files written, {} left as they were",
            schema.display(),
            names.unchanged
        ));
    }
    Ok(())
}

/// The path from a crate in the output directory to the hand-written crates: relative within this workspace, absolute
/// elsewhere.
pub fn crates_from(out: &Path) -> Result<String, std::io::Error> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = manifest.parent().unwrap_or(manifest);
    let out: PathBuf = std::path::absolute(out)?;
    let way = match out.strip_prefix(workspace) {
        Ok(inside) => vec![".."; inside.components().count() + 1].join("/"),
        Err(_) => workspace.display().to_string(),
    };
    Ok(way.replace('\\', "/"))
}

fn report_undocumented(Undocumented { name, keys, .. }: &Undocumented) {
    status(format_args!(
        "{name}: {} entries are missing from docs.yaml",
        keys.len()
    ));
    for key in keys {
        status(format_args!("  {key}"));
    }
}

/// The files that aren't up to date, a line for each.
fn list_stale(root: &Path, files: &Report) -> Vec<String> {
    let all = [
        ("stale", &files.stale),
        ("missing", &files.missing),
        ("orphaned", &files.orphaned),
    ];
    let lines = all.into_iter().flat_map(|(what, paths)| {
        let paths = paths.iter().map(|path| root.join(path));
        paths.map(move |path| format!("{what}: {}", path.display()))
    });
    lines.collect()
}

/// The command that updates the checked files.
fn command(name: &str, args: &GenerateArgs) -> String {
    let mut command = format!("cargo xtask {name}");
    if args.schema.is_given() {
        command += &format!(" --schema {}", args.schema.directory().display());
    }
    if let ("generate", Some(out)) = (name, &args.out) {
        command += &format!(" --out {}", out.display());
    }
    command
}
