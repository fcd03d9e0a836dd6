//! Clients that read skills, and verify their files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_ext_skills::{GetSkillRequest, GetSkillResult, ListSkillsRequest, ListSkillsResult, Skill, SkillResources};
use mcp_runtime_core::hub::{self, AnyResourceContents};
use mcp_runtime_core::mcp_wire::{Decode, Request, UnknownMethod};
use mcp_runtime_core::{CallError, CallServer, ClientSide, Peer};
use serde_json::{Value, json};

use crate::folder::digest;

/// The maximum number of pages read from one list.
const PAGES: usize = 1_000;

/// The reason why a file of a skill can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFileError {
    /// A request failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The skill's entry doesn't list the file, or has no list of files.
    #[error("the skill's entry doesn't list {0}")]
    Unlisted(String),
    /// The file differs from the skill's entry: it has changed since, or was corrupted. A new entry describes its
    /// present state.
    #[error("{uri} doesn't match the skill's entry: {what}")]
    Changed {
        /// The address of the file.
        uri: String,
        /// Whether its size or its digest differs.
        what: &'static str,
    },
}

/// Requests for the skills of a server.
///
/// Hosts have further duties, such as to ask the user before a skill is used: see the
/// [text of the extension](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx).
pub trait CallSkills {
    /// Lists the server's skills, from all pages. The server can have skills that it doesn't list.
    ///
    /// # Errors
    /// Those of the calls.
    fn list_skills(&self) -> impl Future<Output = Result<Vec<Skill>, CallError>> + Send;

    /// Gets the entry of a skill, by the URI of its `SKILL.md`.
    ///
    /// # Errors
    /// Those of the call, such as when the server has no such skill.
    fn get_skill(&self, uri: &str) -> impl Future<Output = Result<Skill, CallError>> + Send;

    /// Reads a file of a skill, and verifies it against the skill's entry.
    ///
    /// # Errors
    /// When the entry doesn't list the file, the file can't be read, or it differs from the entry.
    fn read_skill_file(&self, skill: &Skill, uri: &str)
    -> impl Future<Output = Result<Vec<u8>, SkillFileError>> + Send;
}

impl CallSkills for Peer<ClientSide> {
    async fn list_skills(&self) -> Result<Vec<Skill>, CallError> {
        let (mut skills, mut params) = (Vec::new(), json!({}));
        for _ in 0..PAGES {
            let page: ListSkillsResult = call::<ListSkillsRequest, _>(self, params).await?;
            skills.extend(page.skills);
            params = match page.next_cursor {
                Some(cursor) => json!({"cursor": cursor}),
                None => return Ok(skills),
            };
        }
        Err(CallError::InvalidResult(format!(
            "the list has more than {PAGES} pages"
        )))
    }

    async fn get_skill(&self, uri: &str) -> Result<Skill, CallError> {
        let result: GetSkillResult = call::<GetSkillRequest, _>(self, json!({"uri": uri})).await?;
        Ok(result.skill)
    }

    async fn read_skill_file(&self, skill: &Skill, uri: &str) -> Result<Vec<u8>, SkillFileError> {
        let unlisted = || SkillFileError::Unlisted(uri.to_owned());
        let SkillResources::List(files) = &skill.resources else {
            return Err(unlisted());
        };
        let file = files.iter().find(|file| file.uri == uri).ok_or_else(unlisted)?;
        let changed = |what| SkillFileError::Changed {
            uri: uri.to_owned(),
            what,
        };
        let read = self.read_resource(hub::ReadResourceRequestParams::new(uri)).await?;
        let bytes = contents(read, uri)?;
        if i64::try_from(bytes.len()) != Ok(file.size) {
            return Err(changed("its size differs"));
        }
        if digest(&bytes) != file.digest {
            return Err(changed("its digest differs"));
        }
        Ok(bytes)
    }
}

/// Returns the bytes of a resource.
fn contents(read: hub::ReadResourceResult, uri: &str) -> Result<Vec<u8>, CallError> {
    let invalid = |what: &str| CallError::InvalidResult(format!("{what} {uri}"));
    match read.contents.into_iter().next() {
        Some(AnyResourceContents::Text(contents)) => Ok(contents.text.into_bytes()),
        Some(AnyResourceContents::Blob(contents)) => STANDARD
            .decode(&contents.blob)
            .map_err(|_| invalid("invalid base64 in")),
        _ => Err(invalid("no contents for")),
    }
}

async fn call<R: Request, T: Decode>(peer: &Peer<ClientSide>, params: Value) -> Result<T, CallError> {
    let result = peer
        .call_unknown(UnknownMethod::new(R::METHOD).with_params(params))
        .await?;
    result
        .decode_as()
        .map_err(|error| CallError::InvalidResult(error.to_string()))
}
