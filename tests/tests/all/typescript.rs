//! The definitions in TypeScript, checked by its compiler against valid and invalid instances.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp_adapters::Revision;
use mcp_tests::corrected;
use serde_json::Value;

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 24;

/// Whether the module has the names of all members. The compiler refuses unknown members in literals, which the schemas
/// allow.
fn is_declared(module: &str, value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().all(|(name, value)| {
            let is_member = |after: &str| module.contains(&format!(" {name}{after}"));
            (is_member("?: ") || is_member(": ")) && is_declared(module, value)
        }),
        Value::Array(elements) => elements.iter().all(|element| is_declared(module, element)),
        _ => true,
    }
}

/// Returns the path of the compiler, which is installed below `target` on first use.
fn compiler() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = own.join("../target/typescript");
    let compiler = installed.join("node_modules/typescript/bin/tsc");
    if !compiler.exists() {
        fs::create_dir_all(&installed).unwrap();
        for file in ["package.json", "package-lock.json", ".npmrc"] {
            fs::copy(own.join("typescript").join(file), installed.join(file)).unwrap();
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--silent", "--ignore-scripts"]).current_dir(&installed);
        assert!(npm.status().unwrap().success(), "npm ci");
    }
    compiler
}

/// Returns the line numbers of the compiler's errors in a file.
fn wrong_lines(compiler: &Path, directory: &Path, file: &str) -> BTreeSet<usize> {
    let mut tsc = Command::new("node");
    tsc.arg(compiler)
        .args(["--strict", "--noEmit", "--pretty", "false", file]);
    let output = tsc.current_dir(directory).output().unwrap();
    let errors = String::from_utf8(output.stdout).unwrap();
    // Continuation lines of an error are indented.
    let errors = errors.lines().filter(|line| !line.starts_with(' '));
    let line_of = |error: &str| {
        error
            .strip_prefix(file)?
            .strip_prefix('(')?
            .split(',')
            .next()?
            .parse()
            .ok()
    };
    errors
        .map(|error| line_of(error).unwrap_or_else(|| panic!("{error}")))
        .collect()
}

#[test]
#[ignore = "installs the compiler of TypeScript"]
fn the_compiler_accepts_valid_instances_and_refuses_those_of_other_types() {
    let compiler = compiler();
    let directory = tempfile::tempdir().unwrap();
    for revision in Revision::ALL {
        let (module, file) = (revision.typescript().unwrap(), format!("values-{revision}.ts"));
        fs::write(directory.path().join(format!("{revision}.ts")), module).unwrap();
        let instances = corrected(revision);
        let mut lines = format!("import type * as mcp from \"./{revision}\";\n");
        let mut tried = Vec::new();
        for definition in instances.definitions() {
            for instance in instances.of(definition, 5, COUNT) {
                if is_declared(module, &instance.value) {
                    let value = instance.value.to_string();
                    let _ = writeln!(lines, "export const value{}: mcp.{definition} = {value};", tried.len());
                    tried.push((instance.valid, value));
                }
            }
        }
        fs::write(directory.path().join(&file), lines).unwrap();
        let wrong = wrong_lines(&compiler, directory.path(), &file);
        let is_refused = |index: usize| wrong.contains(&(index + 2));
        let (mut invalid, mut overlooked) = (0, Vec::new());
        for (index, (valid, value)) in tried.iter().enumerate() {
            match valid {
                true => assert!(!is_refused(index), "{revision}, line {}: {value}", index + 2),
                false => {
                    invalid += 1;
                    overlooked.extend((!is_refused(index)).then_some(value));
                }
            }
        }
        // These violate a constraint on numbers that a type can't express, such as a bound.
        let has_number = |value: &&String| value.contains(|c: char| c.is_ascii_digit());
        assert!(overlooked.iter().all(has_number), "{revision}: {overlooked:#?}");
        assert!(overlooked.len() * 40 <= invalid, "{revision}: {overlooked:#?}");
        assert!(invalid > 200, "{revision}: {invalid}");
    }
}
