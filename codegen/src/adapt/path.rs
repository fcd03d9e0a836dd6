//! Paths of values in an object, such as `annotations.title` or `outputs[audience=user].content`.

use std::collections::BTreeMap;

use serde::Serialize;

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Step {
    Member(String),
    /// The first element of a list that has these texts in these members.
    Element(BTreeMap<String, String>),
}

impl Step {
    /// Whether the step is the member with this name.
    pub(super) fn is_member(&self, name: &str) -> bool {
        matches!(self, Self::Member(own) if own == name)
    }
}

/// Returns the steps of a path. `None` if it isn't one: names of members with dots between them, and the texts of an
/// element in brackets after a member that isn't the last.
pub(super) fn steps(path: &str) -> Option<Vec<Step>> {
    let (mut steps, mut rest) = (Vec::new(), path);
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        steps.push(Step::Member(name.to_owned()));
        if after.is_empty() {
            return Some(steps);
        }
        rest = match after.strip_prefix('[') {
            Some(after) => {
                let (texts, after) = after.split_once(']')?;
                let texts = texts.split(',').map(|text| text.split_once('='));
                let texts = texts.map(|text| text.map(|(name, text)| (name.trim().to_owned(), text.trim().to_owned())));
                steps.push(Step::Element(texts.collect::<Option<_>>()?));
                after
            }
            None => after,
        };
        rest = rest.strip_prefix('.')?;
    }
}

/// The inverse of [`steps`].
pub(super) fn text(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Member(name) if path.is_empty() => path.push_str(name),
            Step::Member(name) => path.extend([".", name]),
            Step::Element(texts) => {
                let texts: Vec<_> = texts.iter().map(|(name, text)| format!("{name}={text}")).collect();
                path.push_str(&format!("[{}]", texts.join(",")));
            }
        }
    }
    path
}
