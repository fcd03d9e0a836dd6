//! A client that reads skills, and verifies their files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_ext_skills::{GetSkillRequest, GetSkillResult, ListSkillsRequest, ListSkillsResult, Skill, SkillResources};
use mcp_runtime_core::hub::{self, AnyResourceContents};
use mcp_runtime_core::mcp_wire::{Decode, Request, UnknownMethod};
use mcp_runtime_core::{CallError, CallServer, ClientSide, Peer};
use serde_json::{Value, json};

use crate::folder::digest;

/// The pages that are read of one list.
const PAGES: usize = 1_000;

/// Why a file of a skill isn't used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFileError {
    /// A request failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The entry of the skill doesn't list the file, or says that there is no list.
    #[error("the skill's entry doesn't list {0}")]
    Unlisted(String),
    /// The file isn't what the entry says: it has changed since, or was corrupted. A new entry says what it is now.
    #[error("{uri} isn't the file of the skill's entry: {what}")]
    Changed {
        /// The address of the file.
        uri: String,
        /// Whether its size or its digest is another one.
        what: &'static str,
    },
}

/// What a client asks of a server's skills.
///
/// Hosts have duties beside it, such as to ask the user before a skill is used: see the
/// [text of the extension](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx).
pub trait CallSkills {
    /// The skills that the server lists, of all pages. There may be others.
    ///
    /// # Errors
    /// Those of the calls.
    fn list_skills(&self) -> impl Future<Output = Result<Vec<Skill>, CallError>> + Send;

    /// The entry of a skill, by the address of its `SKILL.md`.
    ///
    /// # Errors
    /// Those of the call, such as when the server has no such skill.
    fn get_skill(&self, uri: &str) -> impl Future<Output = Result<Skill, CallError>> + Send;

    /// Reads a file of a skill, and verifies it by the skill's entry.
    ///
    /// # Errors
    /// When the entry doesn't list the file, it can't be read, or isn't what the entry says.
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
            return Err(changed("it has another size"));
        }
        if digest(&bytes) != file.digest {
            return Err(changed("it has another digest"));
        }
        Ok(bytes)
    }
}

/// The bytes of a resource.
fn contents(read: hub::ReadResourceResult, uri: &str) -> Result<Vec<u8>, CallError> {
    let invalid = |what: &str| CallError::InvalidResult(format!("{what} {uri}"));
    match read.contents.into_iter().next() {
        Some(AnyResourceContents::Text(contents)) => Ok(contents.text.into_bytes()),
        Some(AnyResourceContents::Blob(contents)) => STANDARD
            .decode(&contents.blob)
            .map_err(|_| invalid("there is no base64 in")),
        _ => Err(invalid("it has no contents of")),
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
