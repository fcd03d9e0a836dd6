//! Errors in another revision: the code changes, by the method that failed.

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

/// An error in another revision, and what it lost. Its code changes where the revisions have different codes for the same;
/// message and data are moved.
///
/// `method` is the method that failed, if that is known, by its name in either revision. A code that the way back wouldn't restore is a loss, and with
/// [`Policy::Carry`] it stays.
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

/// Whether there is a member at the end of this way.
fn has_data(data: Option<&RawJson>, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    let member = data.and_then(|data| data.get(first));
    member.is_some_and(|member| has_data(Some(&member), rest))
}
