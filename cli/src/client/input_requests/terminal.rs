//! Input requests on the terminal.

use std::io::{self, BufRead, Write};

use mcp_adapters::mcp_wire::RawJson;
use mcp_runtime::hub::{CreateMessageRequestParams, ElicitRequestParams, SamplingContent};
use serde_json::{Value, json};

use super::form::{Answer, fill_in, read_line};
use crate::plain::plain;

/// Asks the user for the input that an elicitation requests, and returns its result.
pub fn elicit(params: &ElicitRequestParams, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Value> {
    let answer = match params {
        ElicitRequestParams::Form(form) => {
            writeln!(output, "The server asks: {}", plain(&form.message))?;
            fill_in(&form.requested_schema, input, output)?
        }
        ElicitRequestParams::Url(url) => {
            writeln!(output, "The server asks: {}", plain(&url.message))?;
            writeln!(output, "It wants you to visit {}", plain(&url.url))?;
            confirm("Have you agreed to do so?", input, output)?
        }
        ElicitRequestParams::Unknown(params) => {
            let params = plain(params.text());
            writeln!(
                output,
                "The server asks in a way that this program doesn't know: {params}"
            )?;
            Answer::Decline
        }
    };
    Ok(match answer {
        Answer::Accept(None) => json!({"action": "accept"}),
        Answer::Accept(Some(content)) => json!({"action": "accept", "content": content}),
        Answer::Decline => json!({"action": "decline"}),
        Answer::Cancel => json!({"action": "cancel"}),
    })
}

/// Asks for the message that a model would make; `None` if the user declines.
pub fn create_message(
    params: &CreateMessageRequestParams,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<String>> {
    writeln!(output, "The server asks for a message of a model:")?;
    if let Some(prompt) = &params.system_prompt {
        writeln!(output, "  system: {}", plain(prompt))?;
    }
    for message in &params.messages {
        let content = match &message.content {
            SamplingContent::Text(content) => content.text.clone(),
            other => RawJson::from_serialize(other)?.text().to_owned(),
        };
        writeln!(output, "  {}: {}", message.role, plain(&content))?;
    }
    writeln!(
        output,
        "Type the answer and end it with an empty line; an empty answer declines."
    )?;
    let mut lines = Vec::new();
    while let Some(line) = read_line("> ", input, output)?.filter(|line| !line.is_empty()) {
        lines.push(line);
    }
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

fn confirm(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Answer> {
    loop {
        let Some(line) = read_line(&format!("{question} [y/n] "), input, output)? else {
            return Ok(Answer::Cancel);
        };
        match line.as_str() {
            "y" | "yes" => return Ok(Answer::Accept(None)),
            "n" | "no" => return Ok(Answer::Decline),
            _ => writeln!(output, "  y or n, please")?,
        }
    }
}
