//! Members that have another name in the other revision.

use super::planner::Planner;
use super::rules::{ANY_TYPE, Place};
use crate::model::{Model, Struct, is_of_member};

impl<'m> Planner<'m> {
    /// The name in the source of a member of the target: the same, the one that a rule says, or that of the member which does for a
    /// session what this one does.
    pub(super) fn member_there(
        &mut self,
        (from_name, from): (&str, &'m Struct),
        (to_name, to): (&str, &Struct),
        member: &'m str,
    ) -> &'m str {
        if from.declares(member) {
            return member;
        }
        // What the target has by the same name is no other member.
        let is_free = |name: &&str| from.declares(name) && !to.declares(name);
        if let Some((index, name)) = self
            .renamed(from_name, to_name, member)
            .filter(|(_, name)| is_free(name))
        {
            self.used.insert(index);
            self.ruled(&Place::member(from_name, name).to_string(), "renamed", index);
            return name;
        }
        let role = role_of(self.to.model, member);
        let name = role.and_then(|role| self.from.model.lifecycle.names.get(role));
        name.map(String::as_str).filter(is_free).unwrap_or(member)
    }

    /// The rule that gives a member of the target another name, and the name in the source.
    fn renamed(&self, from_name: &str, to_name: &str, member: &str) -> Option<(usize, &'m str)> {
        let rules = self.input.rules;
        if !self.input.upward {
            let place = Place::member(to_name, member);
            return rules.find(&place, |rule| rule.renamed.as_deref());
        }
        let becomes = |ty: &str| {
            let mut rules = rules.rules.iter().enumerate();
            rules.find_map(|(index, rule)| {
                let is_it = rule.renamed.as_deref() == Some(member) && rule.at.ty == ty;
                Some((index, rule.at.member.as_deref()?)).filter(|_| is_it)
            })
        };
        becomes(from_name).or_else(|| becomes(ANY_TYPE))
    }
}

/// The role of a member for sessions.
fn role_of<'m>(model: &'m Model, member: &str) -> Option<&'m str> {
    let mut names = model.lifecycle.names.iter();
    let (role, _) = names.find(|(role, name)| *name == member && is_of_member(role))?;
    Some(role)
}
