//! Conversion of JSON-RPC errors: revisions can have different codes for the same error.

use mcp_wire::{ErrorObject, Path, RawJson};

use crate::loss::{Loss, LossKind};
use crate::policy::Policy;
use crate::revision::ProtocolRevision;
use crate::tables::ErrorRule;

impl ErrorRule {
    fn is_about(&self, method: Option<&str>, error: &ErrorObject) -> bool {
        self.from == error.code
            && self.method.is_none_or(|name| method == Some(name))
            && has_data(error.data.as_ref(), self.data)
    }
}

/// Converts an error to another revision, and returns it with the losses. The code changes if the revisions have
/// different codes for the same error. The message and the data don't change.
///
/// `method` is the name of the failed method in either revision, if it is known. A new code that the conversion back
/// wouldn't undo is a loss; with [`Policy::Carry`], the code stays as it is instead.
#[must_use]
pub fn translate_error<R: ProtocolRevision>(
    from: R,
    to: R,
    method: Option<&str>,
    mut error: ErrorObject,
    policy: Policy,
) -> (ErrorObject, Vec<Loss>) {
    let mut losses = Vec::new();
    let mut here = from;
    for next in from.way(to) {
        let method = method.map(|name| here.name_of_method(to, here.name_of_method(from, name)));
        let find = |from: R, to: R, error: &ErrorObject| {
            let mut rules = from.error_rules(to).iter();
            rules.find(|rule| rule.is_about(method, error))
        };
        if let Some(rule) = find(here, next, &error) {
            let before = std::mem::replace(&mut error.code, rule.to);
            let returned = find(next, here, &error).map_or(error.code, |back| back.to);
            if returned != before && policy == Policy::Carry {
                error.code = before;
            } else if returned != before {
                let mut path = Path::default();
                path.push_member("code");
                losses.push(Loss {
                    path,
                    kind: LossKind::Replaced,
                    rule: rule.rule,
                });
            }
        }
        here = next;
    }
    (error, losses)
}

/// Whether the data has a member at this path.
fn has_data(data: Option<&RawJson>, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    let member = data.and_then(|data| data.get(first));
    member.is_some_and(|member| has_data(Some(&member), rest))
}
