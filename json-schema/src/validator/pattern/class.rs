//! Sets of characters, as ECMAScript defines them.

use std::collections::BinaryHeap;
use std::fmt::Write;
use std::sync::OnceLock;

use unicode_general_category::get_general_category;

/// The general categories and groups of them: each abbreviation with its names.
const CATEGORIES: [(&str, &[&str]); 37] = [
    ("C", &["Other"]),
    ("Cc", &["Control", "cntrl"]),
    ("Cf", &["Format"]),
    ("Cn", &["Unassigned"]),
    ("Co", &["Private_Use"]),
    ("Cs", &["Surrogate"]),
    ("L", &["Letter"]),
    ("Ll", &["Lowercase_Letter"]),
    ("Lm", &["Modifier_Letter"]),
    ("Lo", &["Other_Letter"]),
    ("Lt", &["Titlecase_Letter"]),
    ("Lu", &["Uppercase_Letter"]),
    ("M", &["Mark", "Combining_Mark"]),
    ("Mc", &["Spacing_Mark"]),
    ("Me", &["Enclosing_Mark"]),
    ("Mn", &["Nonspacing_Mark"]),
    ("N", &["Number"]),
    ("Nd", &["Decimal_Number", "digit"]),
    ("Nl", &["Letter_Number"]),
    ("No", &["Other_Number"]),
    ("P", &["Punctuation", "punct"]),
    ("Pc", &["Connector_Punctuation"]),
    ("Pd", &["Dash_Punctuation"]),
    ("Pe", &["Close_Punctuation"]),
    ("Pf", &["Final_Punctuation"]),
    ("Pi", &["Initial_Punctuation"]),
    ("Po", &["Other_Punctuation"]),
    ("Ps", &["Open_Punctuation"]),
    ("S", &["Symbol"]),
    ("Sc", &["Currency_Symbol"]),
    ("Sk", &["Modifier_Symbol"]),
    ("Sm", &["Math_Symbol"]),
    ("So", &["Other_Symbol"]),
    ("Z", &["Separator"]),
    ("Zl", &["Line_Separator"]),
    ("Zp", &["Paragraph_Separator"]),
    ("Zs", &["Space_Separator"]),
];

/// A set of characters, as ranges in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct Class(Vec<(char, char)>);

impl Class {
    pub(super) fn of(ranges: &[(char, char)]) -> Self {
        Self(ranges.to_vec())
    }

    pub(super) fn any() -> Self {
        Self::of(&[('\0', char::MAX)])
    }

    pub(super) fn digits() -> Self {
        Self::of(&[('0', '9')])
    }

    pub(super) fn word_characters() -> Self {
        Self::of(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
    }

    pub(super) fn line_terminators() -> Self {
        Self::of(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')])
    }

    /// White space and line terminators.
    pub(super) fn spaces() -> Self {
        Self::of(&[
            ('\t', '\r'),
            (' ', ' '),
            ('\u{a0}', '\u{a0}'),
            ('\u{1680}', '\u{1680}'),
            ('\u{2000}', '\u{200a}'),
            ('\u{2028}', '\u{2029}'),
            ('\u{202f}', '\u{202f}'),
            ('\u{205f}', '\u{205f}'),
            ('\u{3000}', '\u{3000}'),
            ('\u{feff}', '\u{feff}'),
        ])
    }

    /// Returns the characters with a Unicode property, such as `Lu`, `Letter` or `Alphabetic`. `None` if the property
    /// is unknown.
    pub(super) fn with_property(name: &str) -> Option<Self> {
        Some(match name {
            "Any" => Self::any(),
            "ASCII" => Self::of(&[('\0', '\x7f')]),
            "Alphabetic" | "Alpha" => Self::filtered(|it| it.is_alphabetic),
            "Lowercase" | "Lower" => Self::filtered(|it| it.is_lowercase),
            "Uppercase" | "Upper" => Self::filtered(|it| it.is_uppercase),
            "White_Space" | "space" => Self::filtered(|it| it.is_white_space),
            "Cased_Letter" | "LC" => Self::filtered(|it| matches!(it.category, "Ll" | "Lt" | "Lu")),
            name => {
                let of_name = CATEGORIES
                    .iter()
                    .find(|(abbreviation, names)| *abbreviation == name || names.contains(&name));
                let (abbreviation, _) = of_name?;
                Self::filtered(|it| it.category.starts_with(abbreviation))
            }
        })
    }

    fn filtered(predicate: impl Fn(&Properties) -> bool) -> Self {
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut continues = false;
        for (low, high, properties) in properties() {
            let is_in = predicate(properties);
            match ranges.last_mut() {
                Some((_, last)) if is_in && continues => *last = *high,
                _ if is_in => ranges.push((*low, *high)),
                _ => {}
            }
            continues = is_in;
        }
        Self(ranges)
    }

    /// Returns the number of ranges.
    pub(super) fn ranges(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(super) fn complement(self) -> Self {
        let mut complement = Vec::new();
        let mut first = Some('\0');
        for (low, high) in BinaryHeap::from(self.0).into_sorted_vec() {
            let Some(from) = first else { break };
            if let Some(before) = previous(low).filter(|before| *before >= from) {
                complement.push((from, before));
            }
            first = first.max(next(high)).filter(|_| high < char::MAX);
        }
        complement.extend(first.map(|from| (from, char::MAX)));
        Self(complement)
    }

    /// Writes the set in the syntax of `regex-lite`.
    pub(super) fn write_to(&self, regex: &mut String) {
        if self.0.is_empty() {
            regex.push_str(r"[^\x{0}-\x{10FFFF}]");
            return;
        }
        regex.push('[');
        for (low, high) in &self.0 {
            let _ = write!(regex, r"\x{{{:X}}}-\x{{{:X}}}", u32::from(*low), u32::from(*high));
        }
        regex.push(']');
    }
}

/// The properties of a character that a pattern can refer to.
#[derive(PartialEq, Eq)]
struct Properties {
    /// The abbreviation of its general category.
    category: &'static str,
    is_alphabetic: bool,
    is_lowercase: bool,
    is_uppercase: bool,
    is_white_space: bool,
}

/// All characters, as ranges of those with the same properties. They are gathered only once, because that takes some
/// milliseconds, and a pattern can name many properties.
fn properties() -> &'static [(char, char, Properties)] {
    static RANGES: OnceLock<Vec<(char, char, Properties)>> = OnceLock::new();
    RANGES.get_or_init(|| {
        let mut ranges: Vec<(char, char, Properties)> = Vec::new();
        for char in '\0'..=char::MAX {
            let properties = Properties {
                category: get_general_category(char).abbreviation(),
                is_alphabetic: char.is_alphabetic(),
                is_lowercase: char.is_lowercase(),
                is_uppercase: char.is_uppercase(),
                is_white_space: char.is_whitespace(),
            };
            match ranges.last_mut() {
                Some((_, last, of_last)) if *of_last == properties => *last = char,
                _ => ranges.push((char, char, properties)),
            }
        }
        ranges
    })
}

/// Returns the next character. The surrogates between U+D7FF and U+E000 are left out.
fn next(char: char) -> Option<char> {
    (char..=char::MAX).nth(1)
}

fn previous(char: char) -> Option<char> {
    ('\0'..char).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complement_has_all_characters_outside_the_set() {
        let complement = |ranges: &[(char, char)]| Class::of(ranges).complement().0;
        assert_eq!(complement(&[]), [('\0', char::MAX)]);
        assert_eq!(complement(&[('\0', char::MAX)]), []);
        assert_eq!(
            complement(&[('c', 'c'), ('\0', 'a'), ('c', '\u{d7ff}')]),
            [('b', 'b'), ('\u{e000}', char::MAX)]
        );
        assert_eq!(complement(&[('b', 'z'), ('d', 'e'), ('z', char::MAX)]), [('\0', 'a')]);
    }
}
