//! Converts the lines of a case and returns the outcome of each. Lines are values `{"way": "up" or "down", "type": …,
//! "value": …, "carry": …, "supply": …}`, errors `{"way": …, "method": …, "error": …, "carry": …}`, and results
//! `{"way": "down", "role": …, "result": …, "value": …}`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use mcp_codegen::RevisionTable;
use mcp_convert::peers::push_result;
use mcp_convert::{
    Conversion, Loss, Policy, Protocol, ProtocolRevision, Role, Supply, TableSource, translate, translate_error,
};
use mcp_wire::{ErrorObject, RawJson, Schema};
use serde_json::{Value, json};

thread_local! {
    static PROTOCOL: Cell<Option<&'static Protocol>> = const { Cell::new(None) };
}

/// A revision, by its position in the protocol of this thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Revision(usize);

impl ProtocolRevision for Revision {
    const HUB: Self = Self(1);

    fn protocol() -> &'static Protocol {
        PROTOCOL.get().expect("`run` has set the protocol")
    }

    fn index(self) -> usize {
        self.0
    }

    fn at(index: usize) -> Self {
        Self(index)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns a protocol with these revisions. It is leaked, because the engine needs a `'static` protocol.
pub fn protocol(tables: Vec<RevisionTable>) -> &'static Protocol {
    let sources = tables.into_iter().enumerate().map(|(index, made)| {
        let schema = Schema::new(made.revision.leak(), made.schema.leak());
        TableSource {
            index,
            revision: schema.revision(),
            table: made.table.leak(),
            schema: Box::leak(Box::new(schema)),
        }
    });
    let sources = sources.collect::<Vec<_>>().leak();
    Box::leak(Box::new(Protocol::new(sources)))
}

/// Converts each line and returns its outcome.
pub fn run(protocol: &'static Protocol, lines: &[Value]) -> Vec<Value> {
    PROTOCOL.set(Some(protocol));
    lines.iter().map(answer).collect()
}

fn answer(line: &Value) -> Value {
    let (earlier, later) = (Revision(0), Revision(1));
    let (from, to) = match line["way"] == "up" {
        true => (earlier, later),
        false => (later, earlier),
    };
    let policy = match line["carry"] == true {
        true => Policy::Carry,
        false => Policy::Conform,
    };
    let written = |losses: &[Loss]| {
        let losses = losses.iter();
        let losses = losses.map(|loss| json!([loss.path.to_string(), loss.kind.to_string(), loss.rule]));
        losses.collect::<Vec<_>>()
    };
    if line["error"].is_object() {
        let error: ErrorObject = RawJson::from(&line["error"]).decode_as().expect("an error");
        let (error, losses) = translate_error(from, to, line["method"].as_str(), error, policy);
        return json!({"error": error, "losses": written(&losses)});
    }
    let mut conversion = Conversion::new(policy);
    if let Some(supply) = line["supply"].as_object() {
        let supply = supply.iter().map(|(key, value)| (key.clone(), RawJson::from(value)));
        conversion = conversion.supplied_with(supply.collect::<Supply>());
    }
    if let Some(result) = line["result"].as_str() {
        let role = match line["role"] == "client" {
            true => Role::Client,
            false => Role::Server,
        };
        let (value, mut json) = (RawJson::from(&line["value"]), String::new());
        return match push_result(&mut json, to, role, Some(result), &value, conversion) {
            Ok(losses) => {
                let value: Value = serde_json::from_str(&json).expect("JSON");
                json!({"value": value, "losses": written(&losses)})
            }
            Err(error) => json!({"code": error.code(), "path": error.path().to_string(), "error": error.reason()}),
        };
    }
    let name = line["type"].as_str().expect("a type");
    match translate(from, to, name, line["value"].to_string().as_bytes(), conversion) {
        Ok(translation) => {
            json!({
                "type": translation.definition,
                "value": serde_json::from_str::<Value>(translation.value.text()).expect("JSON"),
                "losses": written(&translation.losses),
                "supply": translation.supply.as_ref().map(|supply| supply.iter().collect::<BTreeMap<_, _>>()),
            })
        }
        Err(error) => json!({"code": error.code(), "path": error.path().to_string(), "error": error.reason()}),
    }
}
