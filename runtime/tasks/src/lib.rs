//! Tools that run as tasks: the extension `io.modelcontextprotocol/tasks`.
//!
//! A client that declares the extension gets a task instead of a result, polls its state, answers its input requests
//! and can cancel it. Any other client waits for the result, from the same function.
//!
//! ```
//! use std::time::Duration;
//!
//! use mcp_runtime::tasks::{TaskContext, Tasks, ToolTask};
//! use mcp_runtime::router::tool;
//! use mcp_runtime::Router;
//!
//! async fn build(task: TaskContext) -> String {
//!     task.status("compiling");
//!     tokio::time::sleep(Duration::from_secs(60)).await;
//!     "built".to_owned()
//! }
//!
//! let router = Router::new("builds", "1.0")
//!     .extension(Tasks::default())
//!     .with(tool("build", "Builds the project", build).task());
//! ```
//!
//! [`CallTasks`] is for clients, which wait for the end of a task as for any other result.
//!
//! <https://github.com/modelcontextprotocol/ext-tasks>

#![cfg_attr(docsrs, feature(doc_cfg))]

mod answers;
mod client;
mod context;
mod core;
mod error;
pub mod internal;
mod record;
mod run;
mod shared;
mod store;
mod task;
mod watch;

pub use self::client::{CallTasks, TaskError, TaskHandle, ToolAnswer};
pub use self::context::TaskContext;
pub use self::record::TaskRecord;
pub use self::run::ToolTask;
pub use self::shared::{StoreFuture, TaskMessage, TaskStore};
pub use self::store::{TaskLimits, Tasks};
