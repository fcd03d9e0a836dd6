//! Rust names.

use std::collections::BTreeMap;

use heck::ToUpperCamelCase;

use super::decide::{Decision, single_tags};
use super::type_ref::TypeRef;
use mcp_json_schema::JsonType;

/// Converts official names to Rust type names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Names {
    /// The spelling of acronyms in Rust: `acronyms` of the manifest. The longest are first, because one acronym can contain
    /// another.
    acronyms: Vec<(String, String)>,
}

impl Names {
    /// Names with this spelling of acronyms.
    pub(crate) fn new(acronyms: BTreeMap<String, String>) -> Self {
        let mut acronyms = Vec::from_iter(acronyms);
        acronyms.sort_by_key(|(acronym, _)| std::cmp::Reverse(acronym.len()));
        Self { acronyms }
    }

    /// Returns the Rust type name for an official name.
    pub(crate) fn type_name(&self, official: &str) -> String {
        let mut spelt = official.to_owned();
        for (acronym, spelling) in &self.acronyms {
            spelt = spelt.replace(acronym.as_str(), spelling);
        }
        type_identifier(&spelt)
    }
}

/// Returns the Rust type name for an unnamed schema in a member of `parent`.
pub(super) fn member_name(parent: &str, member: &str) -> String {
    format!("{parent}{}", part(member))
}

/// Returns a text as a part of a name, in upper camel case.
fn part(text: &str) -> String {
    let camel = text.to_upper_camel_case();
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_ ./:".contains(c));
    if is_plain && !camel.is_empty() {
        camel
    } else {
        spelt_out(text).to_upper_camel_case()
    }
}

/// Spells out the special characters of a name, so that names which only differ in them stay different. Those that
/// separate words, as in `List<Tool>`, aren't spelt out.
///
/// Letters beyond ASCII are also spelt out, because rustc normalises them, and warns about many.
pub(crate) fn spelt_out(text: &str) -> String {
    let has_words = text.contains(|c: char| c.is_ascii_alphanumeric());
    let words: String = text
        .chars()
        .map(|character| match character {
            '$' => " dollar ".to_owned(),
            '+' => " plus ".to_owned(),
            '-' | '_' | ' ' | '.' | '/' | ':' => " ".to_owned(),
            c if c.is_ascii_alphanumeric() => c.to_string(),
            c if c.is_ascii_punctuation() && has_words => " ".to_owned(),
            c => format!(" u{:x} ", c as u32),
        })
        .collect();
    let words = words.trim();
    match words.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_alphabetic() => words.to_owned(),
        Some(_) => format!("value {words}"),
    }
}

/// Returns a text as a part of an identifier: every character other than ASCII letters and digits becomes `_`.
pub(crate) fn identifier_part(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(allowed).collect()
}

/// Returns a text as an identifier in upper camel case.
fn type_identifier(text: &str) -> String {
    let camel = part(text);
    let starts_well = camel.starts_with(|c: char| c.is_ascii_alphabetic());
    let name = if starts_well { camel } else { format!("Type{camel}") };
    unreserved(&name).to_owned()
}

/// Whether a name is valid for a type.
pub(super) fn is_type_name(name: &str) -> bool {
    name == type_identifier(name)
}

/// Replaces `Self`, the only keyword in upper camel case, which can't be escaped.
fn unreserved(name: &str) -> &str {
    if name == "Self" { "SelfType" } else { name }
}

/// Returns `wanted`, or the first of `wanted2`, `wanted3`, … that isn't taken.
pub(crate) fn unique(wanted: &str, mut taken: impl FnMut(&str) -> bool) -> String {
    if !taken(wanted) {
        return wanted.to_owned();
    }
    (2_u32..)
        .map(|number| format!("{wanted}{number}"))
        .find(|name| !taken(name))
        .unwrap_or_else(|| wanted.to_owned())
}

/// Returns the names of a union's variants: the names of their types without the common prefix and suffix, or their
/// tags.
pub(crate) fn variant_names(types: &[TypeRef], kinds: &[JsonType], objects: Option<&Decision>) -> Vec<String> {
    let named: Vec<&str> = types.iter().filter_map(TypeRef::as_named).collect();
    let (prefix, suffix) = common_words(&named);
    let tags = match objects {
        Some(Decision::Tag { types: None, cases, .. }) if prefix + suffix == 0 => single_tags(cases),
        _ => BTreeMap::new(),
    };
    let mut names: Vec<String> = Vec::new();
    for (index, (ty, kind)) in types.iter().zip(kinds).enumerate() {
        let wanted = match (ty, tags.get(&index)) {
            (_, Some(tag)) => type_identifier(tag),
            (TypeRef::Named(name), None) => unreserved(&name[prefix..name.len() - suffix]).to_owned(),
            (TypeRef::Integer, None) => "Integer".to_owned(),
            (TypeRef::Any, None) => "Json".to_owned(),
            (_, None) if *kind == JsonType::Array => "List".to_owned(),
            (_, None) => kind.name().to_upper_camel_case(),
        };
        names.push(unique(&wanted, |name| {
            name == UNKNOWN || names.iter().any(|other| other == name)
        }));
    }
    names
}

/// The name of the variant for values that later revisions add.
pub(crate) const UNKNOWN: &str = "Unknown";

/// Returns the length of the common prefix and suffix of several names, in whole words.
fn common_words(names: &[&str]) -> (usize, usize) {
    let mut words: Vec<Vec<&str>> = names.iter().map(|name| words(name)).collect();
    let prefix = common_start(&words);
    words.iter_mut().for_each(|words| words.reverse());
    let suffix = common_start(&words);
    // The rest of each name must be a valid name.
    let leaves_name = |name: &&str| {
        let rest = name.get(prefix..name.len().saturating_sub(suffix));
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()))
    };
    let leaves_names = names.iter().all(leaves_name);
    if leaves_names { (prefix, suffix) } else { (0, 0) }
}

/// Returns the length of the words that all names start with.
fn common_start(names: &[Vec<&str>]) -> usize {
    let words = names.first().into_iter().flatten().enumerate();
    let common = words.take_while(|(index, word)| names.iter().all(|name| name.get(*index) == Some(*word)));
    common.map(|(_, word)| word.len()).sum()
}

/// Splits a name in upper camel case into words.
fn words(name: &str) -> Vec<&str> {
    let inner = name.char_indices().skip(1).filter(|(_, c)| c.is_uppercase());
    let bounds: Vec<usize> = std::iter::once(0)
        .chain(inner.map(|(at, _)| at))
        .chain([name.len()])
        .collect();
    bounds.windows(2).map(|word| &name[word[0]..word[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acronyms_are_spelt_as_words() {
        let acronyms = [("JSONRPC", "JsonRpc"), ("URL", "Url")];
        let names = Names::new(acronyms.map(|(a, b)| (a.to_owned(), b.to_owned())).into());
        assert_eq!(names.type_name("JSONRPCMessage"), "JsonRpcMessage");
        assert_eq!(names.type_name("ElicitRequestURLParams"), "ElicitRequestUrlParams");
    }

    #[test]
    fn any_text_becomes_an_identifier() {
        let names = Names::default();
        for (text, name) in [
            ("$schema", "DollarSchema"),
            ("", "Value"),
            ("3d", "Type3d"),
            ("a$b", "ADollarB"),
            ("self", "SelfType"),
            ("§", "Ua7"),
            ("<=", "U3cU3d"),
            ("Page<Record<\"a\"|string,Tool[]>>", "PageRecordAStringTool"),
        ] {
            assert_eq!(names.type_name(text), name, "{text:?}");
        }
    }
}
