//! Reading of a folder of skills.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_ext_skills::{Skill, SkillResource, SkillResources};
use sha2::{Digest, Sha256};

use crate::error::{SkillProblem, SkillsError};
use crate::frontmatter::frontmatter;

/// The file that marks a directory as a skill.
pub(crate) const SKILL: &str = "SKILL.md";

/// The scheme of skill URIs.
const SCHEME: &str = "skill://";

/// The limits of one skill that every host accepts.
const MOST_FILES: usize = 512;
const MOST_BYTES: usize = 16 << 20;

/// The maximum size of all files together, which are kept in memory.
const MOST_BYTES_IN_ALL: usize = 256 << 20;

/// The maximum depth of directories.
const DEEPEST: usize = 32;

/// The contents of a folder of skills at the time it was read.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// The skills by the URIs of their `SKILL.md`.
    pub(crate) skills: BTreeMap<String, Skill>,
    /// Their files by URI.
    pub(crate) files: BTreeMap<String, File>,
}

/// A file of a skill.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    path: PathBuf,
}

impl Folder {
    /// Reads the skills below a directory, which can itself be a skill.
    ///
    /// # Errors
    /// All problems of the skills.
    pub(crate) fn read(root: &Path) -> Result<Self, SkillsError> {
        let mut reading = Reading::default();
        let around = match root.join(SKILL).exists() {
            true => reading.name(root).map(|name| format!("{}/", encoded(&name))),
            false => Some(String::new()),
        };
        if let Some(around) = around {
            reading.directory(root, &around, 0);
        }
        let Reading {
            files, mut problems, ..
        } = reading;
        let mut skills = BTreeMap::new();
        for (uri, file) in &files {
            let Some(directory) = uri.strip_suffix(SKILL).filter(|_| file.name == SKILL) else {
                continue;
            };
            match skill(uri, directory, file, &files) {
                Ok(skill) => {
                    skills.insert(uri.clone(), skill);
                }
                Err(what) => problems.push(SkillProblem::new(&file.path, what)),
            }
        }
        if problems.is_empty() && skills.is_empty() {
            problems.push(SkillProblem::new(root, format!("no directory here has a `{SKILL}`")));
        }
        if !problems.is_empty() {
            return Err(SkillsError(problems));
        }
        let is_of_skill = |uri: &String| {
            let mut roots = skills.keys().filter_map(|skill| skill.strip_suffix(SKILL));
            roots.any(|root| uri.starts_with(root))
        };
        let files = files.into_iter().filter(|(uri, _)| is_of_skill(uri)).collect();
        Ok(Self { skills, files })
    }
}

/// Creates the entry of a skill.
fn skill(uri: &str, directory: &str, file: &File, files: &BTreeMap<String, File>) -> Result<Skill, String> {
    let text = std::str::from_utf8(&file.bytes).map_err(|error| error.to_string())?;
    let name = directory.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let frontmatter = frontmatter(text, name)?;
    let own = files.iter().filter(|(uri, _)| uri.starts_with(directory));
    let own: Vec<(&String, &File)> = own.collect();
    let bytes: usize = own.iter().map(|(_, file)| file.bytes.len()).sum();
    if own.len() > MOST_FILES || bytes > MOST_BYTES {
        return Err(format!(
            "the skill has {} files and {bytes} bytes, but hosts accept at most {MOST_FILES} and {MOST_BYTES}",
            own.len()
        ));
    }
    let resources = own.into_iter().map(|(uri, file)| {
        let size = file.bytes.len().try_into().unwrap_or(i64::MAX);
        SkillResource::new(digest(&file.bytes), size, uri)
    });
    let resources: Vec<SkillResource> = resources.collect();
    Ok(Skill::new(uri, frontmatter, SkillResources::from(resources)))
}

/// Returns the digest of a file, in the form that entries have.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

#[derive(Default)]
struct Reading {
    files: BTreeMap<String, File>,
    bytes: usize,
    problems: Vec<SkillProblem>,
}

impl Reading {
    fn directory(&mut self, directory: &Path, around: &str, depth: usize) {
        if depth > DEEPEST {
            self.problem(directory, format!("directories are more than {DEEPEST} deep"));
            return;
        }
        let entries = match fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(entries) => entries,
            Err(error) => return self.problem(directory, error),
        };
        for entry in entries {
            let path = entry.path();
            let Some(name) = self.name(&path) else { continue };
            let uri = format!("{around}{}", encoded(&name));
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.directory(&path, &format!("{uri}/"), depth + 1),
                Ok(kind) if kind.is_file() => self.file(path, name, &uri),
                Ok(_) => self.problem(&path, "it isn't a regular file; copy the target of a link"),
                Err(error) => self.problem(&path, error),
            }
        }
    }

    fn file(&mut self, path: PathBuf, name: String, uri: &str) {
        let length = fs::metadata(&path).map(|metadata| usize::try_from(metadata.len()).unwrap_or(usize::MAX));
        let bytes = match length {
            Ok(length) if self.bytes.saturating_add(length) > MOST_BYTES_IN_ALL => {
                return self.problem(
                    &path,
                    format!("the files have more than {MOST_BYTES_IN_ALL} bytes together"),
                );
            }
            Ok(_) => fs::read(&path),
            Err(error) => Err(error),
        };
        match bytes {
            Ok(bytes) => {
                self.bytes += bytes.len();
                self.files.insert(format!("{SCHEME}{uri}"), File { name, bytes, path });
            }
            Err(error) => self.problem(&path, error),
        }
    }

    /// Returns the name of a file or directory.
    fn name(&mut self, path: &Path) -> Option<String> {
        // The folder can be given as `.`.
        let whole = match path.file_name() {
            Some(name) => Some(name.to_owned()),
            None => fs::canonicalize(path)
                .ok()
                .and_then(|path| Some(path.file_name()?.to_owned())),
        };
        let name = whole.and_then(|name| name.into_string().ok());
        if name.is_none() {
            self.problem(path, "its name isn't valid UTF-8");
        }
        name
    }

    fn problem(&mut self, path: &Path, what: impl std::fmt::Display) {
        self.problems.push(SkillProblem::new(path, what));
    }
}

/// Encodes a name as a segment of a URI.
fn encoded(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    name.bytes().map(byte).collect()
}
