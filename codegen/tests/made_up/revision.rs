//! How the latest revision becomes one that nobody published.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::GenerateOptions;
use mcp_codegen::ingest::{IngestOptions, Position, ingest};
use serde_json::Value;

use crate::variants::OTHER;

pub const LATEST: &str = "2026-07-28";
pub const MADE_UP: &str = "2099-01-01";

/// A revision that is made of the latest one.
pub struct MadeUp {
    /// The directory of its definitions and rules.
    pub name: &'static str,
    /// What the methods and members of the latest revision are called in it.
    pub renamed: &'static [(&'static str, &'static str)],
    /// What it has that the latest revision lacks: the role, and the method.
    pub new: &'static [(&'static str, &'static str)],
    /// Changes the schema of the latest revision beyond its names.
    pub change: fn(&mut Value),
}

impl MadeUp {
    /// A text of the latest revision in the words of this one.
    fn words(&self, text: &str) -> String {
        let renamed = self.renamed.iter();
        renamed.fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
    }

    fn file(&self, name: &str) -> PathBuf {
        here("../codegen/tests/made_up").join(self.name).join(name)
    }

    fn schema(&self) -> Value {
        let latest = read(&here("../schema").join(LATEST).join("schema.json"));
        let mut schema: Value = serde_json::from_str(&self.words(&latest)).unwrap();
        let definitions = schema["$defs"].as_object_mut().unwrap();
        let new: Value = serde_json::from_str(&read(&self.file("definitions.json"))).unwrap();
        definitions.extend(new.as_object().unwrap().clone());
        (self.change)(&mut schema);
        schema
    }

    /// The overlay of the latest revision, without the corrections of what this revision lacks.
    fn overlay(&self, schema: &Value) -> String {
        let overlay = self.words(&read(&here("../schema").join(LATEST).join("overlay.yaml")));
        let overlay: Value = yaml_serde::from_str(&overlay).unwrap();
        let renamed = schema["$defs"].as_object().unwrap().keys();
        let renamed = renamed.filter_map(|name| name.strip_prefix(OTHER));
        let overlay = renamed.fold(overlay.to_string(), |overlay, name| {
            let at = |start: &str, end: &str| format!("\"#/$defs/{start}{name}{end}");
            overlay
                .replace(&at("", "/"), &at(OTHER, "/"))
                .replace(&at("", "\""), &at(OTHER, "\""))
        });
        let mut overlay: Value = serde_json::from_str(&overlay).unwrap();
        let declared = |pointer: &Value| {
            let place = pointer.as_str().and_then(|it| it.strip_prefix('#')?.rsplit_once('/'));
            place.is_some_and(|(parent, _)| schema.pointer(parent).is_some())
        };
        overlay["corrections"]
            .as_array_mut()
            .unwrap()
            .retain_mut(|correction| match &mut correction["at"] {
                Value::Array(pointers) => {
                    pointers.retain(declared);
                    !pointers.is_empty()
                }
                pointer => declared(pointer),
            });
        let own: Value = yaml_serde::from_str(&read(&self.file("overlay.yaml"))).unwrap();
        let corrections = overlay["corrections"].as_array_mut().unwrap();
        corrections.extend(own["corrections"].as_array().unwrap().clone());
        overlay.to_string()
    }

    /// A file about all revisions in which each name of the latest one has the new name beside it.
    fn with_new_names(&self, text: &str) -> String {
        let lines = text.lines().map(|line| {
            let Some((key, name)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
                return format!("{line}\n");
            };
            let new = self.new.iter().find(|(role, _)| *role == key);
            let renamed = new.map_or_else(|| self.words(name), |(_, new)| (*new).to_owned());
            let other_key = self.words(key);
            match (renamed != name, other_key != key) {
                (true, _) => format!("{key}: [{name}, {renamed}]\n"),
                (false, true) => format!("{line}\n{other_key}: {name}\n"),
                (false, false) => format!("{line}\n"),
            }
        });
        lines.collect()
    }

    /// Ingests the revision into a copy of the schemas.
    pub fn ingested(&self, root: &Path) -> GenerateOptions {
        let schema = root.join("schema");
        copy(&here("../schema"), &schema);
        for file in ["lifecycle.yaml", "capabilities.yaml"] {
            let text = self.with_new_names(&read(&schema.join(file)));
            fs::write(schema.join(file), text).unwrap();
        }
        let tolerances = schema.join("tolerances.yaml");
        let text = read(&tolerances);
        let lines = text
            .lines()
            .flat_map(|line| [Some(line.to_owned()), Some(self.words(line)).filter(|new| new != line)]);
        fs::write(&tolerances, lines.flatten().collect::<Vec<_>>().join("\n")).unwrap();
        let own = schema.join(MADE_UP);
        fs::create_dir_all(&own).unwrap();
        let official = self.schema();
        fs::write(own.join("overlay.yaml"), self.overlay(&official)).unwrap();
        fs::copy(self.file("adapt.yaml"), own.join("adapt.yaml")).unwrap();
        let file = root.join("official.json");
        fs::write(&file, official.to_string()).unwrap();
        let added = ingest(&IngestOptions {
            schema: schema.clone(),
            revision: MADE_UP.parse().unwrap(),
            from: file.display().to_string(),
            source: Some("https://example.org/schema.json".into()),
            commit: None,
            accept: false,
            keep_prose: false,
            draft: Some(true),
            position: Position::Keep,
        });
        added.unwrap_or_else(|error| panic!("{error}"));
        GenerateOptions {
            schema,
            out: root.join("generated"),
            crates: "../..".to_owned(),
            check: false,
        }
    }
}

pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Copies the files of a directory and of those in it. One that hasn't changed must not look new to cargo.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if fs::read(&target).ok() != fs::read(&path).ok() {
            fs::copy(&path, &target).unwrap();
        }
    }
}
