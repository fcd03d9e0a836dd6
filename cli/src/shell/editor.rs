//! Input of lines: with completion and history on a terminal, and as they are elsewhere.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config};

use super::completion::Completion;
use crate::client::data_file;
use crate::error::CommandError;

/// The maximum number of lines in the history.
const HISTORY: usize = 1000;

/// A line editor.
pub struct Editor {
    inner: rustyline::Editor<Completion, FileHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    /// An editor with its history in this file, or by default in the user's data directory.
    pub fn new(completion: Completion, history: Option<&Path>) -> Result<Self, CommandError> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .auto_add_history(true)
            .build();
        let mut inner = rustyline::Editor::with_config(config).map_err(failed)?;
        inner.set_max_history_size(HISTORY).map_err(failed)?;
        inner.set_helper(Some(completion));
        let history = history.map(Path::to_owned).or_else(|| data_file("history"));
        if let Some(file) = history.as_deref().filter(|file| file.exists()) {
            inner
                .load_history(file)
                .map_err(|error| CommandError::file(file, error))?;
        }
        Ok(Self { inner, history })
    }

    /// Reads the next line; `None` at the end of input, and an error if it isn't text. The session continues while it
    /// waits.
    pub async fn read(mut self) -> Result<(Self, Option<Result<String, String>>), CommandError> {
        let read = tokio::task::spawn_blocking(move || {
            let line = self.inner.readline("> ");
            (self, line)
        });
        let (mut editor, line) = read.await.map_err(std::io::Error::other)?;
        match line {
            Ok(line) => {
                editor.keep();
                Ok((editor, Some(Ok(line))))
            }
            Err(ReadlineError::Eof) => Ok((editor, None)),
            Err(ReadlineError::Interrupted) => Ok((editor, Some(Ok(String::new())))),
            Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                Ok((editor, Some(Err("error: it isn't UTF-8".to_owned()))))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes the history. If that fails, the shell continues without one.
    fn keep(&mut self) {
        let Some(file) = &self.history else { return };
        let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = written
            .map_err(ReadlineError::from)
            .and_then(|()| self.inner.append_history(file))
        {
            tracing::warn!(%error, file = %file.display(), "the history can't be written");
            self.history = None;
        }
    }
}

fn failed(error: ReadlineError) -> CommandError {
    CommandError::Io(std::io::Error::other(error))
}
