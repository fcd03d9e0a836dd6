//! A server with `mcp-runtime` for notes in an SQLite database: tools that add, search and delete them, a resource for
//! each, and a prompt.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_runtime::router::{Call, ToolError, resource_template, tool};
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{Args, Options, Router, State, Structured, hub};
use rusqlite::{Connection, Params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, JsonSchema)]
struct Note {
    id: i64,
    title: String,
    text: String,
}

/// The database.
#[derive(Clone)]
struct Notes(Arc<Mutex<Connection>>);

impl Notes {
    fn open(path: &str) -> rusqlite::Result<Self> {
        let database = Connection::open(path)?;
        let columns = "id integer primary key, title text not null, text text not null";
        database.execute_batch(&format!("create table if not exists notes ({columns})"))?;
        Ok(Self(Arc::new(Mutex::new(database))))
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

#[derive(Deserialize, JsonSchema)]
struct NewNote {
    title: String,
    text: String,
}

fn add_note(
    State(notes): State<Notes>,
    Args(NewNote { title, text }): Args<NewNote>,
    call: Call,
) -> rusqlite::Result<Structured<Note>> {
    let database = notes.database();
    database.execute("insert into notes (title, text) values (?1, ?2)", [&title, &text])?;
    let id = database.last_insert_rowid();
    call.router().resources_changed();
    Ok(Structured(Note { id, title, text }))
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// What the title or the text contains.
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    notes: Vec<Note>,
}

fn search_notes(State(notes): State<Notes>, Args(query): Args<Query>) -> rusqlite::Result<Structured<Found>> {
    let notes = notes.containing(&query.text)?;
    Ok(Structured(Found { notes }))
}

#[derive(Deserialize, JsonSchema)]
struct NoteId {
    id: i64,
}

fn delete_note(
    State(notes): State<Notes>,
    Args(NoteId { id }): Args<NoteId>,
    call: Call,
) -> Result<&'static str, ToolError> {
    if notes.database().execute("delete from notes where id = ?1", [id])? == 0 {
        return Err(ToolError::tool(format!("there is no note {id}")));
    }
    call.router().resources_changed();
    Ok("deleted")
}

fn list(State(notes): State<Notes>) -> rusqlite::Result<Vec<hub::Resource>> {
    let resource =
        |note: Note| hub::Resource::new(note.title, format!("notes://{}", note.id)).with_mime_type("text/plain");
    Ok(notes.select("true", [])?.into_iter().map(resource).collect())
}

fn read(State(notes): State<Notes>, Args(NoteId { id }): Args<NoteId>) -> rusqlite::Result<Option<String>> {
    let note = notes.select("id = ?1", [id])?.pop();
    Ok(note.map(|note| note.text))
}

#[derive(Deserialize, JsonSchema)]
struct Topic {
    /// What the notes contain; all are summarized without it.
    topic: Option<String>,
}

fn summarize(State(notes): State<Notes>, Args(Topic { topic }): Args<Topic>) -> rusqlite::Result<String> {
    let notes = notes.containing(topic.as_deref().unwrap_or_default())?;
    let notes = notes
        .iter()
        .map(|note| format!("\n\n# {}\n\n{}", note.title, note.text));
    Ok(format!("Summarize these notes:{}", notes.collect::<String>()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the database")?;
    let note = hub::ResourceTemplate::new("note", "notes://{id}").with_mime_type("text/plain");
    let router = Router::new("notes", "1.0")
        .with_state(Notes::open(&path)?)
        .tool("add_note", "Adds a note", add_note)
        .with(tool("search_notes", "Finds the notes that contain a text", search_notes).read_only())
        .with(tool("delete_note", "Deletes a note", delete_note).destructive(true))
        .with(resource_template(note, read)?.list(list))
        .prompt("summarize", "Summarizes notes", summarize);
    router.serve(Options::default(), stdio()?).ended().await;
    Ok(())
}
