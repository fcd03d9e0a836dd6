//! A protocol other than MCP, with two requests: no file about MCP is needed, and no generated file mentions MCP.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_codegen::ingest::{IngestOptions, ingest};
use mcp_codegen::load::{Manifest, families};
use mcp_codegen::{GenerateOptions, adapters_report, generate, model_yaml, revision_tables};
use tempfile::TempDir;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn crates() -> String {
    let crates = fs::canonicalize(here("..")).unwrap();
    crates.display().to_string().replace('\\', "/")
}

/// Ingests both versions of the protocol below `root`, and generates its crates there. `more` is added to `family`.
fn greetings(root: &Path, more: &str) -> GenerateOptions {
    let schema = root.join("schema");
    let _ = fs::remove_dir_all(&schema);
    fs::create_dir_all(schema.join("2")).unwrap();
    let case = here("tests/families/greetings");
    let manifest = fs::read_to_string(case.join("revisions.yaml")).unwrap();
    let manifest = manifest.replace("family:\n", &format!("family:\n{more}"));
    fs::write(schema.join("revisions.yaml"), manifest).unwrap();
    fs::copy(case.join("adapt.yaml"), schema.join("2/adapt.yaml")).unwrap();
    for revision in ["1", "2"] {
        let from = case.join(revision).with_extension("json");
        ingest(&IngestOptions {
            source: Some(format!("https://example.org/greetings/{revision}.json")),
            ..IngestOptions::new(schema.clone(), revision.parse().unwrap(), from.display().to_string())
        })
        .unwrap();
    }
    let options = GenerateOptions {
        schema,
        out: root.join("generated"),
        crates: crates(),
        check: false,
    };
    generate(&options).unwrap();
    options
}

/// Each file below a folder, with its text.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let (mut files, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => files.push((path.clone(), fs::read_to_string(path).unwrap())),
            }
        }
    }
    files
}

/// The names of the crates below a folder.
fn crates_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

/// The lines that mention MCP, apart from the names of this project and of the crates that generated code depends on.
fn mentions_of_mcp(files: &[(PathBuf, String)]) -> Vec<String> {
    let ours = ["mcp-wire", "mcp_wire", "mcp-convert", "mcp_convert", "mcp-revisions"];
    let lines = files.iter().flat_map(|(path, text)| {
        let lines = text.lines().map(move |line| format!("{}: {line}", path.display()));
        lines.map(move |line| ours.iter().fold(line, |line, name| line.replace(name, "")))
    });
    let in_file = |line: &String| line.split_once(": ").unwrap().1.to_lowercase();
    let names_it = |line: &String| in_file(line).contains("mcp") || in_file(line).contains("model context");
    lines.filter(names_it).collect()
}

#[test]
fn crates_of_another_protocol_have_its_name_and_do_not_mention_mcp() {
    let root = TempDir::new().unwrap();
    let options = greetings(root.path(), "");
    assert_eq!(
        crates_in(&options.out),
        ["greeting-adapters", "greeting-types-1", "greeting-types-2"]
    );
    let files = files(&options.out);
    assert_eq!(mentions_of_mcp(&files), Vec::<String>::new());
    let readme = fs::read_to_string(options.out.join("greeting-types-2/README.md")).unwrap();
    assert!(
        readme.contains("The types of the [Greeting Protocol, revision 2](https://example.org/greetings/2.json)"),
        "{readme}"
    );
    assert!(readme.contains("2 requests\nand 0 notifications"), "{readme}");
    let manifest = fs::read_to_string(options.out.join("greeting-adapters/Cargo.toml")).unwrap();
    assert!(manifest.contains("\nkeywords = [\"json-rpc\"]\n"), "{manifest}");
}

#[test]
fn another_protocol_gets_a_model_conversions_and_tables() {
    let root = TempDir::new().unwrap();
    let options = greetings(root.path(), "");
    let model = model_yaml(&options.schema, "1").unwrap();
    assert!(
        model.contains("name: greet") && model.contains("name: leave"),
        "{model}"
    );
    let report = adapters_report(&options.schema).unwrap();
    assert!(
        report.contains("| `Visitor.tongue` | default: Version 1 greets"),
        "{report}"
    );
    let tables = revision_tables(&options.schema).unwrap();
    assert!(tables.iter().all(|made| made.table.contains(r#""name":"leave""#)));
}

#[test]
fn the_revisions_of_a_family_can_be_modules_of_one_crate() {
    let root = TempDir::new().unwrap();
    let options = greetings(root.path(), "  single_crate: true\n");
    assert_eq!(crates_in(&options.out), ["greeting-types"]);
    let files = files(&options.out);
    assert_eq!(mentions_of_mcp(&files), Vec::<String>::new());
    let has = |file: &str| options.out.join("greeting-types").join(file).exists();
    for file in [
        "src/v1/mod.rs",
        "src/v2/methods.rs",
        "tables/1.json",
        "schemas/2.json",
        "ADAPTERS.md",
    ] {
        assert!(has(file), "{file}");
    }
    let again = generate(&GenerateOptions { check: true, ..options }).unwrap();
    assert!(again.files.is_current(), "{:?}", again.files);
}

#[test]
fn a_subfolder_with_its_own_manifest_is_another_family() {
    let root = TempDir::new().unwrap();
    for file in ["revisions.yaml", "greetings/revisions.yaml", "2099-01-01/schema.json"] {
        let file = root.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    assert_eq!(
        families(root.path()),
        [root.path().to_owned(), root.path().join("greetings")]
    );
}

#[test]
fn a_family_with_an_invalid_crate_prefix_is_refused() {
    let refused = Manifest::parse("revisions.yaml", "family: {name: Greetings, crates: Greet/ing}\n").unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("\"Greet/ing\" can't begin the name of a crate"),
        "{refused}"
    );
}

#[test]
#[ignore = "compiles crates"]
fn the_crates_of_another_protocol_compile_without_a_warning() {
    for (layout, more) in [("crates", ""), ("modules", "  single_crate: true\n")] {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("families").join(layout);
        let _ = fs::remove_dir_all(root.join("generated"));
        greetings(&root, more);
        let manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"generated/*\"]\n\n[profile.dev]\ndebug = false\n";
        fs::write(root.join("Cargo.toml"), manifest).unwrap();
        fs::copy(here("../Cargo.lock"), root.join("Cargo.lock")).unwrap();
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(program)
            .args(["check", "--quiet", "--all-features", "--message-format=short"])
            .current_dir(&root)
            .env("CARGO_TARGET_DIR", root.join("../target"))
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success() && output.is_empty(), "{layout}: {output}");
    }
}
