//! `mcp-rev registry`: the server.json of a project.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use mcp_tests::workspace;
use serde_json::{Value, json};
use tempfile::TempDir;

const NEWEST: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

fn run(folder: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_mcp-rev");
    let output = Command::new(program)
        .arg("registry")
        .args(args)
        .current_dir(folder)
        .output();
    output.unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn manifest(more: &str) -> String {
    format!("[package]\nname = \"weather-mcp\"\nversion = \"1.2.0\"\nedition = \"2024\"\n{more}\n[workspace]\n")
}

/// A crate with a program, and these lines in its manifest.
fn project(more: &str) -> TempDir {
    folder(&[("Cargo.toml", &manifest(more)), ("src/main.rs", "fn main() {}\n")])
}

const WEATHER: &str =
    "description = \"Get the current weather of a city\"\nrepository = \"https://github.com/example/weather.git\"\n";

fn read(folder: &TempDir, file: &str) -> String {
    fs::read_to_string(folder.path().join(file)).unwrap()
}

#[test]
fn init_writes_a_document_that_is_valid_once_the_readme_names_the_server() {
    let project = project(WEATHER);
    let output = run(project.path(), &["init"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "wrote server.json\n");
    assert!(
        stderr(&output)
            .starts_with("next: the README of the crate has no line `mcp-name: io.github.example/weather-mcp`"),
        "{}",
        stderr(&output)
    );
    let written = read(&project, "server.json");
    let expected = json!({
        "$schema": NEWEST,
        "name": "io.github.example/weather-mcp",
        "description": "Get the current weather of a city",
        "repository": {"source": "github", "url": "https://github.com/example/weather"},
        "version": "1.2.0",
        "packages": [
            {"registryType": "cargo", "identifier": "weather-mcp", "version": "1.2.0", "transport": {"type": "stdio"}},
        ],
    });
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), expected);
    assert!(written.starts_with("{\n  \"$schema\": "), "{written}");

    fs::write(
        project.path().join("README.md"),
        "<!-- mcp-name: io.github.example/weather-mcp -->\n",
    )
    .unwrap();
    let output = run(project.path(), &["validate"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains(" is in a comment of the README"),
        "{}",
        stdout(&output)
    );
    fs::write(
        project.path().join("README.md"),
        "mcp-name: io.github.example/weather-mcp\n",
    )
    .unwrap();
    let output = run(project.path(), &["validate"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "server.json: valid, 2025-12-11\n");
}

#[test]
fn the_error_for_a_missing_document_suggests_init() {
    let folder = folder(&[]);
    for command in ["validate", "upgrade"] {
        let refused = run(folder.path(), &[command]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(
            stderr(&refused).contains("`mcp-rev registry init` writes one"),
            "{}",
            stderr(&refused)
        );
    }
}

#[test]
fn init_replaces_a_file_only_with_force() {
    let project = project(WEATHER);
    fs::write(project.path().join("server.json"), "mine").unwrap();
    let output = run(project.path(), &["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: server.json: there is such a file; --force replaces it\n"
    );
    assert_eq!(read(&project, "server.json"), "mine");
    assert_eq!(run(project.path(), &["init", "--force"]).status.code(), Some(0));
    assert_ne!(read(&project, "server.json"), "mine");
}

#[test]
fn init_selects_a_crate_of_a_workspace_with_inherited_values() {
    let member =
        |name: &str| format!("[package]\nname = \"{name}\"\nversion.workspace = true\ndescription = \"The {name}\"\n");
    let project = folder(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\", \"two\"]\n\n[workspace.package]\nversion = \"3.0.0\"\n",
        ),
        ("one/Cargo.toml", &member("one")),
        ("one/src/main.rs", "fn main() {}\n"),
        ("two/Cargo.toml", &member("two")),
        ("two/src/lib.rs", ""),
    ]);
    let output = run(project.path(), &["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--package chooses one of one, two"),
        "{}",
        stderr(&output)
    );
    let output = run(project.path(), &["init", "--package", "ones"]);
    assert!(
        stderr(&output).contains("the workspace has no crate \"ones\""),
        "{}",
        stderr(&output)
    );
    let output = run(project.path(), &["init", "--package", "one"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--name names it"), "{}", stderr(&output));

    let output = run(project.path(), &["init", "two/Cargo.toml", "--name", "com.example/two"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "wrote two/server.json\n");
    assert!(
        stderr(&output).contains("next: two has no program"),
        "{}",
        stderr(&output)
    );
    let written: Value = serde_json::from_str(&read(&project, "two/server.json")).unwrap();
    assert_eq!([&written["version"], &written["packages"][0]["version"]], ["3.0.0"; 2]);
    assert_eq!(written["name"], "com.example/two");
}

#[test]
fn init_reports_what_the_registry_would_refuse() {
    let project = project(&format!("description = \"{}\"\n", "long ".repeat(30)));
    let output = run(project.path(), &["init", "--name", "com.example/weather"]);
    assert_eq!(output.status.code(), Some(1));
    let found = stdout(&output);
    assert!(
        found.contains("\nserver.json:4:18: description: expected at most 100 characters, found "),
        "{found}"
    );
}

#[test]
fn each_problem_of_a_document_has_its_line_and_column() {
    let document = format!(
        r#"{{
  "$schema": "{NEWEST}",
  "name": "io.github.example-/weather",
  "description": "Weather",
  "version": "^1.0",
  "title": " ",
  "websiteUrl": "http://example.org",
  "icons": [{{"src": "data:image/png;base64,"}}],
  "repository": {{"url": "https://example.org/weather", "source": "github", "subfolder": "../x"}},
  "packages": [
    {{"registryType": "cargo", "registryBaseUrl": "https://example.org", "identifier": "a b", "transport": {{"type": "stdio"}}}},
    {{"registryType": "oci", "identifier": "a/b", "version": "1.0", "transport": {{"type": "http"}}}},
    {{"registryType": "mcpb", "identifier": "https://example.org/a.mcpb", "transport": {{"type": "stdio"}}, "packageArguments": [
      {{"type": "named", "name": "--port <n>", "value": "--port <n>=1"}}
    ]}}
  ],
  "remotes": [{{"type": "sse", "url": "https://localhost/sse"}}, {{"type": "sse", "url": "https://{{a}}.org/{{b}}", "variables": {{"a": {{}}}}}}],
  "_meta": {{"io.modelcontextprotocol.registry/publisher-provided": {{"a": "{}"}}, "x": 1}}
}}"#,
        "a".repeat(4096)
    );
    let folder = folder(&[("server.json", &document)]);
    let output = run(folder.path(), &["validate", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["revision"], "2025-12-11");
    let problems = report["problems"].as_array().unwrap().iter();
    let found: Vec<String> = problems
        .map(|row| format!("{}:{} {} {}", row["line"], row["column"], row["severity"], row["path"]).replace('"', ""))
        .collect();
    let expected = [
        "3:11 error name",
        "5:14 error version",
        "6:12 error title",
        "7:17 error websiteUrl",
        "8:21 error icons[0].src",
        "9:25 error repository.url",
        "9:89 error repository.subfolder",
        "11:5 error packages[0]",
        "11:50 error packages[0].registryBaseUrl",
        "11:87 error packages[0].identifier",
        "12:61 error packages[1].version",
        "12:90 error packages[1].transport.type",
        "13:5 error packages[2]",
        "14:33 error packages[2].packageArguments[0].name",
        "14:56 error packages[2].packageArguments[0].value",
        "17:38 error remotes[0].url",
        "17:87 error remotes[1].url",
        "18:68 error _meta[\\io.modelcontextprotocol.registry/publisher-provided\\]",
    ];
    assert_eq!(found[..expected.len()], expected);
    assert!(found[expected.len()].ends_with(" warning _meta.x"), "{found:?}");
    assert_eq!(found.len(), expected.len() + 1);
}

#[test]
fn documents_without_a_known_schema_are_refused() {
    for (text, line) in [
        ("{\n  \"name\": 1,\n}", "3:1: (root): not JSON: trailing comma"),
        ("{\"name\": \"a/b\"}", "1:1: (root): `$schema` is missing"),
        (
            "{\"$schema\": \"https://example.org/server.schema.json\"}",
            "1:13: $schema: this schema isn't known; the newest is https://",
        ),
    ] {
        let folder = folder(&[("server.json", text)]);
        for command in ["validate", "upgrade"] {
            let output = run(folder.path(), &[command]);
            assert_eq!(output.status.code(), Some(1), "{text}");
            assert!(
                stdout(&output).starts_with(&format!("server.json:{line}")),
                "{}",
                stdout(&output)
            );
        }
    }
    let output = run(Path::new("."), &["validate", "nonesuch.json"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The examples of all schema versions, by their dates.
fn examples() -> Vec<(String, String)> {
    let files = fs::read_dir(workspace("tests/tests/registry")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut examples: Vec<(String, String)> = files
        .map(|file| {
            (
                file.file_stem().unwrap().to_str().unwrap().to_owned(),
                fs::read_to_string(file).unwrap(),
            )
        })
        .collect();
    examples.sort_unstable();
    assert_eq!(examples.len(), 6);
    examples
}

#[test]
fn documents_of_every_schema_are_upgraded_and_then_valid() {
    for (form, text) in examples() {
        let folder = folder(&[("server.json", &text)]);
        let output = run(folder.path(), &["validate"]);
        assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
        assert!(
            stdout(&output).ends_with(&format!("server.json: valid, {form}\n")),
            "{}",
            stdout(&output)
        );
        let is_newest = form == "2025-12-11";
        assert_eq!(
            stdout(&output).contains("`mcp-rev registry upgrade` converts"),
            !is_newest
        );

        let printed = run(folder.path(), &["upgrade"]);
        assert_eq!(printed.status.code(), Some(0), "{}", stdout(&printed));
        assert_eq!(
            read(&folder, "server.json"),
            text,
            "the file is written only with --write"
        );
        let upgraded: Value = serde_json::from_str(&stdout(&printed)).unwrap();
        assert_eq!(upgraded["$schema"], NEWEST);
        let is_lossy = form.as_str() < "2025-09-29";
        assert_eq!(
            stderr(&printed).contains(": status: dropped (2025-09-29 *.status)\n"),
            is_lossy
        );

        let strict = run(folder.path(), &["upgrade", "--write", "--strict"]);
        assert_eq!(strict.status.code(), Some(i32::from(is_lossy)));
        if is_lossy {
            assert_eq!(read(&folder, "server.json"), text, "nothing is written");
            assert_eq!(run(folder.path(), &["upgrade", "--write"]).status.code(), Some(0));
        }
        assert_eq!(read(&folder, "server.json"), stdout(&printed));
        let output = run(folder.path(), &["validate"]);
        assert_eq!(stdout(&output), "server.json: valid, 2025-12-11\n");
        let again = run(folder.path(), &["upgrade"]);
        assert_eq!(
            stdout(&again),
            stdout(&printed),
            "a document in the newest schema is unchanged"
        );
    }
}

#[cfg(unix)]
#[test]
fn an_upgraded_file_keeps_its_permissions_and_the_links_to_it() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (_, text) = examples().remove(0);
    let folder = folder(&[("weather.json", &text)]);
    let file = folder.path().join("weather.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("weather.json", folder.path().join("server.json")).unwrap();
    assert_eq!(run(folder.path(), &["upgrade", "--write"]).status.code(), Some(0));
    assert!(read(&folder, "weather.json").contains(NEWEST));
    assert!(folder.path().join("server.json").is_symlink());
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_value_that_the_newest_schema_cannot_express_is_refused() {
    let (_, text) = &examples()[4];
    let text = text.replace("https://example.org/sse", "{base}/sse");
    let line = text.lines().position(|line| line.contains("{base}")).unwrap() + 1;
    let folder = folder(&[("server.json", &text)]);
    let output = run(folder.path(), &["upgrade", "--write"]);
    assert_eq!(output.status.code(), Some(1));
    let start = format!("server.json:{line}:14: remotes[1].url: 2025-12-11 can't express this: ");
    assert!(stdout(&output).starts_with(&start), "{}", stdout(&output));
    assert_eq!(read(&folder, "server.json"), text);
}

#[test]
fn the_from_option_sets_the_schema_of_a_document_without_one() {
    let text = r#"{"name": "com.example/weather", "description": "Weather", "version": "1", "website_url": "https://example.org"}"#;
    let folder = folder(&[("server.json", text)]);
    let refused = run(folder.path(), &["upgrade"]);
    assert_eq!(refused.status.code(), Some(1));
    let advice = "; `--from` gives the version of a document that names no schema";
    assert!(stdout(&refused).contains(advice), "{}", stdout(&refused));
    let output = run(folder.path(), &["upgrade", "--from", "2025-07-09"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let upgraded: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let expected = json!({
        "$schema": NEWEST, "name": "com.example/weather", "description": "Weather", "version": "1", "websiteUrl": "https://example.org",
    });
    assert_eq!(upgraded, expected);
    let wrong = run(folder.path(), &["upgrade", "--from", "2025-07-10"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("2025-07-09"), "{}", stderr(&wrong));
}

#[test]
fn a_byte_order_mark_before_a_document_is_skipped() {
    let document = "{\"name\": \"com.example/weather\", \"description\": \"Weather\", \"version\": \"1.2.0\"}";
    let folder = folder(&[("server.json", &format!("\u{feff}{document}"))]);
    let upgraded = run(folder.path(), &["upgrade", "--write", "--from", "2025-12-11"]);
    assert_eq!(upgraded.status.code(), Some(0), "{}", stderr(&upgraded));
    let written = read(&folder, "server.json");
    assert!(written.starts_with('{'), "{written}");
    let marked = format!("\u{feff}{written}");
    fs::write(folder.path().join("server.json"), marked).unwrap();
    let valid = run(folder.path(), &["validate"]);
    assert_eq!(valid.status.code(), Some(0), "{}", stdout(&valid));
}
