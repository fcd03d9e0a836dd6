//! The manifest, `revisions.yaml`: the revisions, their order and their sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_json_schema::{Dialect, pointer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::check::is_keyword;
use super::document::Document;
use super::family::{Family, MCP};
use super::parse::Format;
use super::revision::Revision;
use super::{Files, read_document};
use crate::problem::{Problem, Problems};

/// The name of the manifest in the schema directory.
pub const MANIFEST: &str = "revisions.yaml";

/// The characters of the name of a crate.
const CRATE_NAME: &str = "write lower-case letters, digits and `-`, with a letter first";

const HEADER: &str = include_str!("../../templates/documents/revisions.yaml");

/// The manifest, `revisions.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Manifest {
    /// The subject of the documents; see [`Manifest::family`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) family: Option<Family>,
    /// The revision that handlers are written against; see [`Manifest::hub`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Revision>,
    /// The template of the link to a definition in the specification, with the placeholders `{revision}`, `{commit}`
    /// and `{anchor}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<String>,
    /// Schemas that replace external references, by the value of `$ref`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) aliases: BTreeMap<String, Value>,
    /// Keywords that describe values and refuse none, besides those of JSON Schema: ingesting removes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) annotations: Vec<String>,
    /// The spelling of acronyms in Rust names (`URL: Url`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) acronyms: BTreeMap<String, String>,
    /// The versions of crates that differ from the generator's version, by the name of the crate; see
    /// [`Manifest::version`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) versions: BTreeMap<String, String>,
    /// The revisions in their order.
    pub revisions: Vec<Entry>,
    /// The extensions by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extensions: BTreeMap<String, Extension>,
}

/// One extension of the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// Its name in the manifest, which is that of its folder.
    #[serde(skip)]
    pub(crate) name: String,
    /// The id by which peers declare it.
    pub id: String,
    /// The revision that it extends.
    pub of: Revision,
    /// Whether its schema is published with it, instead of written by hand from the text of its specification.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub official: bool,
    /// Its schema.
    pub schema: Entry,
    /// The folder of its files, if it isn't in the schema directory.
    #[serde(skip)]
    pub(crate) folder: Option<PathBuf>,
}

/// One revision of the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name of the revision and of its directory.
    pub revision: Revision,
    /// The address or path from which the schema was read.
    pub source: String,
    /// The commit of the source repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The hash of the bytes as published, in hexadecimal.
    pub sha256: String,
    /// Hashes of other published forms of the same revision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// The dialect of the schema.
    pub dialect: Dialect,
    /// Whether the revision is final.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub released: bool,
    /// Replaces [`Manifest::links`] for this revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<String>,
}

impl Entry {
    /// The entry of a released revision.
    pub(crate) fn new(revision: Revision, source: String, sha256: String, dialect: Dialect) -> Self {
        Self {
            revision,
            source,
            commit: None,
            sha256,
            accepted: Vec::new(),
            dialect,
            released: true,
            links: None,
        }
    }

    /// Returns the hashes of all published forms, the current one first.
    #[must_use]
    pub fn hashes(&self) -> Vec<&str> {
        let accepted = self.accepted.iter().map(String::as_str);
        std::iter::once(self.sha256.as_str()).chain(accepted).collect()
    }
}

fn yes() -> bool {
    true
}

fn is_true(flag: &bool) -> bool {
    *flag
}

impl Manifest {
    /// Reads the manifest of a schema directory. Returns an empty one if the file doesn't exist yet.
    ///
    /// # Errors
    ///
    /// When the manifest can't be read, or is invalid.
    pub fn load(schema: &Path) -> Result<Self, Problems> {
        match read_document(&schema.join(MANIFEST), &Files::default())? {
            Some(document) => Self::of(&document),
            None => Ok(Self::default()),
        }
    }

    /// Reads a manifest from text. `file` is the name that problems are reported under.
    ///
    /// # Errors
    ///
    /// When the text isn't YAML, or isn't a valid manifest.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        Self::of(&Document::parse(file, text.as_bytes(), Format::Yaml)?)
    }

    fn of(document: &Document) -> Result<Self, Problems> {
        let (mut problems, mut revisions) = (Vec::new(), Vec::<Entry>::new());
        let rest = document.without(&["revisions", "extensions"]);
        let mut manifest: Self = rest.decode("#").unwrap_or_else(|wrong| {
            problems.extend(wrong);
            Self::default()
        });
        let entries = document.get("#/revisions").and_then(Value::as_array);
        for index in 0..entries.map_or(0, Vec::len) {
            let at = format!("#/revisions/{index}");
            match document.decode::<Entry>(&at) {
                Ok(entry) => {
                    problems.extend(wrong_entry(document, &at, &entry, &revisions));
                    revisions.push(entry);
                }
                Err(wrong) => problems.extend(wrong),
            }
        }
        let is_known = |name: &Revision| revisions.iter().any(|entry| entry.revision == *name);
        let hub = manifest.hub.as_ref();
        if let Some(hub) = hub.filter(|hub| problems.is_empty() && !is_known(hub)) {
            problems.push(document.problem("#/hub", format!("{hub} isn't one of the revisions below")));
        }
        let mut extensions = BTreeMap::<String, Extension>::new();
        let names = document.get("#/extensions").and_then(Value::as_object);
        for name in names.into_iter().flat_map(Map::keys) {
            let at = pointer::child("#/extensions", name);
            match document.decode::<Extension>(&at) {
                Ok(mut extension) => {
                    extension.name.clone_from(name);
                    problems.extend(wrong_entry(document, &format!("{at}/schema"), &extension.schema, &[]));
                    problems.extend(wrong_extension(document, &at, &extension, &extensions));
                    if !is_known(&extension.of) {
                        let what = format!("there is no revision {}", extension.of);
                        problems.push(document.problem(&format!("{at}/of"), what));
                    }
                    extensions.insert(name.clone(), extension);
                }
                Err(wrong) => problems.extend(wrong),
            }
        }
        let family = manifest.family.iter();
        problems.extend(family.flat_map(|family| wrong_family(document, family, !extensions.is_empty())));
        let wrong_versions = manifest.versions.iter().filter(|(_, version)| !is_version(version));
        problems.extend(wrong_versions.map(|(name, version)| {
            let at = pointer::child("#/versions", name);
            let problem = document.problem(&at, format!("`{version}` isn't a version"));
            problem.help("write three numbers, as in 1.2.3")
        }));
        let known = manifest.annotations.iter().enumerate();
        let known = known.filter(|(_, name)| is_keyword(name));
        problems.extend(known.map(|(index, name)| {
            let what = format!("`{name}` is a keyword of JSON Schema, which isn't removed");
            document.problem(&format!("#/annotations/{index}"), what)
        }));
        Problems::check(problems)?;
        (manifest.revisions, manifest.extensions) = (revisions, extensions);
        Ok(manifest)
    }

    /// Returns the text of `revisions.yaml`.
    ///
    /// # Errors
    ///
    /// An alias that can't be written as YAML, which doesn't happen in practice.
    pub fn to_yaml(&self) -> Result<String, yaml_serde::Error> {
        let mut text = String::from(HEADER);
        for line in yaml_serde::to_string(self)?.lines() {
            // An empty line before each section and each revision, for the reader.
            if line.starts_with(|char: char| char.is_alphanumeric())
                || (line.starts_with("- revision:") && !text.ends_with(":\n"))
            {
                text.push('\n');
            }
            text.push_str(line);
            text.push('\n');
        }
        Ok(text)
    }

    /// Returns the entry of a revision.
    #[must_use]
    pub fn entry(&self, revision: &str) -> Option<&Entry> {
        self.revisions.iter().find(|entry| entry.revision.as_str() == revision)
    }

    /// Returns the subject of the documents: the Model Context Protocol, if the manifest doesn't define another.
    pub(crate) fn family(&self) -> &Family {
        self.family.as_ref().unwrap_or(&MCP)
    }

    /// Returns the revision that handlers are written against: the one that the manifest names, or else the last.
    #[must_use]
    pub fn hub(&self) -> Option<&Revision> {
        let last = self.revisions.last().map(|entry| &entry.revision);
        self.hub.as_ref().or(last)
    }

    /// Returns the version of a crate: the one in `versions`, or else the generator's own.
    #[must_use]
    pub fn version(&self, name: &str) -> &str {
        self.versions
            .get(name)
            .map_or(env!("CARGO_PKG_VERSION"), String::as_str)
    }

    /// Whether a revision isn't released yet.
    pub(crate) fn is_draft(&self, revision: &str) -> bool {
        self.entry(revision).is_some_and(|entry| !entry.released)
    }

    /// Returns the address at which the official specification describes the definitions of a revision, or else the
    /// source of the schema. The address can contain the placeholder `{anchor}` for the name of a definition in lower
    /// case.
    pub(crate) fn specification(&self, entry: &Entry) -> String {
        let Some(template) = entry.links.as_ref().or(self.links.as_ref()) else {
            return entry.source.clone();
        };
        let commit = entry.commit.as_deref().unwrap_or_default();
        template
            .replace("{revision}", entry.revision.as_str())
            .replace("{commit}", commit)
    }

    /// Returns the address at which a definition is described. [`Manifest::links`] applies only to revisions.
    pub(crate) fn link(&self, entry: &Entry, definition: &str, is_extension: bool) -> String {
        if is_extension && entry.links.is_none() {
            return entry.source.clone();
        }
        self.specification(entry)
            .replace("{anchor}", &in_url(&definition.to_lowercase()))
    }
}

/// Escapes a name for an address. `)` would end a link of Markdown.
fn in_url(name: &str) -> String {
    let escaped = name.bytes().map(|byte| match byte {
        b'-' | b'.' | b'_' | b'~' | b'$' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    escaped.collect()
}

fn is_version(text: &str) -> bool {
    let numbers = text.split('.');
    numbers.clone().count() == 3 && numbers.into_iter().all(|number| number.parse::<u32>().is_ok())
}

/// Checks that go beyond the types of a family's fields.
fn wrong_family(document: &Document, family: &Family, has_extensions: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !is_crate_name(&family.crates) {
        let what = format!("{:?} can't begin the name of a crate", family.crates);
        problems.push(document.problem("#/family/crates", what).help(CRATE_NAME));
    }
    if family.single_crate && has_extensions {
        let what = "a family whose revisions are modules of one crate has no extensions";
        let problem = document.problem("#/family/single_crate", what);
        problems.push(problem.help("remove `single_crate` or `extensions`"));
    }
    problems
}

/// Checks that go beyond the types of an extension's fields.
fn wrong_extension(
    document: &Document,
    at: &str,
    extension: &Extension,
    earlier: &BTreeMap<String, Extension>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !is_crate_name(&extension.name) {
        let what = format!("{:?} can't name an extension", extension.name);
        problems.push(document.problem(at, what).help(CRATE_NAME));
    }
    let (prefix, last) = extension.id.split_once('/').unwrap_or_default();
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_graphic() && c != '/');
    let id = format!("{at}/id");
    if !prefix.split('.').all(is_part) || !is_part(last) {
        let problem = document.problem(&id, format!("{:?} can't be the id of an extension", extension.id));
        problems.push(problem.help("an id is a prefix and a name, as in com.example/billing"));
    }
    if let Some((other, _)) = earlier.iter().find(|(_, other)| other.id == extension.id) {
        problems.push(document.problem(&id, format!("{} is the id of `{other}` too", extension.id)));
    }
    problems
}

/// Whether a name can be part of the name of a crate, and the name of a folder.
fn is_crate_name(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_name)
}

/// Checks that go beyond the types of an entry's fields.
fn wrong_entry(document: &Document, at: &str, entry: &Entry, earlier: &[Entry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    // Some file systems ignore case.
    let is_same = |other: &Entry| other.revision.as_str().eq_ignore_ascii_case(entry.revision.as_str());
    if earlier.iter().any(is_same) {
        let what = format!("{} is in this list twice", entry.revision);
        problems.push(document.problem(&format!("{at}/revision"), what));
    }
    let accepted = entry.accepted.iter().enumerate();
    let accepted = accepted.map(|(index, hash)| (format!("{at}/accepted/{index}"), hash));
    for (at, hash) in accepted.chain([(format!("{at}/sha256"), &entry.sha256)]) {
        if hash.len() != 64 || !hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            problems.push(document.problem(&at, "a sha256 is 64 hexadecimal digits in lower case"));
        }
    }
    problems
}
