//! Checks the facts of a revision: names of headers, HTTP statuses, and names of methods and members.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;

use super::type_ref::TypeRef;
use super::types::{Model, Struct};
use crate::facts::{Facts, MirroredArguments, Mirrors};
use crate::overlay::Overlay;
use crate::problem::Problem;

/// Returns the facts that don't fit a model's revision, some of which its overlay states.
pub(super) fn wrong_facts(facts: &Facts, overlay: &Overlay, model: &Model) -> Vec<Problem> {
    let wrong = Vec::new();
    let mut check = FactsCheck { overlay, model, wrong };
    check.header("#/facts/version_header", facts.version_header.iter().flatten());
    check.header("#/facts/session_header", facts.session_header.iter().flatten());
    for (code, status) in facts.statuses.iter().flatten() {
        let at = format!("#/facts/statuses/{code}");
        if !model.has_error_code(*code) {
            check.wrong(&at, format!("the revision has no error code {code}"));
        }
        check.status(&at, Some(*status));
    }
    for (index, error) in overlay.error_codes.iter().enumerate() {
        check.status(&format!("#/error_codes/{index}/status"), error.status);
    }
    if let Some(mirrors) = &facts.mirrors {
        check.mirrors(mirrors);
    }
    check.wrong
}

/// A check of the facts of a revision in progress.
struct FactsCheck<'c> {
    overlay: &'c Overlay,
    model: &'c Model,
    wrong: Vec<Problem>,
}

impl FactsCheck<'_> {
    fn wrong(&mut self, at: &str, what: String) {
        self.wrong.push(self.overlay.problem(at, what).help("correct the fact"));
    }

    fn header<'h>(&mut self, at: &str, header: impl IntoIterator<Item = &'h String>) {
        for header in header.into_iter().filter(|header| !is_token(header)) {
            self.wrong(at, format!("{header:?} can't be the name of a header"));
        }
    }

    fn status(&mut self, at: &str, status: Option<u16>) {
        if let Some(status) = status.filter(|status| !(400..600).contains(status)) {
            self.wrong(at, format!("{status} isn't an HTTP status of an error"));
        }
    }

    /// Checks that the revision has the request, and the request the parameter.
    fn parameter(&mut self, at: &str, method: &str, parameter: &str) {
        match self.model.requests().find(|request| request.name == method) {
            None => self.wrong(at, format!("the revision has no request `{method}`")),
            Some(request) if !self.model.declares(&format!("{}.params.{parameter}", request.ty)) => {
                self.wrong(at, format!("`{method}` has no parameter `{parameter}`"));
            }
            Some(_) => {}
        }
    }

    /// Checks that the object has members with these names.
    fn members(&mut self, at: &str, (what, object): (&str, Option<&Struct>), names: [&String; 2]) {
        let has = |name: &String| object.is_some_and(|object| object.member(name).is_some());
        for name in names.into_iter().filter(|name| !has(name)) {
            self.wrong(at, format!("{what} has no member `{name}`"));
        }
    }

    fn mirrors(&mut self, mirrors: &Mirrors) {
        self.header("#/facts/mirrors/method", &mirrors.method);
        for (header, methods) in &mirrors.params {
            let at = pointer::child("#/facts/mirrors/params", header);
            self.header(&at, Some(header));
            for (method, parameter) in methods {
                self.parameter(&pointer::child(&at, method), method, parameter);
            }
        }
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for name in mirrors.method.iter().chain(mirrors.params.keys()) {
            *names.entry(name.to_ascii_lowercase()).or_default() += 1;
        }
        for (name, _) in names.into_iter().filter(|(_, times)| *times > 1) {
            self.wrong("#/facts/mirrors", format!("two mirrors have the header `{name}`"));
        }
        if let Some(arguments) = &mirrors.arguments {
            self.arguments(arguments);
        }
    }

    fn arguments(&mut self, MirroredArguments { prefix, call, list, .. }: &MirroredArguments) {
        self.header("#/facts/mirrors/arguments/prefix", Some(prefix));
        for parameter in [&call.name, &call.arguments] {
            self.parameter("#/facts/mirrors/arguments/call", &call.method, parameter);
        }
        let at = "#/facts/mirrors/arguments/list";
        self.parameter(at, &list.method, &list.cursor);
        let model = self.model;
        let Some(result) = model.method(&list.method).and_then(|request| request.results.first()) else {
            return;
        };
        let result = model.struct_of(result);
        let of_result = format!("the result of `{}`", list.method);
        self.members(at, (&of_result, result), [&list.items, &list.next]);
        if let Some(items) = result.and_then(|result| result.member(&list.items)) {
            let item = match model.resolve(&items.ty) {
                TypeRef::List(item) => model.struct_of(item),
                _ => None,
            };
            let of_item = format!("an element of `{}` of `{}`", list.items, list.method);
            self.members(at, (&of_item, item), [&list.name, &list.schema]);
        }
    }
}

/// Whether a text is a token of HTTP: <https://www.rfc-editor.org/rfc/rfc9110#name-tokens>.
fn is_token(text: &str) -> bool {
    let is_token_character = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_character)
}
