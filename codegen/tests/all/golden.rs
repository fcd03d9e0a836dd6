//! Made-up revisions: each folder of `golden` holds a schema with one unusual feature.
//!
//! A case has `schema.json`, and optionally `overlay.yaml`, documentation for all revisions in `docs.yaml` and for this
//! one in `own_docs.yaml`. `instances.jsonl` has lines `{"type": …, "valid": …, "value": …}`. `expected` has those
//! generated files that are to be reviewed when they change; `UPDATE_GOLDEN=1` rewrites them. A case with
//! `problems.txt` must be refused, with these problems. `GOLDEN=one,two` runs only these cases.

use std::fmt::Write as _;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::{GenerateOptions, generate};
use mcp_instances::Instances;
use serde_json::{Value, json};

/// Number of random instances for each definition, valid and invalid.
const RANDOM: usize = 40;

/// A case whose crate was generated.
struct Case {
    name: String,
    folder: PathBuf,
    /// The generated crate.
    krate: PathBuf,
}

/// The cases, sorted by name. One that couldn't be generated has the reason instead.
static CASES: LazyLock<Vec<(String, Result<Case, String>)>> = LazyLock::new(|| {
    let wanted = std::env::var("GOLDEN").ok();
    let is_wanted = |name: &str| {
        wanted
            .as_deref()
            .is_none_or(|wanted| wanted.split(',').any(|one| one == name))
    };
    let folders = fs::read_dir(here("tests/golden")).unwrap();
    let folders = folders.map(|folder| folder.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    folders.sort();
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    let cases = folders.into_iter().map(|folder| (name(&folder), folder));
    let cases = cases.filter(|(name, _)| is_wanted(name));
    cases
        .map(|(name, folder)| {
            let made = catch_unwind(|| generate_case(&name, &folder));
            (name, made.unwrap_or_else(|_| Err("panicked".into())))
        })
        .collect()
});

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The directory in which the cases are generated and built. It is kept, so that the next run has less to build.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden")
}

fn crates() -> String {
    let crates = fs::canonicalize(here("..")).unwrap();
    crates.display().to_string().replace('\\', "/")
}

fn revision(case: &str) -> String {
    format!("future-{}", case.replace('_', "-"))
}

fn generate_case(name: &str, folder: &Path) -> Result<Case, String> {
    let schema = workspace().join("schema").join(name);
    let out = workspace().join("out").join(name);
    let _ = fs::remove_dir_all(&schema);
    let revision = revision(name);
    fs::create_dir_all(schema.join(&revision)).unwrap();
    let copies = [
        ("overlay.yaml", format!("{revision}/overlay.yaml")),
        ("docs.yaml", "docs.yaml".to_owned()),
        ("own_docs.yaml", format!("{revision}/docs.yaml")),
    ];
    for (file, copy) in copies {
        if folder.join(file).exists() {
            fs::copy(folder.join(file), schema.join(copy)).unwrap();
        }
    }
    ingest(&IngestOptions {
        source: Some("https://example.org/schema.json".into()),
        draft: Some(true),
        ..IngestOptions::new(
            schema.clone(),
            revision.parse().unwrap(),
            folder.join("schema.json").display().to_string(),
        )
    })
    .map_err(|error| error.to_string())?;
    let mut options = GenerateOptions {
        schema,
        out: out.clone(),
        crates: crates(),
        check: false,
    };
    generate(&options).map_err(|error| error.to_string())?;
    options.check = true;
    let again = generate(&options).map_err(|error| error.to_string())?;
    if !again.files.is_current() {
        return Err(format!("a second run generates other files: {:?}", again.files));
    }
    Ok(Case {
        name: name.to_owned(),
        folder: folder.to_owned(),
        krate: out.join(format!("mcp-types-{revision}")),
    })
}

/// The cases that could be generated. Only one test is about the others.
fn generated() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter_map(|(_, case)| case.as_ref().ok())
}

fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "\n{}\n", failures.join("\n"));
}

#[test]
fn every_case_generates_or_is_refused_with_the_expected_problems() {
    let failed = CASES.iter().filter_map(|(name, case)| {
        let folder = here("tests/golden").join(name);
        let refused = fs::read_to_string(folder.join("problems.txt")).ok();
        match (case, refused) {
            (Ok(_), None) => None,
            (Err(error), Some(expected)) => {
                let schema = workspace().join("schema").join(name);
                let found = [&folder, &schema.join(revision(name)), &schema]
                    .into_iter()
                    .fold(error.clone() + "\n", |error, folder| {
                        error.replace(&folder.join("").display().to_string(), "")
                    });
                if std::env::var_os("UPDATE_GOLDEN").is_some() {
                    fs::write(folder.join("problems.txt"), found).unwrap();
                    return None;
                }
                (found != expected).then(|| format!("{name}: refused for other reasons:\n{found}"))
            }
            (Ok(_), Some(_)) => Some(format!("{name}: not refused")),
            (Err(error), None) => Some(format!("{name}: {error}")),
        }
    });
    assert_none(&failed.collect::<Vec<_>>());
    assert!(CASES.len() > 30 || std::env::var_os("GOLDEN").is_some());
}

#[test]
fn generated_code_equals_the_reviewed_files() {
    let mut failures = Vec::new();
    for case in generated() {
        for (path, expected) in files_below(&case.folder.join("expected")) {
            let found = fs::read_to_string(case.krate.join(&path)).unwrap_or_default();
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(case.folder.join("expected").join(&path), &found).unwrap();
            } else if found != expected {
                failures.push(format!(
                    "{}: {}: {}",
                    case.name,
                    path.display(),
                    first_difference(&expected, &found)
                ));
            }
        }
    }
    assert_none(&failures);
}

#[test]
fn every_json_pointer_of_a_table_exists_in_the_embedded_schema() {
    let mut failures = Vec::new();
    for case in generated() {
        let schema = read_json(&case.krate.join("schema.json"));
        let mut found = 0;
        for (path, text) in files_below(&case.krate.join("src")) {
            for literal in text.split("\"#/").skip(1) {
                let pointer = format!("/{}", literal.split('"').next().unwrap_or_default());
                found += 1;
                if schema.pointer(&pointer).is_none() {
                    failures.push(format!("{}: {}: {pointer:?}", case.name, path.display()));
                }
            }
        }
        if found == 0 {
            failures.push(format!("{}: no table points into the schema", case.name));
        }
    }
    assert_none(&failures);
}

/// All cases are in one workspace, so that the shared dependencies are built once.
#[test]
#[ignore = "compiles crates"]
fn every_case_compiles_without_warnings_and_its_instances_survive_the_round_trip() {
    let root = workspace();
    let cases: Vec<&Case> = generated().collect();
    let mut members = String::new();
    let mut dependencies = String::new();
    let mut tables = String::new();
    for case in &cases {
        let name = format!("mcp-types-{}", revision(&case.name));
        let library = name.replace('-', "_");
        let random = root.join("random").join(format!("{}.jsonl", case.name));
        write_if_new(&random, &random_instances(case));
        writeln!(members, "    {:?},", case.krate).unwrap();
        writeln!(
            dependencies,
            "{name} = {{ path = {:?}, features = [\"definitions\"] }}",
            case.krate
        )
        .unwrap();
        writeln!(
            tables,
            "    ({:?}, {library}::definitions::DEFINITIONS, &[{:?}, {random:?}]),",
            case.name,
            case.folder.join("instances.jsonl")
        )
        .unwrap();
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [\n    \"runner\",\n{members}]\n\n\
         [profile.dev]\ndebug = false\nincremental = false\n"
    );
    let runner = format!(
        "[package]\nname = \"runner\"\nedition = \"2024\"\n\n[dependencies]\nmcp-wire = {{ path = \"{}/wire\" }}\nserde_json = \"1\"\n{dependencies}",
        crates()
    );
    let table = format!("const CASES: &[(&str, &[mcp_wire::Definition], &[&str])] = &[\n{tables}];\n");
    write_if_new(&root.join("Cargo.toml"), &manifest);
    write_if_new(&root.join("runner/Cargo.toml"), &runner);
    write_if_new(&root.join("runner/src/cases.rs"), &table);
    write_if_new(
        &root.join("runner/src/main.rs"),
        &fs::read_to_string(here("tests/golden/runner.rs")).unwrap(),
    );
    fs::copy(here("../Cargo.lock"), root.join("Cargo.lock")).unwrap();

    let clippy = cargo(&root, &["clippy", "--workspace", "--all-features", "--keep-going"])
        .args(["--", "-D", "warnings"])
        .output()
        .unwrap();
    assert!(clippy.status.success(), "{}", String::from_utf8_lossy(&clippy.stderr));
    let run = cargo(&root, &["run", "--package", "runner"]).output().unwrap();
    assert!(
        run.status.success(),
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
}

fn cargo(workspace: &Path, args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command
        .args(args)
        .arg("--quiet")
        .arg("--message-format=short")
        .current_dir(workspace)
        .env("CARGO_TARGET_DIR", workspace.join("target"));
    command
}

/// Random instances of every definition that can have any, with the verdicts of an independent validator.
fn random_instances(case: &Case) -> String {
    let schema = read_json(&case.folder.join("schema.json"));
    let Ok(instances) = Instances::new(&schema) else {
        return String::new();
    };
    let made = instances
        .definitions()
        .flat_map(|definition| instances.of(definition, 1, RANDOM));
    made.map(|made| {
        let line = json!({"type": format!("#{}", made.pointer), "valid": made.valid, "value": made.value});
        line.to_string() + "\n"
    })
    .collect()
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Writes a file unless it has these contents already: cargo would rebuild what depends on a new file.
fn write_if_new(path: &Path, contents: &str) {
    if fs::read_to_string(path).is_ok_and(|found| found == contents) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, contents).unwrap();
}

/// The files below a folder with their contents, by relative path; empty if there is no such folder.
fn files_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let relative = path.strip_prefix(folder).unwrap().to_owned();
                files.push((relative, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn first_difference(expected: &str, found: &str) -> String {
    let mut lines = expected.lines().zip(found.lines()).enumerate();
    match lines.find(|(_, (expected, found))| expected != found) {
        Some((index, (expected, found))) => {
            format!("line {} was\n  {expected}\nand is\n  {found}", index + 1)
        }
        None => "one is longer".into(),
    }
}
