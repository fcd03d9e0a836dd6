//! What becomes of an object: its members, its constants, and what is left over.

use super::rules::{Ensure, Join, Without};
use super::{Refusal, VariantPlan};
use crate::model::{ConstantMember, Member};
use crate::normalise::Scalar;

/// How an object becomes another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructPlan {
    /// The declared members of the target.
    pub members: Vec<MemberPlan>,
    /// The constants of the target that need a look at the source.
    pub constants: Vec<ConstantPlan>,
    /// The members of the source that the target doesn't declare.
    pub undeclared: Vec<UndeclaredMember>,
    /// Whether the target holds no member that it doesn't declare.
    pub closed: bool,
}

/// A declared member of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberPlan {
    /// The member, as the target declares it.
    pub to: Member,
    /// Where its value comes from.
    pub value: ValuePlan,
    /// What it is where the source has none.
    pub default: Option<DefaultPlan>,
    /// Where the target says more about the value than the source does.
    pub checked: Option<Check>,
    /// What the target declares in an open object and the source doesn't: names, and what their values are validated by.
    pub declared: Vec<(String, String)>,
}

impl MemberPlan {
    /// The name of the member in the source.
    pub(crate) fn source(&self) -> Option<String> {
        match &self.value {
            ValuePlan::Shared(source, _) => Some(source.name.clone()),
            ValuePlan::Adopted { constant, .. } => constant.as_ref().map(|constant| constant.name.clone()),
        }
    }
}

/// What a member is where the source has none.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultPlan {
    /// The JSON.
    pub json: String,
    /// Whether its absence meant the same, so that nothing is recorded.
    pub implied: bool,
    /// The rule.
    pub rule: String,
}

/// A value that is validated by the target's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Where the schemas are that it is validated by: several, where parts of an intersection declare the member.
    pub pointers: Vec<String>,
    /// The rule by which an invalid one is dropped; `None` if it is refused.
    pub drop: Option<String>,
}

/// Where a member's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum ValuePlan {
    /// The same member of the source, and how it is taken over.
    Shared(Box<Member>, MemberConversion),
    /// A member that the source doesn't declare, or declares as a constant.
    Adopted {
        /// The constant of the source.
        constant: Option<ConstantMember>,
        /// What the value is validated by.
        pointer: Option<String>,
        /// Its key in `Supply`.
        supplied: Option<String>,
    },
}

/// How a value is taken over.
#[derive(Debug, Clone, PartialEq)]
pub enum MemberConversion {
    /// As it is.
    Moved,
    /// As the value of another revision's type.
    Converted,
    /// As it is, but for the value that distinguishes the object from others.
    Retagged {
        /// The value of the source.
        from: String,
        /// The value of the target.
        to: String,
    },
    /// Variant by variant, because rules differ here from elsewhere.
    Matched(Vec<VariantPlan>),
    /// As the value of another revision's type. If it is absent, an empty object is converted, because all that the target
    /// requires in it is supplied.
    Filled,
    /// As the value of another revision's type. If nothing is in it any more, it is left out, because what the source requires in
    /// it is supplied.
    Emptied,
    /// As the value of another revision's type if that can hold it; otherwise a list of the target gets an element.
    Ensured(EnsurePlan),
    /// With the elements of the list split: one for each element of the list that this member of theirs is.
    Split {
        /// The member.
        member: String,
        /// The rule.
        rule: String,
    },
    /// As one element of the list, or one with the joined texts of all.
    Joined {
        /// How they are joined.
        join: Join,
        /// The rule.
        rule: String,
    },
    /// Without some members of the object.
    Without {
        /// The members, and what drops the object.
        without: Without,
        /// The rule.
        rule: String,
    },
    /// Without the entries that can't be held, unless the object's member lists their keys.
    Omitting {
        /// The member that lists keys.
        unless_in: String,
        /// The rule.
        rule: String,
    },
    /// Without the elements whose members have these values.
    Hiding {
        /// The members to look at, each from the element inwards, and the values that hide.
        when: Vec<(Vec<String>, String)>,
        /// The rule.
        rule: String,
    },
    /// Not at all, and recorded.
    Dropped {
        /// The rule.
        rule: String,
    },
    /// It can't be.
    Refused(Refusal),
}

/// A constant of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantPlan {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Scalar,
    /// Whether the target may lack it.
    pub optional: bool,
    /// What the source says.
    pub source: ConstantSource,
}

/// What the source says about a constant of the target.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantSource {
    /// It has the same constant, and may lack it or not.
    Same {
        /// Whether it may lack it.
        optional: bool,
    },
    /// It has another constant there, and may lack it or not.
    Other {
        /// Whether it may lack it.
        optional: bool,
    },
    /// It has a member of that name whose value varies.
    Member(Member),
    /// It declares nothing of that name.
    Undeclared,
}

/// A member of the source that the target doesn't declare.
#[derive(Debug, Clone, PartialEq)]
pub struct UndeclaredMember {
    /// Its name.
    pub name: String,
    /// Its value; `None` for a member whose value varies.
    pub constant: Option<Scalar>,
    /// Whether the source may lack it.
    pub optional: bool,
    /// Whether it is held behind a pointer.
    pub boxed: bool,
    /// The value that means what its absence means: this one leaves without a trace.
    pub implied: Option<String>,
    /// What becomes of it.
    pub how: UndeclaredAction,
}

/// An element that a list of the target gets.
#[derive(Debug, Clone, PartialEq)]
pub struct EnsurePlan {
    /// The list's member.
    pub list: String,
    /// The element, with placeholders.
    pub item: String,
    /// The rule.
    pub rule: String,
}

impl EnsurePlan {
    pub(super) fn of(ensure: &Ensure, rule: String) -> Self {
        Self {
            list: ensure.list.clone(),
            item: ensure.item.to_string(),
            rule,
        }
    }
}

/// What becomes of a member that the target doesn't declare.
#[derive(Debug, Clone, PartialEq)]
pub enum UndeclaredAction {
    /// It is dropped and recorded, or carried; by a rule or automatically.
    Left {
        /// The rule.
        rule: String,
    },
    /// It is copied to another member first.
    Copied {
        /// From the target inwards.
        to: Vec<String>,
        /// The rule.
        rule: String,
    },
    /// It is the member of the target at the end of this path.
    Moved {
        /// From the target inwards.
        to: Vec<String>,
    },
    /// What is at the ends of these paths in it are members of the target by these names.
    Taken {
        /// From the member inwards, and the name in the target.
        members: Vec<(Vec<String>, String)>,
    },
    /// A list of the target gets an element first.
    Ensured(EnsurePlan),
    /// It is stored in `Supply`, for the way back.
    Supplied {
        /// What it is known by there.
        key: String,
        /// The rule.
        rule: String,
    },
    /// It must not be there.
    Refused(Refusal),
}
