//! Servers that offer skills.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mcp_ext_skills::{
    EXTENSION, GetSkillRequest, GetSkillResult, ListSkillsRequest, ListSkillsResult, ReadResourceDirectoryRequest,
    ReadResourceDirectoryResult,
};
use mcp_runtime_core::internal::{internal_error, invalid_params};
use mcp_runtime_core::mcp_wire::{Decode, Encode, Extension, RawJson, RawObject, Request, from_str};
use mcp_runtime_core::{ErrorObject, error_code, hub};
use mcp_runtime_router::{Blob, Call, Router, ServerExtension, resource, to_extended};
use serde_json::{Value, json};

use crate::error::SkillsError;
use crate::folder::{File, Folder, SKILL};

/// The number of entries on a page.
const PAGE: usize = 50;

/// The media type of directories.
const DIRECTORY: &str = "inode/directory";

/// The skills of a server, as they were when they were read. Clones share them.
#[derive(Clone)]
pub struct Skills {
    folder: Arc<Folder>,
    /// The direct children of each directory, by its URI.
    directories: Arc<BTreeMap<String, Vec<hub::Resource>>>,
}

impl Skills {
    /// Reads the skills below a folder, which can itself be a skill. A skill is a directory with a `SKILL.md` that
    /// starts with its name and its description; the name is that of the directory. The files are kept in memory, so
    /// that their digests stay valid.
    ///
    /// # Errors
    /// All problems of the folder.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, SkillsError> {
        let folder = Folder::read(folder.as_ref())?;
        let directories = directories(&folder);
        Ok(Self {
            folder: Arc::new(folder),
            directories: Arc::new(directories),
        })
    }

    /// Adds the extension to a router, and the files of the skills as resources.
    ///
    /// # Panics
    /// When the router already has the extension, or a resource with the same URI.
    #[must_use]
    #[track_caller]
    pub fn add_to(&self, router: Router) -> Router {
        let router = router.extension(self.clone());
        self.folder.files.iter().fold(router, |router, (uri, file)| {
            let (resource_of, folder, uri) = (self.resource(uri, file), Arc::clone(&self.folder), uri.clone());
            // The shared folder doesn't change, so it still has the file when the resource is read.
            match std::str::from_utf8(&file.bytes).is_ok() {
                true => router.with(resource(resource_of, move || {
                    String::from_utf8_lossy(&folder.files[&uri].bytes).into_owned()
                })),
                false => router.with(resource(resource_of, move || Blob(folder.files[&uri].bytes.clone()))),
            }
        })
    }

    /// Returns a file as a resource. That of a `SKILL.md` has the name and the description of its skill.
    fn resource(&self, uri: &str, file: &File) -> hub::Resource {
        let resource = match self.folder.skills.get(uri) {
            Some(skill) => {
                let resource = hub::Resource::new(&skill.frontmatter.name, uri);
                resource.with_description(&skill.frontmatter.description)
            }
            None => hub::Resource::new(&file.name, uri),
        };
        resource.with_mime_type(mime_type(&file.name, &file.bytes))
    }
}

impl ServerExtension for Skills {
    fn extension(&self) -> Extension {
        EXTENSION
    }

    fn settings(&self) -> RawObject {
        json!({"directoryRead": true}).into()
    }

    async fn answer(&self, method: &'static str, params: Value, _: Call) -> Result<RawJson, ErrorObject> {
        let uri = || {
            let uri = params.get("uri").and_then(Value::as_str);
            uri.ok_or_else(|| invalid_params("`uri`: expected a string"))
        };
        match method {
            ListSkillsRequest::METHOD => {
                let skills: Vec<_> = self.folder.skills.values().collect();
                let (page, next) = page(&skills, &params)?;
                let mut result = ListSkillsResult::new(page.iter().copied().cloned().collect());
                result.next_cursor = next.map(decoded).transpose()?;
                encoded(&result)
            }
            GetSkillRequest::METHOD => {
                let skill = self.folder.skills.get(uri()?);
                let skill = skill.ok_or_else(|| invalid_params("there is no skill with this URI"))?;
                encoded(&GetSkillResult::new(skill.clone()))
            }
            ReadResourceDirectoryRequest::METHOD => {
                let children = self.directories.get(uri()?);
                let children = children.ok_or_else(|| invalid_params("there is no directory with this URI"))?;
                let (page, next) = page(children, &params)?;
                let page = page.iter().map(|child| to_extended(&EXTENSION, "Resource", child));
                let page = page.collect::<Result<_, _>>().map_err(internal_error)?;
                let mut result = ReadResourceDirectoryResult::new(page);
                result.next_cursor = next.map(decoded).transpose()?;
                encoded(&result)
            }
            other => Err(ErrorObject::new(
                error_code::METHOD_NOT_FOUND,
                format!("Unknown method: {other}"),
            )),
        }
    }
}

/// Returns the direct children of each directory of a skill: files, and directories as separate resources.
fn directories(folder: &Folder) -> BTreeMap<String, Vec<hub::Resource>> {
    let skills = folder
        .skills
        .keys()
        .filter_map(|uri| uri.strip_suffix(&format!("/{SKILL}")));
    let roots: Vec<&str> = skills.collect();
    let is_inside = |directory: &str| {
        roots.iter().any(|root| {
            directory
                .strip_prefix(root)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let mut directories: BTreeMap<String, BTreeMap<String, hub::Resource>> = BTreeMap::new();
    for (uri, file) in &folder.files {
        let child = hub::Resource::new(&file.name, uri).with_mime_type(mime_type(&file.name, &file.bytes));
        let (mut uri, mut child) = (uri.as_str(), child);
        while let Some((directory, _)) = uri.rsplit_once('/').filter(|(directory, _)| is_inside(directory)) {
            directories
                .entry(directory.to_owned())
                .or_default()
                .entry(uri.to_owned())
                .or_insert(child);
            let name = directory.rsplit('/').next().unwrap_or(directory);
            child = hub::Resource::new(name, directory).with_mime_type(DIRECTORY);
            uri = directory;
        }
    }
    directories
        .into_iter()
        .map(|(uri, children)| (uri, children.into_values().collect()))
        .collect()
}

/// Returns the page that the parameters request, and the cursor of the next one.
fn page<'i, T>(items: &'i [T], params: &Value) -> Result<(&'i [T], Option<Value>), ErrorObject> {
    let begin = match params.get("cursor") {
        None => 0,
        Some(cursor) => {
            let begin = cursor.as_str().and_then(|cursor| cursor.parse::<usize>().ok());
            begin
                .filter(|begin| *begin <= items.len())
                .ok_or_else(|| invalid_params("this isn't a cursor of this list"))?
        }
    };
    let end = items.len().min(begin + PAGE);
    let next = (end < items.len()).then(|| Value::from(end.to_string()));
    Ok((&items[begin..end], next))
}

/// Returns the media type of a file, by its extension.
fn mime_type(name: &str, bytes: &[u8]) -> &'static str {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some("md") => "text/markdown",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("html") => "text/html",
        Some("csv") => "text/csv",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

fn decoded<T: Decode>(value: Value) -> Result<T, ErrorObject> {
    from_str(&value.to_string()).map_err(invalid_params)
}

fn encoded(result: &impl Encode) -> Result<RawJson, ErrorObject> {
    RawJson::from_encode(result).map_err(internal_error)
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Skills").field(&self.folder.skills.keys()).finish()
    }
}
