//! Translates lines `{"way": "up" or "down", "type": …, "value": …, "carry": …, "supply": …}` and says what became of each.

use mcp_adapters::mcp_wire::OpenJson;
use mcp_adapters::{Conversion, Policy, Revision, translate};
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
        let mut conversion = Conversion::new(policy);
        if let Some(supply) = line["supply"].as_object() {
            let supply = supply.iter().map(|(key, value)| (key.clone(), OpenJson::from(value)));
            conversion = conversion.supplied_with(supply.collect());
        }
        let name = line["type"].as_str().expect("a type");
        let answer = match translate(from, to, name, line["value"].to_string().as_bytes(), conversion) {
            Ok(translation) => {
                let losses = translation.losses.iter();
                let losses = losses.map(|loss| json!([loss.path.to_string(), loss.kind.to_string(), loss.rule]));
                json!({
                    "type": translation.definition,
                    "value": serde_json::from_str::<Value>(translation.value.text()).expect("JSON"),
                    "losses": losses.collect::<Vec<_>>(),
                    "supply": translation.supply,
                })
            }
            Err(error) => json!({"code": error.code(), "path": error.path().to_string(), "error": error.reason()}),
        };
        println!("{answer}");
    }
}
