//! Expressions of types in TypeScript.

use std::fmt;

/// An expression of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expression {
    /// A name, a literal, or the members of an object in braces.
    Single(String),
    Array(Box<Expression>),
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

    fn reduced(types: Vec<Self>, none: &str, several: impl FnOnce(Vec<Self>) -> Self) -> Self {
        let mut distinct: Vec<Self> = Vec::new();
        for ty in types {
            if !distinct.contains(&ty) {
                distinct.push(ty);
            }
        }
        match distinct.len() {
            0 => Self::single(none),
            1 => distinct.remove(0),
            _ => several(distinct),
        }
    }

    /// Writes the type, in parentheses if its operator binds less tightly than the one next to it.
    fn grouped(&self, f: &mut fmt::Formatter<'_>, is_looser: bool) -> fmt::Result {
        match is_looser {
            true => write!(f, "({self})"),
            false => write!(f, "{self}"),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (types, operator) = match self {
            Self::Single(text) => return f.write_str(text),
            Self::Array(element) => {
                element.grouped(f, matches!(**element, Self::Union(_) | Self::Intersection(_)))?;
                return f.write_str("[]");
            }
            Self::Union(types) => (types, " | "),
            Self::Intersection(types) => (types, " & "),
        };
        for (index, ty) in types.iter().enumerate() {
            if index > 0 {
                f.write_str(operator)?;
            }
            ty.grouped(f, matches!((self, ty), (Self::Intersection(_), Self::Union(_))))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Expression;

    #[test]
    fn expressions_are_simplified_and_have_the_necessary_parentheses() {
        let name = |name: &str| Expression::single(name);
        let either = || Expression::union([name("A"), name("B"), name("A")]);
        let list = |ty| Expression::Array(Box::new(ty));
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
