//! The rows of a revision's table: what the conversions from and to the previous revision do beyond what the types
//! imply. `mcp_convert` documents and reads them.

use serde_json::{Value, json};

use super::rules::{Action, Conditions, Refuse};

/// The row of a pair of types: its section of the table, and its JSON. `None` if the types imply the conversion.
pub(crate) type Row = Option<(&'static str, Value)>;

/// An action on the value of a member beyond its conversion: its key in the member's row, and its JSON.
pub(super) type RowAction = (&'static str, Value);

/// Returns the JSON of a refusal, with the rule's name in errors.
pub(super) fn refusal(refuse: &Refuse, rule: &str) -> Value {
    let mut row = json!(refuse);
    row["rule"] = json!(rule);
    row
}

impl Action {
    /// Returns the row's action, with the rule's name in losses; `None` if it isn't for the value of a member.
    pub(super) fn row(&self, rule: &str) -> Option<RowAction> {
        let conditions = |when: &Conditions| {
            let conditions = when.iter().map(|(path, text)| json!([split(path), text]));
            Value::from_iter(conditions)
        };
        Some(match self {
            Self::Copy(path) => ("copy", json!({"to": split(path), "rule": rule})),
            Self::Drop(_) => ("drop", json!(rule)),
            Self::Ensure { list, item } => ("ensure", json!({"list": list, "item": item.to_string(), "rule": rule})),
            Self::Hide(when) => ("hide", json!({"when": conditions(when), "rule": rule})),
            Self::OmitUnlessIn(member) => ("omit", json!({"unless": member, "rule": rule})),
            Self::Refuse(refuse) => ("refuse", refusal(refuse, rule)),
            Self::SplitBy(member) => ("split", json!({"by": member, "rule": rule})),
            Self::Join {
                when,
                text,
                with,
                item,
                otherwise,
            } => {
                let mut row = refusal(otherwise, rule);
                row["when"] = conditions(when);
                row["member"] = json!(text);
                row["with"] = json!(with);
                row["item"] = json!(item.to_string());
                ("join", row)
            }
            Self::Without { members, or_drop } => {
                let mut row = json!(or_drop);
                row["members"] = json!(members);
                row["rule"] = json!(rule);
                ("without", row)
            }
            Self::Default(_) | Self::DropInvalid(_) | Self::Replace(_) => return None,
        })
    }
}

/// The steps of a path such as `annotations.title`.
pub(super) fn split(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}
