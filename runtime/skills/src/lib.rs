//! Skills: directories of instructions for agents, which a server offers as resources. This is the extension
//! `io.modelcontextprotocol/skills`.
//!
//! ```no_run
//! use mcp_runtime::skills::Skills;
//! use mcp_runtime::Router;
//!
//! // Each directory below `skills` that has a `SKILL.md` is one.
//! let router = Skills::read("skills")?.add_to(Router::new("billing", "1.0"));
//! # Ok::<(), mcp_runtime::skills::SkillsError>(())
//! ```
//!
//! [`CallSkills`] is for clients: they read the files of a skill, and verify them.
//!
//! <https://github.com/modelcontextprotocol/ext-skills>

#![cfg_attr(docsrs, feature(doc_cfg))]

mod client;
mod error;
mod folder;
mod frontmatter;
mod server;

pub use self::client::{CallSkills, SkillFileError};
pub use self::error::{SkillProblem, SkillsError};
pub use self::server::Skills;
