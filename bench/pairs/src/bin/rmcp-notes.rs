//! A server with rmcp for notes in an SQLite database: tools that add, search and delete them, a resource for each, and
//! a prompt.

use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    ErrorData, Implementation, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    Role, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{
    RoleServer, ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router, schemars, tool, tool_handler,
    tool_router,
};
use rusqlite::{Connection, Params};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::watch;

#[derive(Serialize, schemars::JsonSchema)]
struct Note {
    id: i64,
    title: String,
    text: String,
}

#[derive(Clone)]
struct Notes {
    database: Arc<Mutex<Connection>>,
    /// Signals that the list has changed.
    changes: watch::Sender<()>,
}

impl Notes {
    fn open(path: &str) -> rusqlite::Result<Self> {
        let database = Connection::open(path)?;
        let columns = "id integer primary key, title text not null, text text not null";
        database.execute_batch(&format!("create table if not exists notes ({columns})"))?;
        Ok(Self {
            database: Arc::new(Mutex::new(database)),
            changes: watch::Sender::default(),
        })
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn select(&self, condition: &str, values: impl Params) -> rusqlite::Result<Vec<Note>> {
        let database = self.database();
        let mut rows = database.prepare(&format!(
            "select id, title, text from notes where {condition} order by id"
        ))?;
        let notes = rows.query_map(values, |row| {
            Ok(Note {
                id: row.get(0)?,
                title: row.get(1)?,
                text: row.get(2)?,
            })
        });
        notes?.collect()
    }

    fn containing(&self, text: &str) -> rusqlite::Result<Vec<Note>> {
        self.select("instr(title || ' ' || text, ?1)", [text])
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct NewNote {
    title: String,
    text: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Query {
    /// What the title or the text contains.
    text: String,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Found {
    notes: Vec<Note>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct NoteId {
    id: i64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Topic {
    /// What the notes contain; all are summarized without it.
    topic: Option<String>,
}

fn message(error: impl Display) -> String {
    error.to_string()
}

fn internal(error: impl Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tool_router]
impl Notes {
    #[tool(description = "Adds a note")]
    fn add_note(&self, Parameters(NewNote { title, text }): Parameters<NewNote>) -> Result<Json<Note>, String> {
        let database = self.database();
        let inserted = database.execute("insert into notes (title, text) values (?1, ?2)", [&title, &text]);
        inserted.map_err(message)?;
        let id = database.last_insert_rowid();
        self.changes.send_replace(());
        Ok(Json(Note { id, title, text }))
    }

    #[tool(
        description = "Finds the notes that contain a text",
        annotations(read_only_hint = true)
    )]
    fn search_notes(&self, Parameters(query): Parameters<Query>) -> Result<Json<Found>, String> {
        let notes = self.containing(&query.text).map_err(message)?;
        Ok(Json(Found { notes }))
    }

    #[tool(description = "Deletes a note", annotations(destructive_hint = true))]
    fn delete_note(&self, Parameters(NoteId { id }): Parameters<NoteId>) -> Result<String, String> {
        let deleted = self.database().execute("delete from notes where id = ?1", [id]);
        if deleted.map_err(message)? == 0 {
            return Err(format!("there is no note {id}"));
        }
        self.changes.send_replace(());
        Ok("deleted".to_owned())
    }
}

#[prompt_router]
impl Notes {
    #[prompt(description = "Summarizes notes")]
    fn summarize(&self, Parameters(Topic { topic }): Parameters<Topic>) -> Result<Vec<PromptMessage>, ErrorData> {
        let notes = self
            .containing(topic.as_deref().unwrap_or_default())
            .map_err(internal)?;
        let notes = notes
            .iter()
            .map(|note| format!("\n\n# {}\n\n{}", note.title, note.text));
        let text = format!("Summarize these notes:{}", notes.collect::<String>());
        Ok(vec![PromptMessage::new_text(Role::User, text)])
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("notes", "1.0"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource =
            |note: Note| Resource::new(format!("notes://{}", note.id), note.title).with_mime_type("text/plain");
        let notes = self.select("true", []).map_err(internal)?;
        Ok(ListResourcesResult::with_all_items(
            notes.into_iter().map(resource).collect(),
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let note = ResourceTemplate::new("notes://{id}", "note").with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![note]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri;
        let unknown = || ErrorData::resource_not_found("Resource not found", Some(json!({"uri": uri})));
        let id = uri.strip_prefix("notes://").and_then(|id| id.parse().ok());
        let id: i64 = id.ok_or_else(unknown)?;
        let note = self.select("id = ?1", [id]).map_err(internal)?.pop();
        let note = note.ok_or_else(unknown)?;
        let contents = ResourceContents::text(note.text, uri).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.changes.subscribe();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                if context.peer.notify_resource_list_changed().await.is_err() {
                    break;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().resources_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() || subscription.sink().notify_resource_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the database")?;
    let notes = Notes::open(&path)?;
    notes.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
