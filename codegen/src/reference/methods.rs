//! Methods and error codes.

use std::fmt::Write as _;

use mcp_wire::Direction;

use super::Page;
use crate::diff::direction;
use crate::markdown::{anchor, cell};
use crate::model::{MessageKind, Method};
use crate::overlay::ErrorCode;

impl Page<'_> {
    pub(super) fn methods(&self) -> String {
        let mut section = "\n## Methods\n\nA capability has to be declared by the receiver of a request, or by the sender of a \
             notification.\nBesides the errors listed here there are those that answer any request. On the wire, each message also \
             has\n`jsonrpc`, which is `\"2.0\"`, and a request its `id`: the types below leave out this envelope.\n"
            .to_owned();
        section += &self.table("Requests", MessageKind::Request);
        section += &self.table("Notifications", MessageKind::Notification);
        section
    }

    fn table(&self, title: &str, kind: MessageKind) -> String {
        let methods = self.model.methods.iter().filter(|method| method.kind == kind);
        let (result, rule) = match kind {
            MessageKind::Request => (" Result | Errors |", "---|---|"),
            MessageKind::Notification => ("", ""),
        };
        let mut table = format!(
            "\n### {title}\n\n| Method | Direction | Params |{result} Capability | Since |\n|---|---|---|{rule}---|---|\n"
        );
        for method in methods {
            let answer = match kind {
                MessageKind::Request => format!(" {} | {} |", self.results(method), self.errors(method)),
                MessageKind::Notification => String::new(),
            };
            let _ = writeln!(
                table,
                "| [`{}`](#{}) | {} | {} |{answer} {} | {} |",
                method.name,
                // A method has a type of the model.
                anchor(&self.model.types[&method.ty].documented_as),
                direction(method.direction),
                self.params(method),
                capabilities(method),
                cell(&self.history.of_method(&method.name, kind)),
            );
        }
        table
    }

    fn params(&self, method: &Method) -> String {
        let object = self.model.struct_of(&crate::model::TypeRef::Named(method.ty.clone()));
        match object.and_then(|object| object.member("params")) {
            Some(params) if params.required => self.reference(&params.ty),
            Some(params) => format!("{}, optional", self.reference(&params.ty)),
            None => "–".into(),
        }
    }

    fn results(&self, method: &Method) -> String {
        let results: Vec<String> = method.results.iter().map(|result| self.reference(result)).collect();
        results.join(" or ")
    }

    /// The revision's own errors that answer this method, and not any other.
    fn errors(&self, method: &Method) -> String {
        let codes = self.model.error_codes.iter();
        let codes = codes.filter(|error| error.methods.contains(&method.name));
        let codes: Vec<String> = codes.map(|error| format!("[{}](#error-codes)", error.code)).collect();
        if codes.is_empty() {
            "–".into()
        } else {
            codes.join(", ")
        }
    }

    pub(super) fn error_codes(&self) -> String {
        let mut section = "\n## Error codes\n\nAny request may be answered by the errors of \
             [JSON-RPC](https://www.jsonrpc.org/specification#error_object): -32700 for text that isn't JSON, -32600 for JSON that isn't \
             a message, -32601 for a method that the receiver doesn't have or whose capability it didn't declare, -32602 for parameters \
             that aren't valid, -32603 for anything that went wrong within the receiver. The specification adds:\n\n\
             | Code | Name | Answers | HTTP status | Meaning |\n|---|---|---|---|---|\n"
            .to_owned();
        for error in &self.model.error_codes {
            let status = error.status.map_or_else(|| "–".to_owned(), |status| status.to_string());
            let _ = writeln!(
                section,
                "| [{}]({}) | `{}` | {} | {status} | {} |",
                error.code,
                error.link,
                error.name,
                answered(error),
                cell(&self.linked(&error.why)),
            );
        }
        section
    }
}

fn answered(error: &ErrorCode) -> String {
    let methods: Vec<String> = error.methods.iter().map(|method| format!("`{method}`")).collect();
    if methods.is_empty() {
        "any request".into()
    } else {
        methods.join(", ")
    }
}

/// The capability of a method, and what it needs besides for some of its parameters.
fn capabilities(method: &Method) -> String {
    let usual = method.capability.iter().map(|capability| format!("`{capability}`"));
    let besides = method.needs.iter().map(|need| {
        let (capability, member) = (&need.capability, &need.member);
        match (&need.value, &need.other_than) {
            (Some(value), _) => format!("`{capability}` where `{member}` is `{value}`"),
            (None, Some(value)) => format!("`{capability}` where `{member}` isn't `{value}`"),
            (None, None) => format!("`{capability}` with `{member}`"),
        }
    });
    let all: Vec<String> = usual.chain(besides).collect();
    match (all.is_empty(), method.direction) {
        (true, _) => "–".into(),
        (false, Direction::InResult) => format!("{} of the client", all.join(", ")),
        (false, _) => all.join(", "),
    }
}
