//! A server with rmcp that analyzes log files, whose lines have a level: it counts levels, and finds lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::Regex;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};

const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
const LINES_BETWEEN_REPORTS: u64 = 10_000;

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A log file that is being read, with reports of progress to the client.
struct Log {
    lines: Lines<BufReader<File>>,
    /// In bytes.
    size: u64,
    read: u64,
    /// The number of the last line.
    line: u64,
    context: RequestContext<RoleServer>,
}

impl Log {
    async fn open(path: PathBuf, context: RequestContext<RoleServer>) -> std::io::Result<Self> {
        let file = File::open(path).await?;
        Ok(Self {
            size: file.metadata().await?.len(),
            lines: BufReader::new(file).lines(),
            read: 0,
            line: 0,
            context,
        })
    }

    async fn next(&mut self) -> Result<Option<String>, String> {
        let line = tokio::select! {
            line = self.lines.next_line() => line.map_err(message)?,
            () = self.context.ct.cancelled() => return Err("cancelled".to_owned()),
        };
        let Some(line) = line else { return Ok(None) };
        self.line += 1;
        self.read += line.len() as u64 + 1;
        if self.line.is_multiple_of(LINES_BETWEEN_REPORTS)
            && let Some(token) = self.context.meta.get_progress_token()
        {
            let (read, size) = (self.read as f64, self.size as f64);
            let params = ProgressNotificationParam::new(token, read).with_total(size);
            self.context.peer.notify_progress(params).await.map_err(message)?;
        }
        Ok(Some(line))
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct LogFile {
    path: PathBuf,
}

#[derive(Serialize, schemars::JsonSchema, Default)]
struct Counted {
    lines: u64,
    levels: BTreeMap<String, u64>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Search {
    path: PathBuf,
    /// A regular expression.
    pattern: String,
    /// How many lines are wanted.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default = "hundred")]
    limit: usize,
    /// The `next` of the previous page.
    after: Option<u64>,
}

fn hundred() -> usize {
    100
}

#[derive(Serialize, schemars::JsonSchema, Default)]
struct Page {
    lines: Vec<Line>,
    /// The `after` of the next page, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Line {
    number: u64,
    text: String,
}

#[derive(Clone)]
struct Logs;

#[tool_router]
impl Logs {
    #[tool(description = "Counts the lines of each level")]
    async fn count_levels(
        &self,
        Parameters(LogFile { path }): Parameters<LogFile>,
        context: RequestContext<RoleServer>,
    ) -> Result<Json<Counted>, String> {
        let mut log = Log::open(path, context).await.map_err(message)?;
        let mut counted = Counted::default();
        while let Some(line) = log.next().await? {
            counted.lines += 1;
            if let Some(level) = LEVELS.iter().find(|level| line.contains(*level)) {
                *counted.levels.entry((*level).to_owned()).or_default() += 1;
            }
        }
        Ok(Json(counted))
    }

    #[tool(description = "Finds lines by a regular expression")]
    async fn search(
        &self,
        Parameters(search): Parameters<Search>,
        context: RequestContext<RoleServer>,
    ) -> Result<Json<Page>, String> {
        let pattern = Regex::new(&search.pattern).map_err(message)?;
        if !(1..=1000).contains(&search.limit) {
            return Err("the limit is from 1 to 1000".to_owned());
        }
        let mut log = Log::open(search.path, context).await.map_err(message)?;
        let mut page = Page::default();
        while let Some(text) = log.next().await? {
            if Some(log.line) <= search.after || !pattern.is_match(&text) {
                continue;
            }
            page.lines.push(Line { number: log.line, text });
            if page.lines.len() == search.limit {
                page.next = Some(log.line);
                break;
            }
        }
        Ok(Json(page))
    }
}

#[tool_handler(name = "logs", version = "1.0")]
impl ServerHandler for Logs {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Logs.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
