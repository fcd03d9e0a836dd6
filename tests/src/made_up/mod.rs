//! Made-up revisions: variants of the latest one, which tests ingest, generate and load.

mod moves;
mod names;
mod variants;

use std::fs;
use std::path::{Path, PathBuf};

use mcp_adapters::Revision;
use mcp_codegen::GenerateOptions;
use mcp_codegen::ingest::{IngestOptions, Position, ingest};
use serde_json::{Value, json};

use self::names::merged;
use self::variants::OTHER;

pub use self::names::Names;
pub use self::variants::{ASKING, BOTH, DESCRIBED, EVERYTHING, HUB, QUIET, RENAMED, SESSIONS, STATELESS};

/// Returns the name of the latest revision, from which the made-up ones are derived.
#[must_use]
pub fn latest() -> &'static str {
    Revision::LATEST.as_str()
}

/// The name of every made-up revision.
pub const MADE_UP: &str = "2099-01-01";

/// A made-up revision, derived from the latest one.
pub struct MadeUp {
    /// The name of the directory with its definitions and rules.
    pub name: &'static str,
    /// Replacements in the files of the latest revision: an old text, such as the name of a method or member, and the
    /// new one.
    pub renamed: &'static [(&'static str, &'static str)],
    /// Methods that the latest revision lacks: the role of each in `lifecycle.yaml` or `capabilities.yaml`, and its
    /// name.
    pub new: &'static [(&'static str, &'static str)],
    /// Changes the schema of the latest revision, after names are replaced.
    pub change: fn(&mut Value),
}

impl MadeUp {
    /// Replaces names in a text of the latest revision with those of this one.
    fn words(&self, text: &str) -> String {
        let named = |revision: &str| format!("to: \"{revision}\"");
        let text = text.replace(&named(latest()), &named(MADE_UP));
        let renamed = self.renamed.iter();
        renamed.fold(text, |text, (old, new)| text.replace(old, new))
    }

    fn file(&self, name: &str) -> PathBuf {
        here("src/made_up").join(self.name).join(name)
    }

    fn schema(&self) -> Value {
        let mut schema: Value = serde_json::from_str(&self.words(&schema_of(latest()))).unwrap();
        let definitions = schema["$defs"].as_object_mut().unwrap();
        let text = read(&self.file("definitions.json"));
        let new: Value = serde_json::from_str(&text).unwrap();
        definitions.extend(new.as_object().unwrap().clone());
        // A revision after the hub's can have dropped what the new definitions refer to.
        let of_hub: Value = serde_json::from_str(&schema_of(Revision::HUB.as_str())).unwrap();
        let of_hub = of_hub["$defs"].as_object().unwrap().iter();
        for (name, definition) in of_hub.filter(|(name, _)| text.contains(&format!("\"#/$defs/{name}\""))) {
            definitions.entry(name).or_insert_with(|| definition.clone());
        }
        (self.change)(&mut schema);
        schema
    }

    /// Returns the overlay of the latest revision, without corrections of definitions and members that this revision
    /// lacks.
    fn overlay(&self, schema: &Value) -> String {
        let overlay = |revision: Revision| -> Value {
            let overlay = read(&here("../schema").join(revision.as_str()).join("overlay.yaml"));
            yaml_serde::from_str(&self.words(&overlay)).unwrap()
        };
        let mut facts = Revision::ALL
            .iter()
            .rev()
            .map(|revision| overlay(*revision)["facts"].take());
        let mut of_latest = overlay(Revision::LATEST);
        of_latest["facts"] = facts.find(|facts| !facts.is_null()).unwrap();
        let overlay = of_latest;
        let renamed = schema["$defs"].as_object().unwrap().keys();
        let renamed = renamed.filter_map(|name| name.strip_prefix(OTHER));
        let overlay = renamed.fold(overlay.to_string(), |overlay, name| {
            let at = |start: &str, end: &str| format!("\"#/$defs/{start}{name}{end}");
            overlay
                .replace(&at("", "/"), &at(OTHER, "/"))
                .replace(&at("", "\""), &at(OTHER, "\""))
        });
        let mut overlay: Value = serde_json::from_str(&overlay).unwrap();
        let is_declared = |place: &str| schema.pointer(place).is_some();
        retain(&mut overlay["deprecated"], |place, _| is_declared(place));
        // A correction without an expected value adds the member that its pointer names.
        retain(&mut overlay["corrections"], |place, is_there| {
            let parent = place.rsplit_once('/').map(|(parent, _)| parent);
            if is_there {
                is_declared(place)
            } else {
                parent.is_some_and(is_declared)
            }
        });
        let own: Value = yaml_serde::from_str(&read(&self.file("overlay.yaml"))).unwrap();
        let corrections = overlay["corrections"].as_array_mut().unwrap();
        corrections.extend(own["corrections"].as_array().unwrap().clone());
        overlay.to_string()
    }

    /// Adds this revision's name next to each name of the latest one in a file about all revisions, such as
    /// `lifecycle.yaml`, if the schema of this revision has it.
    fn with_new_names(&self, text: &str, schema: &str) -> String {
        let lines = text.lines().map(|line| {
            let Some((key, name)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
                return format!("{line}\n");
            };
            let new = self.new.iter().find(|(role, _)| *role == key);
            let renamed = new.map_or_else(|| self.words(name), |(_, new)| (*new).to_owned());
            let other_key = self.words(key);
            let has_new_name = renamed != name && schema.contains(&format!("\"{renamed}\""));
            match (has_new_name, other_key != key) {
                (true, _) => format!("{key}: [{name}, {renamed}]\n"),
                (false, true) => format!("{line}\n{other_key}: {name}\n"),
                (false, false) => format!("{line}\n"),
            }
        });
        lines.collect()
    }

    /// Ingests the revision into a copy of the schemas below a directory.
    ///
    /// # Panics
    /// If it is refused.
    #[must_use]
    pub fn ingested(&self, root: &Path) -> GenerateOptions {
        self.ingested_with(root, |_, _| Names::default())
    }

    /// Like [`MadeUp::ingested`], with further new names, which `names` returns for the schema and its facts.
    ///
    /// # Panics
    /// If it is refused.
    #[must_use]
    pub fn ingested_with(&self, root: &Path, names: impl FnOnce(&Value, &Value) -> Names) -> GenerateOptions {
        let schema = root.join("schema");
        copy(&here("../schema"), &schema);
        let official = self.schema();
        let overlay: Value = serde_json::from_str(&self.overlay(&official)).unwrap();
        let names = names(&official, &overlay["facts"]);
        let add_names = |file: &str, in_words: &dyn Fn(&str) -> String, in_names: &dyn Fn(&Value) -> Value| {
            let text = read(&schema.join(file));
            let known = yaml_serde::from_str(&text).unwrap();
            let new = in_names(&yaml_serde::from_str(&in_words(&text)).unwrap());
            fs::write(schema.join(file), merged(&known, &new).to_string()).unwrap();
        };
        let declared = official.to_string();
        let with_new_names = |text: &str| self.with_new_names(text, &declared);
        add_names("lifecycle.yaml", &with_new_names, &|roles| names.apply_to_values(roles));
        let official = names.apply_to_schema(&official);
        let text = official.to_string();
        let is_declared = |need: &str| text.contains(&json!(need.split(' ').next()).to_string());
        add_names("capabilities.yaml", &with_new_names, &|needs| {
            let mut renamed = names.apply_to_needs(needs);
            renamed.as_object_mut().unwrap().retain(|need, _| is_declared(need));
            renamed
        });
        let known = read(&schema.join("tolerances.yaml"));
        let is_new = |place: &Value| {
            let place = place.as_str().unwrap();
            let (definition, member) = place.split_once('.').unwrap();
            let declared = official.pointer(&format!("/$defs/{definition}/properties/{member}"));
            declared.is_some() && !known.contains(place)
        };
        let tolerances = |entries: &Value| {
            let entries = entries.as_array().unwrap().iter();
            let entries = entries.map(|entry| at_places(names.apply(entry), is_new));
            entries.filter(|entry| entry["at"] != json!([])).collect()
        };
        add_names("tolerances.yaml", &|text| self.words(text), &tolerances);
        let own = schema.join(MADE_UP);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("overlay.yaml"), names.apply_to_overlay(&overlay).to_string()).unwrap();
        let rules: Value = yaml_serde::from_str(&read(&self.file("adapt.yaml"))).unwrap();
        let mut rules = names.apply_to_rules(&rules);
        rules["rules"].as_array_mut().unwrap().extend(names.rules());
        fs::write(own.join("adapt.yaml"), rules.to_string()).unwrap();
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

/// Returns the schema of a revision.
fn schema_of(revision: &str) -> String {
    read(&here("../schema").join(revision).join("schema.json"))
}

/// Keeps the entries of an overlay's section whose `at` has a pointer that `keep` accepts, and only those pointers. `keep`
/// also gets whether the entry expects a value.
fn retain(section: &mut Value, keep: impl Fn(&str, bool) -> bool) {
    let entries = section.as_array_mut().unwrap();
    entries.retain_mut(|entry| {
        let is_there = entry.get("expect").is_some();
        let keep = |pointer: &Value| {
            let place = pointer.as_str().and_then(|pointer| pointer.strip_prefix('#'));
            place.is_some_and(|place| keep(place, is_there))
        };
        match &mut entry["at"] {
            Value::Array(pointers) => {
                pointers.retain(keep);
                !pointers.is_empty()
            }
            pointer => keep(pointer),
        }
    });
}

/// Returns a tolerance with only those of its places that `keep` accepts.
fn at_places(mut tolerance: Value, keep: impl Fn(&Value) -> bool) -> Value {
    let places = match &tolerance["at"] {
        Value::Array(places) => places.clone(),
        place => vec![place.clone()],
    };
    tolerance["at"] = places.into_iter().filter(keep).collect();
    tolerance
}

/// Returns a path relative to the folder of this package.
#[must_use]
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Reads a file.
///
/// # Panics
/// If it can't be read.
#[must_use]
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Copies a directory recursively.
///
/// # Panics
/// If a file can't be read or written.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
