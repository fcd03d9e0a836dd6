//! Methods and error codes.

use mcp_wire::Direction;
use serde_json::{Value, json};

use super::Page;
use crate::diff::direction;
use crate::markdown::anchor;
use crate::model::{MessageKind, Method};

impl Page<'_> {
    pub(super) fn methods(&self, kind: MessageKind) -> Vec<Value> {
        let methods = self.model.methods.iter().filter(|method| method.kind == kind);
        let rows = methods.map(|method| {
            let codes = self.model.error_codes.iter();
            let codes = codes.filter(|error| error.methods.contains(&method.name));
            json!({
                "name": method.name,
                "anchor": self.model.types.get(&method.ty).map(|ty| anchor(&ty.documented_as)),
                "direction": direction(method.direction),
                "params": self.params(method),
                "results": self.results(method),
                "errors": Vec::from_iter(codes.map(|error| error.code)),
                "capabilities": capabilities(method),
                "since": self.history.of_method(&method.name, kind),
            })
        });
        rows.collect()
    }

    fn params(&self, method: &Method) -> String {
        match self.model.params(method) {
            Some(params) if params.required => self.reference(&params.ty),
            Some(params) => format!("{}, optional", self.reference(&params.ty)),
            None => "–".into(),
        }
    }

    fn results(&self, method: &Method) -> String {
        let results: Vec<String> = method.results.iter().map(|result| self.reference(result)).collect();
        results.join(" or ")
    }

    pub(super) fn error_codes(&self) -> Vec<Value> {
        let codes = self.model.error_codes.iter();
        let rows = codes.map(|error| json!({"error": error, "meaning": self.linked(&error.why)}));
        rows.collect()
    }
}

/// Returns the capability of a method, and those that some of its parameters need.
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
