//! Answers to a server's input requests: from a file, or from the user on the terminal.

mod answers;
mod form;
mod terminal;

use std::fmt::Display;
use std::io::{self, IsTerminal};
use std::path::Path;

use mcp_adapters::mcp_wire::{Decode, ErrorObject, error_code, from_str};
use mcp_runtime::hub::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitResultAction,
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use self::answers::Answers;
use crate::error::CommandError;
use crate::paint::{Output, errors};
use crate::status::Hold;
use crate::text::{one_line, say};

/// The error code for a sampling request that the user declines.
const DECLINED: i64 = -1;

/// The source of answers to input requests.
pub enum Respondent {
    File(Mutex<Answers>),
    /// The user, who gets one request at a time.
    User(Mutex<()>),
    Nobody,
}

impl Respondent {
    pub fn from_file(file: &Path) -> Result<Self, CommandError> {
        let answers = Answers::read(file).map_err(|reason| CommandError::file(file, reason))?;
        Ok(Self::File(Mutex::new(answers)))
    }

    /// The user if there is a terminal, otherwise nobody.
    pub fn terminal() -> Self {
        match io::stdin().is_terminal() {
            true => Self::User(Mutex::new(())),
            false => Self::Nobody,
        }
    }

    pub async fn elicit(&self, params: ElicitRequestParams) -> Result<ElicitResult, ErrorObject> {
        let message = match &params {
            ElicitRequestParams::Form(form) => one_line(&form.message),
            ElicitRequestParams::Url(url) => one_line(&url.message),
            ElicitRequestParams::Unknown(params) => one_line(params.text()),
        };
        let answer = match self {
            Self::File(answers) => answers.lock().await.elicitation.pop_front(),
            Self::User(turn) => {
                let _turn = turn.lock().await;
                Some(ask(move |input, output| terminal::elicit(&params, input, output)).await?)
            }
            Self::Nobody => None,
        };
        match answer {
            Some(answer) => decode(&answer),
            None => {
                self.decline(&message);
                Ok(ElicitResult::new(ElicitResultAction::Decline))
            }
        }
    }

    pub async fn create_message(&self, params: CreateMessageRequestParams) -> Result<CreateMessageResult, ErrorObject> {
        let answer = match self {
            Self::File(answers) => answers.lock().await.sampling.pop_front(),
            Self::User(turn) => {
                let _turn = turn.lock().await;
                ask(move |input, output| terminal::create_message(&params, input, output)).await?
            }
            Self::Nobody => None,
        };
        // The user has seen the request.
        if answer.is_none() && !matches!(self, Self::User(_)) {
            self.decline("a message of a model");
        }
        match answer {
            Some(text) => decode(&json!({
                "role": "assistant",
                "model": "mcp-rev",
                "content": {"type": "text", "text": text},
            })),
            None => Err(ErrorObject::new(DECLINED, "the user declines to answer")),
        }
    }

    /// Shows the user a request that is declined.
    fn decline(&self, what: &str) {
        let reason = match self {
            Self::File(_) => "the file of --answers has no further answer to such a request",
            Self::User(_) | Self::Nobody => "run in a terminal to answer, or give answers with --answers FILE",
        };
        say(&format!("[declined] the server asks: {what}\n[declined] {reason}"));
    }
}

/// Asks the user on another thread, so that the session continues.
async fn ask<T: Send + 'static>(
    question: impl FnOnce(&mut io::StdinLock<'static>, &mut Output<io::Stderr>) -> io::Result<T> + Send + 'static,
) -> Result<T, ErrorObject> {
    let asked = tokio::task::spawn_blocking(|| {
        let _hold = Hold::new();
        question(&mut io::stdin().lock(), &mut errors())
    });
    asked.await.map_err(failed)?.map_err(failed)
}

fn decode<T: Decode>(answer: &Value) -> Result<T, ErrorObject> {
    let decoded = from_str(&answer.to_string());
    decoded.map_err(|error| failed(format!("the answer can't be sent: {error}")))
}

fn failed(reason: impl Display) -> ErrorObject {
    ErrorObject::new(error_code::INTERNAL_ERROR, reason.to_string())
}
