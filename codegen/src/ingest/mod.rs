//! Ingests an official schema: fetches it, checks it against the manifest, removes the prose, and writes and records it.

mod annotations;
mod change;
mod check;
mod conditions;
mod drafts;
mod error_codes;
mod extension;
mod fetch;
mod inferred;
mod inlined_messages;
mod lost;
mod moved_definitions;
mod moved_places;
mod namespaces;
mod official;
mod renamed;
mod results;
mod simplify;
mod successor;

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use mcp_wire::json_schema::Dialect;
use sha2::{Digest, Sha256};

pub use fetch::FetchError;

use crate::cache::Cache;
use crate::error::GenerateError;
use crate::files::{FilesError, write_file};
use crate::load::{Document, Entry, Format, MANIFEST, Manifest, OVERLAY, Revision, SCHEMA, load_known, read_text};
use crate::overlay::{Overlay, apply_overlay};
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;
use crate::revision_table::RevisionTable;

use self::annotations::{Before, annotations_of_new_messages};
use self::error_codes::defined_errors;
use self::inferred::Inference;
use self::lost::lost;
use self::moved_definitions::{Moved, moved_definitions};
use self::moved_places::with_places_in;
use self::renamed::renamed;
use self::successor::{Passed, Successor};

pub(crate) use self::check::check_loaded;
pub(crate) use self::drafts::Drafts;
pub use self::extension::{ExtensionOptions, ingest_extension};
pub(crate) use self::official::Official;
pub use self::successor::LeftOut;

/// The options of ingesting.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// The directory of the manifest and the schemas.
    pub schema: PathBuf,
    /// The revision of the schema.
    pub revision: Revision,
    /// The path or address of the official schema.
    pub from: String,
    /// The source to record instead of `from`.
    pub source: Option<String>,
    /// The commit of the source.
    pub commit: Option<String>,
    /// Accept a schema of a known revision whose hash isn't in the manifest.
    pub accept: bool,
    /// Keep descriptions and the other prose.
    pub keep_prose: bool,
    /// Whether the revision is still a draft. `None` leaves a known revision as it is.
    pub draft: Option<bool>,
    /// The position of the revision among the revisions.
    pub position: Position,
}

impl IngestOptions {
    /// Returns the options for a schema at a path or address, with defaults for the rest.
    #[must_use]
    pub fn new(schema: impl Into<PathBuf>, revision: Revision, from: impl Into<String>) -> Self {
        Self {
            schema: schema.into(),
            revision,
            from: from.into(),
            source: None,
            commit: None,
            accept: false,
            keep_prose: false,
            draft: None,
            position: Position::Keep,
        }
    }
}

/// A position in the manifest's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// The present position, or the end for a new revision.
    Keep,
    /// Right after another revision.
    After(Revision),
    /// Right before another revision.
    Before(Revision),
}

/// The result of ingesting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ingested {
    /// The schema that was written.
    pub schema: PathBuf,
    /// The overlay that was written, from that of the revision before.
    pub overlay: Option<PathBuf>,
    /// The entries of the previous revision's overlay that don't fit this schema.
    pub left_out: Vec<LeftOut>,
    /// The hash of the official bytes.
    pub sha256: String,
    /// The dialect of the schema.
    pub dialect: Dialect,
    /// Whether the revision is new in the manifest.
    pub is_new: bool,
    /// The problems of drafts, whose entries and rules are left out or ignored, and what sessions with a new revision lack.
    pub warnings: Vec<Problem>,
}

/// The error of ingesting. No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Problems of the official schema or of the manifest.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Problems of generating from the schema, or from the other revisions with it.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The schema couldn't be read.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The manifest doesn't accept the hash of the schema.
    #[error(
        "{from} is not the schema of {revision} that the manifest knows\n  its sha256 is    {found}\n  {manifest} accepts {known}\n  \
         published schemas do change; when you have seen what changed and want it, run the same command with --accept"
    )]
    Mismatch {
        /// The address or path of the schema.
        from: String,
        /// The revision.
        revision: Revision,
        /// The hash of what was read.
        found: String,
        /// The manifest's path.
        manifest: String,
        /// The hashes in the manifest, the current one first.
        known: String,
    },
    /// The manifest doesn't have the revision to place this one next to.
    #[error("the manifest has no revision {wanted} to put this one beside; it has {known}")]
    NoNeighbour {
        /// The revision that was named.
        wanted: Revision,
        /// The known revisions.
        known: String,
    },
    /// Another extension has the name.
    #[error("`{name}` is the name of {id}; give this extension another one by --name")]
    NameTaken {
        /// The name.
        name: String,
        /// The extension that has it.
        id: String,
    },
    /// The files could not be written.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Ingests one revision.
///
/// # Errors
///
/// When the schema can't be read, the manifest doesn't accept it, or crates can't be generated from it. The error then has
/// all problems that [`generate`](crate::generate()) would report, and no file is changed.
pub fn ingest(options: &IngestOptions) -> Result<Ingested, IngestError> {
    let (candidate, passed) = Candidate::passing(options, &Cache::default())?;
    let revisions = &passed.checked.revisions;
    let mut pairs = revisions.iter().zip(revisions.iter().skip(1));
    let pair = pairs.find(|(_, after)| candidate.is_new && after.entry().revision == options.revision);
    let names = pair.map(|(before, after)| [lost(&before.model, &after.model), renamed(before, after)].concat());
    let mut ingested = candidate.write(passed, &options.schema)?;
    ingested.warnings.extend(names.unwrap_or_default());
    Ok(ingested)
}

/// Returns the tables of all revisions, with the one that [`ingest`] would add. No file is changed. A shared cache
/// makes it faster to try many schemas.
///
/// # Errors
///
/// As [`ingest`].
pub fn try_ingest(options: &IngestOptions, cache: &Cache) -> Result<Vec<RevisionTable>, IngestError> {
    let (_, passed) = Candidate::passing(options, cache)?;
    Ok(RevisionTable::of(&passed.checked, &cache.tables))
}

/// Writes the overlay of a new revision: the entries of the previous revision's overlay that fit the schema, as [`ingest`]
/// would, so that others can be added before the schema is ingested. `None` if the revision isn't new, already has an
/// overlay, or would inherit nothing. A shared cache makes it faster to try many schemas.
///
/// # Errors
///
/// When the schema can't be read, or the overlay can't be written.
pub fn write_overlay(options: &IngestOptions, cache: &Cache) -> Result<Option<PathBuf>, IngestError> {
    let mut candidate = Candidate::new(options, cache)?;
    let Some(mut inherited) = candidate.inherited.take() else {
        return Ok(None);
    };
    // The problems that remain are those for which entries are added.
    let _ = inherited.reduce(candidate.check(options, cache));
    let Some(text) = inherited.text() else {
        return Ok(None);
    };
    let path = candidate.folder.join(OVERLAY);
    write_file(&path, &text)?;
    Ok(Some(path))
}

/// A revision, or an extension, that is to be recorded once it passes all checks.
struct Candidate {
    manifest: Manifest,
    entry: Entry,
    folder: PathBuf,
    official: Official,
    is_new: bool,
    inherited: Option<Successor>,
}

impl Candidate {
    fn new(options: &IngestOptions, cache: &Cache) -> Result<Self, IngestError> {
        let mut manifest = Manifest::load(&options.schema)?;
        let known = manifest.entry(options.revision.as_str()).cloned();
        let (official, sha256) = read_official(options, known.as_ref(), &manifest)?;
        let is_new = known.is_none();
        let entry = new_entry(options, known, &sha256, official.dialect);
        place_entry(&mut manifest, entry.clone(), &options.position)?;
        let folder = options.schema.join(entry.revision.as_str());
        let has_overlay = folder.join(OVERLAY).exists();
        let revisions = manifest.revisions.iter();
        let earlier = revisions.take_while(|earlier| earlier.revision != entry.revision);
        let predecessor = earlier.last().filter(|_| is_new && !has_overlay);
        let link = |entry: &Entry, union: &str| manifest.link(entry, union, false);
        let inherited = (&entry.revision, &official.schema);
        let inherited = inherited_overlay((&options.schema, cache), predecessor, inherited, link)?;
        Ok(Self {
            manifest,
            entry,
            folder,
            official,
            is_new,
            inherited,
        })
    }

    /// Returns the check of the revision with an overlay.
    fn check<'c>(
        &'c self,
        options: &'c IngestOptions,
        cache: &'c Cache,
    ) -> impl FnMut(Option<&str>) -> Result<Protocol, GenerateError> {
        // Computed at most once: several overlays may be tried, but the current files stay the same.
        let current = LazyCell::new(|| check::current_generates(&options.schema, &self.entry, cache));
        move |overlay| {
            let directory =
                check::directory_with((&options.schema, cache), &self.folder, &self.official.schema, overlay)?;
            check::check_generates((&directory, cache), &self.manifest, &self.entry, || *current)
        }
    }

    /// Returns a revision that passes all checks.
    fn passing(options: &IngestOptions, cache: &Cache) -> Result<(Self, Passed), IngestError> {
        let mut candidate = Self::new(options, cache)?;
        let inherited = candidate.inherited.take();
        let passed = Passed::by(inherited, candidate.check(options, cache))?;
        Ok((candidate, passed))
    }

    fn write(self, passed: Passed, directory: &Path) -> Result<Ingested, IngestError> {
        let schema = self.official.schema.root();
        let schema = official::canonical_json(schema).map_err(GenerateError::from)?;
        let recorded = self.manifest.to_yaml().map_err(GenerateError::from)?;
        let schema_path = self.folder.join(SCHEMA);
        // The manifest is written last, when the files that it names exist.
        write_file(&schema_path, &schema)?;
        let overlay = passed.overlay.map(|text| (self.folder.join(OVERLAY), text));
        if let Some((path, text)) = &overlay {
            write_file(path, text)?;
        }
        write_file(&directory.join(MANIFEST), &recorded)?;
        Ok(Ingested {
            schema: schema_path,
            overlay: overlay.map(|(path, _)| path),
            left_out: passed.left_out,
            sha256: self.entry.sha256,
            dialect: self.official.dialect,
            is_new: self.is_new,
            warnings: passed.checked.warnings,
        })
    }
}

/// Reads an official schema, and checks its hash against the manifest unless `accept` is set. Returns the hash too.
fn read_official(
    options: &IngestOptions,
    known: Option<&Entry>,
    manifest: &Manifest,
) -> Result<(Official, String), IngestError> {
    let bytes = fetch::fetch(&options.from)?;
    let sha256 = sha256(&bytes);
    if let Some(entry) = known {
        check_hash(options, entry, &sha256)?;
    }
    let document = Document::parse(&options.from, &bytes, Format::of(&options.from, &bytes))?;
    let official = Official::of(&document, manifest, options.keep_prose);
    Ok((official, sha256))
}

/// Derives the overlay of a new revision from the overlay and the schema of the previous one. `link` returns the address at
/// which the previous revision describes a definition.
fn inherited_overlay(
    (directory, cache): (&Path, &Cache),
    predecessor: Option<&Entry>,
    (revision, schema): (&Revision, &Document),
    link: impl Fn(&Entry, &str) -> String,
) -> Result<Option<Successor>, GenerateError> {
    let Some(entry) = predecessor else {
        return Ok(None);
    };
    let folder = directory.join(entry.revision.as_str());
    let text = read_text(&folder.join(OVERLAY))?.unwrap_or_default();
    let names = (entry.revision.as_str(), revision.as_str());
    let overlay = Document::parse(OVERLAY, text.as_bytes(), Format::Yaml)?;
    // The problems of the previous revision aren't those of this one.
    let Ok((official, before)) = corrected((&folder.join(SCHEMA), cache), overlay.clone()) else {
        return Ok(Some(Successor::new(&text, names, schema)?));
    };
    let schemas = [official.root(), schema.root()];
    let moved = moved_definitions(schemas);
    let text = with_places_in(schemas, &moved, (&text, overlay.root()));
    let mut successor = Successor::new(&text, names, schema)?;
    let inference = Inference::new(before.root(), schema.root());
    let inferred = inference.unions().chain(inference.results());
    for (section, says) in inferred.chain(moved.iter().filter_map(Moved::keep_name)) {
        let why = "The schema has other names for this than that of the previous revision.";
        successor.add(section, &says, why, &link(entry, "JSONRPCMessage"));
    }
    let before = Before {
        official: official.root(),
        corrected: before.root(),
    };
    for (section, says) in annotations_of_new_messages(before, schema.root()) {
        let why = "A new message has these members as the other messages have them.";
        successor.add(section, &says, why, &link(entry, "JSONRPCMessage"));
    }
    for error in defined_errors(schema.root(), overlay.root()) {
        let why = format!("The schema defines this code by {}.", error.definition);
        successor.add("error_codes", &error.entry(), &why, &link(entry, &error.definition));
    }
    Ok(Some(successor))
}

/// Reads a schema, and corrects it by an overlay. Returns it before and after.
fn corrected((schema, cache): (&Path, &Cache), overlay: Document) -> Result<(Document, Document), Problems> {
    let official = load_known(schema, &cache.files)?;
    let corrected = apply_overlay(&official, &Overlay::of(overlay)?)?;
    Ok((official, corrected))
}

/// Returns a hash as the manifest records it.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_hash(options: &IngestOptions, entry: &Entry, found: &str) -> Result<(), IngestError> {
    let known = entry.hashes();
    if options.accept || known.contains(&found) {
        return Ok(());
    }
    Err(IngestError::Mismatch {
        from: options.from.clone(),
        revision: options.revision.clone(),
        found: found.into(),
        manifest: options.schema.join(MANIFEST).display().to_string(),
        known: known.join("\n          and "),
    })
}

/// Returns the entry to record. If the schema is the same, known values that aren't given again stay.
fn new_entry(options: &IngestOptions, known: Option<Entry>, sha256: &str, dialect: Dialect) -> Entry {
    let new = || Entry::new(options.revision.clone(), options.from.clone(), sha256.into(), dialect);
    let mut entry = known.unwrap_or_else(new);
    if entry.sha256 != sha256 {
        entry.accepted.retain(|hash| hash != sha256);
        entry.accepted.push(std::mem::replace(&mut entry.sha256, sha256.into()));
        entry.source.clone_from(&options.from);
        entry.commit = None;
    }
    Entry {
        source: options.source.clone().unwrap_or(entry.source),
        commit: options.commit.clone().or(entry.commit),
        dialect,
        released: options.draft.map_or(entry.released, |draft| !draft),
        ..entry
    }
}

fn place_entry(manifest: &mut Manifest, entry: Entry, position: &Position) -> Result<(), IngestError> {
    let revisions = &mut manifest.revisions;
    let index_of =
        |revisions: &[Entry], wanted: &Revision| revisions.iter().position(|entry| entry.revision == *wanted);
    let old = index_of(revisions, &entry.revision);
    if let Some(old) = old {
        revisions.remove(old);
    }
    let beside = |wanted: &Revision| {
        index_of(revisions, wanted).ok_or_else(|| {
            let known: Vec<_> = revisions.iter().map(|entry| entry.revision.as_str()).collect();
            let known = if known.is_empty() { vec!["none"] } else { known };
            IngestError::NoNeighbour {
                wanted: wanted.clone(),
                known: known.join(", "),
            }
        })
    };
    let index = match position {
        Position::Keep => old.unwrap_or(revisions.len()),
        Position::After(neighbour) => beside(neighbour)? + 1,
        Position::Before(neighbour) => beside(neighbour)?,
    };
    revisions.insert(index, entry);
    Ok(())
}
