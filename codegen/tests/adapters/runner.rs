//! Translates lines `{"way": "up" or "down", "type": …, "value": …, "carry": …, "supply": …}` and
//! `{"way": …, "method": …, "error": …, "carry": …}`, and says what became of each.

use mcp_adapters::mcp_wire::{ErrorObject, OpenJson};
use mcp_adapters::{Conversion, Loss, Policy, Revision, Supply, translate, translate_error};
use serde_json::{Value, json};

fn main() {
    for line in std::io::stdin().lines() {
        let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let [earlier, later] = Revision::ALL;
        let (from, to) = if line["way"] == "up" {
            (earlier, later)
        } else {
            (later, earlier)
        };
        let policy = if line["carry"] == true {
            Policy::Carry
        } else {
            Policy::Conform
        };
        let written = |losses: &[Loss]| {
            let losses = losses.iter();
            let losses = losses.map(|loss| json!([loss.path.to_string(), loss.kind.to_string(), loss.rule]));
            losses.collect::<Vec<_>>()
        };
        if line["error"].is_object() {
            let error: ErrorObject = OpenJson::from(&line["error"]).decode_as().expect("an error");
            let (error, losses) = translate_error(from, to, line["method"].as_str(), error, policy);
            println!("{}", json!({"error": error, "losses": written(&losses)}));
            continue;
        }
        let mut conversion = Conversion::new(policy);
        if let Some(supply) = line["supply"].as_object() {
            let supply = supply.iter().map(|(key, value)| (key.clone(), OpenJson::from(value)));
            conversion = conversion.supplied_with(supply.collect::<Supply>());
        }
        let name = line["type"].as_str().expect("a type");
        let answer = match translate(from, to, name, line["value"].to_string().as_bytes(), conversion) {
            Ok(translation) => {
                json!({
                    "type": translation.definition,
                    "value": serde_json::from_str::<Value>(translation.value.text()).expect("JSON"),
                    "losses": written(&translation.losses),
                    "supply": translation.supply,
                })
            }
            Err(error) => json!({"code": error.code(), "path": error.path().to_string(), "error": error.reason()}),
        };
        println!("{answer}");
    }
}
