//! Documentation that follows what a revision renames.

use crate::adapt::{Plan, Row};
use crate::diff::Pair;
use crate::load::Docs;
use crate::model::{ModelledRevision, TypeRef};
use crate::protocol::Protocol;

/// The documentation of each revision and extension: its own, then that of all revisions, then that which the revision before has of what was
/// renamed.
pub(crate) fn docs_of_all(protocol: &Protocol) -> Vec<Docs> {
    let mut documented = Vec::<Docs>::new();
    for (index, later) in protocol.all().enumerate() {
        let mut docs = protocol.docs.with(&later.docs);
        if let (Some((earlier, [up, _])), Some(earlier_docs)) = (protocol.before(index), documented.last()) {
            follow(&mut docs, earlier_docs, (earlier, later, up));
        }
        documented.push(docs);
    }
    documented
}

/// Adds to the documentation of the later revision what the earlier one has of the same types and members by other names.
fn follow(docs: &mut Docs, earlier_docs: &Docs, (earlier, later, up): (&ModelledRevision, &ModelledRevision, &Plan)) {
    for (after, before) in Pair::new(&earlier.model, &later.model, up).earlier_names() {
        let types = earlier.model.types.get(before).zip(later.model.types.get(after));
        let Some((old, new)) = types.map(|(old, new)| (&old.documented_as, &new.documented_as)) else {
            continue;
        };
        if old != new {
            docs.add_renamed(earlier_docs, old, new);
        }
        let types = (TypeRef::Named(before.to_owned()), TypeRef::Named(after.to_owned()));
        let Some(Row::Object(row)) = up.conversions.get(&types).map(|conversion| &conversion.row) else {
            continue;
        };
        for (member, row) in &row.members {
            if let Some(source) = &row.from {
                docs.add_renamed_member(earlier_docs, (old, source), (new, member));
            }
        }
    }
}
