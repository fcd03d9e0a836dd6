//! Expressions of types in TypeScript.

use std::collections::HashSet;
use std::fmt;

/// An expression of a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Expression {
    /// A name, a literal, an array, or the members of an object in braces.
    Single(String),
    Union(Vec<Expression>),
    Intersection(Vec<Expression>),
}

impl Expression {
    pub(super) fn single(text: impl Into<String>) -> Self {
        Self::Single(text.into())
    }

    pub(super) fn unknown() -> Self {
        Self::single("unknown")
    }

    pub(super) fn array(element: &Self) -> Self {
        Self::Single(match element {
            Self::Single(text) => format!("{text}[]"),
            several => format!("({several})[]"),
        })
    }

    fn is_unknown(&self) -> bool {
        *self == Self::unknown()
    }

    /// One of several types.
    pub(super) fn union(types: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for ty in types {
            match ty {
                Self::Union(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        if all.iter().any(Self::is_unknown) {
            return Self::unknown();
        }
        Self::reduced(all, "never", Self::Union)
    }

    /// All of several types at once.
    pub(super) fn intersection(types: impl IntoIterator<Item = Self>) -> Self {
        let types = types.into_iter().filter(|ty| !ty.is_unknown());
        Self::reduced(types.collect(), "unknown", Self::Intersection)
    }

    fn reduced(mut types: Vec<Self>, none: &str, several: impl FnOnce(Vec<Self>) -> Self) -> Self {
        let mut known = HashSet::new();
        types.retain(|ty| known.insert(ty.clone()));
        match types.len() {
            0 => Self::single(none),
            1 => types.remove(0),
            _ => several(types),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (types, operator) = match self {
            Self::Single(text) => return f.write_str(text),
            Self::Union(types) => (types, " | "),
            Self::Intersection(types) => (types, " & "),
        };
        let types = types.iter().map(|ty| match ty {
            Self::Union(_) => format!("({ty})"),
            _ => ty.to_string(),
        });
        f.write_str(&Vec::from_iter(types).join(operator))
    }
}

#[cfg(test)]
mod tests {
    use super::Expression;

    #[test]
    fn expressions_are_simplified_and_have_the_necessary_parentheses() {
        let name = |name: &str| Expression::single(name);
        let either = || Expression::union([name("A"), name("B"), name("A")]);
        let list = |ty| Expression::array(&ty);
        for (ty, expected) in [
            (either(), "A | B"),
            (list(either()), "(A | B)[]"),
            (list(list(name("A"))), "A[][]"),
            (Expression::intersection([either(), name("C")]), "(A | B) & C"),
            (
                Expression::union([Expression::intersection([name("A"), name("B")]), name("C")]),
                "A & B | C",
            ),
            (Expression::union([name("A"), Expression::unknown()]), "unknown"),
            (Expression::intersection([name("A"), Expression::unknown()]), "A"),
            (Expression::union([]), "never"),
        ] {
            assert_eq!(ty.to_string(), expected);
        }
    }
}
