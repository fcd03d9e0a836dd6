//! A server with `mcp-runtime` that analyzes log files, whose lines have a level: it counts levels, and finds lines.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use mcp_runtime::router::ProgressReporter;
use mcp_runtime::transport::stdio::stdio;
use mcp_runtime::{Args, Options, Router, Structured, ToolError};
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};

const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
const LINES_BETWEEN_REPORTS: u64 = 10_000;

/// A log file that is being read, with reports of progress to the client.
struct Log {
    lines: Lines<BufReader<File>>,
    /// In bytes.
    size: u64,
    read: u64,
    /// The number of the last line.
    line: u64,
    progress: ProgressReporter,
}

impl Log {
    async fn open(path: PathBuf, progress: ProgressReporter) -> io::Result<Self> {
        let file = File::open(path).await?;
        Ok(Self {
            size: file.metadata().await?.len(),
            lines: BufReader::new(file).lines(),
            read: 0,
            line: 0,
            progress,
        })
    }

    async fn next(&mut self) -> Result<Option<String>, ToolError> {
        let Some(line) = self.lines.next_line().await? else {
            return Ok(None);
        };
        self.line += 1;
        self.read += line.len() as u64 + 1;
        if self.line.is_multiple_of(LINES_BETWEEN_REPORTS) {
            let (read, size) = (self.read as f64, self.size as f64);
            self.progress.report(read, Some(size), None).await?;
        }
        Ok(Some(line))
    }
}

#[derive(Deserialize, JsonSchema)]
struct LogFile {
    path: PathBuf,
}

#[derive(Serialize, JsonSchema, Default)]
struct Counted {
    lines: u64,
    levels: BTreeMap<String, u64>,
}

async fn count_levels(
    Args(LogFile { path }): Args<LogFile>,
    progress: ProgressReporter,
) -> Result<Structured<Counted>, ToolError> {
    let mut log = Log::open(path, progress).await?;
    let mut counted = Counted::default();
    while let Some(line) = log.next().await? {
        counted.lines += 1;
        if let Some(level) = LEVELS.iter().find(|level| line.contains(*level)) {
            *counted.levels.entry((*level).to_owned()).or_default() += 1;
        }
    }
    Ok(Structured(counted))
}

#[derive(Deserialize, JsonSchema)]
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

#[derive(Serialize, JsonSchema, Default)]
struct Page {
    lines: Vec<Line>,
    /// The `after` of the next page, if there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    number: u64,
    text: String,
}

async fn search(Args(search): Args<Search>, progress: ProgressReporter) -> Result<Structured<Page>, ToolError> {
    let pattern = Regex::new(&search.pattern)?;
    let mut log = Log::open(search.path, progress).await?;
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
    Ok(Structured(page))
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let router = Router::new("logs", "1.0")
        .tool("count_levels", "Counts the lines of each level", count_levels)
        .tool("search", "Finds lines by a regular expression", search);
    router.serve(Options::default(), stdio()?).ended().await;
    Ok(())
}
