//! Paths of values in an object, such as `annotations.title`, `outputs[audience=user].content` or `_meta["example.org/a"]`.

use std::collections::BTreeMap;

use serde::Serialize;

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Step {
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

/// Returns the steps of a path; `None` if it isn't one. A member is a name without dots and brackets, after a dot if it
/// isn't the first, or any name in brackets and quotation marks. An element, which isn't the last step, is its texts in
/// brackets.
pub(crate) fn steps(path: &str) -> Option<Vec<Step>> {
    let name = |text: &str| (!text.is_empty()).then(|| Step::Member(text.to_owned()));
    let before = |text: &str| text.find(SIGNS).unwrap_or(text.len());
    let (first, mut rest) = path.split_at(before(path));
    if first.is_empty() && !rest.starts_with(QUOTED[0]) {
        return None;
    }
    let mut steps: Vec<_> = name(first).into_iter().collect();
    while !rest.is_empty() {
        let step;
        (step, rest) = if let Some(after) = rest.strip_prefix('.') {
            let (inner, after) = after.split_at(before(after));
            (name(inner)?, after)
        } else if let Some(after) = rest.strip_prefix(QUOTED[0]) {
            let (inner, after) = after.split_once(QUOTED[1])?;
            (name(inner)?, after)
        } else {
            let (texts, after) = rest.strip_prefix('[')?.split_once(']')?;
            let texts = texts.split(',').map(|text| text.split_once('='));
            let texts = texts.map(|text| text.map(|(name, text)| (name.trim().to_owned(), text.trim().to_owned())));
            (Step::Element(texts.collect::<Option<_>>()?), after)
        };
        steps.push(step);
    }
    matches!(steps.last(), Some(Step::Member(_))).then_some(steps)
}

/// Returns the name in a path that is only a name, perhaps in brackets and quotation marks.
pub(super) fn only_name(path: &str) -> Option<&str> {
    let quoted = path
        .strip_prefix(QUOTED[0])
        .and_then(|rest| rest.strip_suffix(QUOTED[1]));
    let quoted = quoted.filter(|name| !name.contains(QUOTED[1]));
    quoted.or((!path.contains(SIGNS)).then_some(path))
}

/// A member of each element of a list: the path `content[].block`, or `inputs[{key}].request` if another member has the key
/// by which the other revision has this one in a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InElements<'p> {
    pub(crate) list: &'p str,
    pub(crate) key: Option<&'p str>,
    pub(crate) member: &'p str,
}

impl<'p> InElements<'p> {
    pub(crate) fn of(path: &'p str) -> Option<Self> {
        let ((list, key), member) = match path.split_once("[{") {
            Some((list, rest)) => {
                let (key, member) = rest.split_once("}].")?;
                ((list, Some(key)), member)
            }
            None => {
                let (list, member) = path.split_once("[].")?;
                ((list, None), member)
            }
        };
        Some(Self {
            list: only_name(list)?,
            key,
            member: only_name(member)?,
        })
    }
}

/// The signs that end a name without quotation marks.
const SIGNS: [char; 2] = ['.', '['];
/// The signs around other names.
const QUOTED: [&str; 2] = ["[\"", "\"]"];

/// The inverse of [`steps`].
pub(crate) fn text(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Member(name) if name.contains(SIGNS) => path.extend([QUOTED[0], name, QUOTED[1]]),
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
