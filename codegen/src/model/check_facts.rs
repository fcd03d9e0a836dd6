//! What is wrong with the facts of a revision: names of headers, statuses, and methods and members that there aren't.

use std::collections::BTreeMap;

use mcp_wire::json_schema::pointer;

use super::method::Method;
use super::type_ref::TypeRef;
use super::types::{Model, Struct};
use crate::facts::{Facts, MirroredArguments, Mirrors};
use crate::normalise::envelope::MessageKind;
use crate::overlay::Overlay;
use crate::problem::Problem;

/// What is wrong with the facts of a model's revision, of which its overlay states some.
pub(super) fn wrong_facts(facts: &Facts, overlay: &Overlay, model: &Model) -> Vec<Problem> {
    let check = FactsCheck { overlay, model };
    let mut problems = Vec::new();
    for (name, header) in [
        ("version_header", &facts.version_header),
        ("session_header", &facts.session_header),
    ] {
        problems.extend(check.header(&["facts", name], header.as_ref().and_then(Option::as_deref)));
    }
    for (code, status) in facts.statuses.iter().flatten() {
        let at = ["facts", "statuses", &code.to_string()];
        let unknown =
            (!model.has_error_code(*code)).then(|| check.wrong(&at, format!("the revision has no error code {code}")));
        problems.extend(unknown.into_iter().chain(check.status(&at, Some(*status))));
    }
    for (index, error) in overlay.error_codes.iter().enumerate() {
        let at = ["error_codes", &index.to_string(), "status"];
        problems.extend(check.status(&at, error.status));
    }
    let mirrors = facts.mirrors.iter();
    problems.extend(mirrors.flat_map(|mirrors| check.mirrors(mirrors)));
    problems
}

/// The facts of a revision, while they are checked.
struct FactsCheck<'c> {
    overlay: &'c Overlay,
    model: &'c Model,
}

impl FactsCheck<'_> {
    fn wrong(&self, at: &[&str], what: String) -> Problem {
        let at = at.iter().fold("#".to_owned(), |at, name| pointer::child(&at, name));
        let help =
            "facts that an overlay leaves out are those of the revision before: correct this one, or state it again";
        self.overlay.problem(&at, what).help(help)
    }

    /// A name that can't be that of a header.
    fn header(&self, at: &[&str], header: Option<&str>) -> Option<Problem> {
        let header = header.filter(|header| !is_token(header))?;
        Some(self.wrong(at, format!("{header:?} can't be the name of a header")))
    }

    fn status(&self, at: &[&str], status: Option<u16>) -> Option<Problem> {
        let status = status.filter(|status| !(400..600).contains(status))?;
        Some(self.wrong(at, format!("{status} is no HTTP status of an error")))
    }

    fn request(&self, name: &str) -> Option<&Method> {
        let method = self.model.method(name);
        method.filter(|method| method.kind == MessageKind::Request)
    }

    /// A method that the revision doesn't have, or a parameter that it lacks.
    fn parameter(&self, at: &[&str], method: &str, parameter: &str) -> Option<Problem> {
        let Some(request) = self.request(method) else {
            return Some(self.wrong(at, format!("the revision has no request `{method}`")));
        };
        let is_declared = self.model.declares(&format!("{}.params.{parameter}", request.ty));
        (!is_declared).then(|| self.wrong(at, format!("`{method}` has no parameter `{parameter}`")))
    }

    fn mirrors(&self, mirrors: &Mirrors) -> Vec<Problem> {
        let mut problems = Vec::new();
        let at = ["facts", "mirrors"];
        problems.extend(self.header(&[&at[..], &["method"]].concat(), mirrors.method.as_deref()));
        for (header, methods) in &mirrors.params {
            let at = [&at[..], &["params", header]].concat();
            problems.extend(self.header(&at, Some(header)));
            for (method, parameter) in methods {
                problems.extend(self.parameter(&[&at[..], &[method]].concat(), method, parameter));
            }
        }
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for name in mirrors.method.iter().chain(mirrors.params.keys()) {
            *names.entry(name.to_ascii_lowercase()).or_default() += 1;
        }
        let twice = names.into_iter().filter(|(_, times)| *times > 1);
        problems.extend(twice.map(|(name, _)| self.wrong(&at, format!("two mirrors have the header `{name}`"))));
        let arguments = mirrors.arguments.iter();
        problems.extend(arguments.flat_map(|arguments| self.arguments(arguments)));
        problems
    }

    fn arguments(&self, arguments: &MirroredArguments) -> Vec<Problem> {
        let (call, list) = (&arguments.call, &arguments.list);
        let at = ["facts", "mirrors", "arguments"];
        let (at_call, at_list) = ([&at[..], &["call"]].concat(), [&at[..], &["list"]].concat());
        let mut problems = Vec::from_iter(self.header(&[&at[..], &["prefix"]].concat(), Some(&arguments.prefix)));
        for parameter in [&call.name, &call.arguments] {
            problems.extend(self.parameter(&at_call, &call.method, parameter));
        }
        problems.extend(self.parameter(&at_list, &list.method, &list.cursor));
        let Some(result) = self.request(&list.method).and_then(|request| request.results.first()) else {
            return problems;
        };
        let method = &list.method;
        let lacks = |object: Option<&Struct>, name: &String| member(object, name).is_none();
        let result = self.model.struct_of(result);
        for name in [&list.items, &list.next].into_iter().filter(|name| lacks(result, name)) {
            problems.push(self.wrong(&at_list, format!("the result of `{method}` has no member `{name}`")));
        }
        if let Some(items) = member(result, &list.items) {
            let item = match self.model.resolve(items) {
                TypeRef::List(item) => self.model.struct_of(item),
                _ => None,
            };
            for name in [&list.name, &list.schema].into_iter().filter(|name| lacks(item, name)) {
                let of = &list.items;
                problems.push(self.wrong(
                    &at_list,
                    format!("an element of `{of}` of `{method}` has no member `{name}`"),
                ));
            }
        }
        problems
    }
}

fn member<'m>(object: Option<&'m Struct>, name: &str) -> Option<&'m TypeRef> {
    Some(&object?.member(name)?.ty)
}

/// Whether a text is a token of HTTP: <https://www.rfc-editor.org/rfc/rfc9110#name-tokens>.
fn is_token(text: &str) -> bool {
    let is_token_character = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_character)
}
