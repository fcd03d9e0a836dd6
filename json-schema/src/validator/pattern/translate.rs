//! Translates ECMAScript's regular expressions to those of `regex-lite`, whose engine takes linear time.
//!
//! Patterns are read as with the flag `u`, but some common deviations are accepted: a literal `]`, `{` or `}`, an
//! unneeded backslash before punctuation, and a `-` next to a class such as `\w`.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use super::TOO_LARGE;
use super::class::Class;
use crate::validator::error::PatternError;

/// The maximum size of a regular expression, which bounds the memory that it takes and the time to compile it.
const MAX_SIZE: u64 = 1 << 14;

/// The number of ranges of a class that count as one state.
const RANGES_OF_A_STATE: usize = 16;

/// A regular expression in the syntax of `regex-lite`.
pub(super) struct Translated {
    pub(super) regex: String,
    /// The approximate number of states that the engine needs for it, with all repetitions.
    pub(super) size: u64,
}

/// Translates a regular expression to the syntax of `regex-lite`.
pub(super) fn translate(pattern: &str) -> Result<Translated, PatternError> {
    let mut translator = Translator {
        left: pattern.chars().peekable(),
        regex: String::new(),
        sizes: vec![0],
        last_size: 0,
    };
    translator.pattern()?;
    Ok(Translated {
        regex: translator.regex,
        size: translator.sizes.iter().sum(),
    })
}

struct Translator<'p> {
    left: Peekable<Chars<'p>>,
    regex: String,
    /// The sizes of the open groups so far, the whole pattern first.
    sizes: Vec<u64>,
    /// The size of the latest atom or group.
    last_size: u64,
}

/// The meaning of an escape.
enum Escape {
    Char(char),
    Class(Class),
}

impl Translator<'_> {
    fn pattern(&mut self) -> Result<(), PatternError> {
        // Whether a quantifier can follow.
        let mut quantifiable = false;
        while let Some(char) = self.left.next() {
            let counts = if char == '{' { self.counts() } else { None };
            let quantifier = match &counts {
                Some(counts) => format!("{{{counts}}}"),
                None if matches!(char, '*' | '+' | '?') => char.to_string(),
                None => {
                    quantifiable = self.part(char)?;
                    continue;
                }
            };
            if !quantifiable {
                return Err(format!("there is nothing that `{quantifier}` could repeat").into());
            }
            self.regex.push_str(&quantifier);
            if let Some(counts) = counts {
                self.repeat(&counts)?;
            }
            // A lazy quantifier matches the same texts as a greedy one.
            self.left.next_if_eq(&'?');
            quantifiable = false;
        }
        if self.sizes.len() > 1 {
            return Err("a `(` isn't closed".into());
        }
        Ok(())
    }

    /// Translates a part of the pattern that isn't a quantifier, and returns whether a quantifier can follow.
    fn part(&mut self, first: char) -> Result<bool, PatternError> {
        match first {
            '(' => {
                self.open_group()?;
                self.sizes.push(0);
                return Ok(false);
            }
            ')' => {
                self.last_size = match self.sizes.pop() {
                    Some(size) if !self.sizes.is_empty() => size,
                    _ => return Err("a `)` closes nothing".into()),
                };
                self.grow(self.last_size)?;
                self.regex.push(')');
            }
            '|' | '^' | '$' => {
                self.regex.push(first);
                return Ok(false);
            }
            '.' => self.class(&Class::line_terminators().complement())?,
            '[' => {
                let class = self.bracketed()?;
                self.class(&class)?;
            }
            '\\' => {
                if let Some(boundary) = self.left.next_if(|char| matches!(char, 'b' | 'B')) {
                    self.regex.extend(['\\', boundary]);
                    return Ok(false);
                }
                match self.escape()? {
                    Escape::Char(char) => self.char(char)?,
                    Escape::Class(class) => self.class(&class)?,
                }
            }
            char => self.char(char)?,
        }
        Ok(true)
    }

    fn char(&mut self, char: char) -> Result<(), PatternError> {
        let _ = write!(self.regex, r"\x{{{:X}}}", u32::from(char));
        self.last_size = 1;
        self.grow(1)
    }

    fn class(&mut self, class: &Class) -> Result<(), PatternError> {
        self.last_size = 1 + (class.ranges() / RANGES_OF_A_STATE) as u64;
        self.grow(self.last_size)?;
        class.write_to(&mut self.regex);
        Ok(())
    }

    /// Counts the repetitions of the latest atom or group, which the engine copies.
    fn repeat(&mut self, counts: &str) -> Result<(), PatternError> {
        let count = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
        let most = match counts.split_once(',') {
            Some((low, "")) => count(low).saturating_add(1),
            Some((low, high)) => count(low).max(count(high)),
            None => count(counts),
        };
        self.grow(self.last_size.saturating_mul(most.saturating_sub(1)))
    }

    /// Counts a part of the innermost group.
    fn grow(&mut self, by: u64) -> Result<(), PatternError> {
        let size = self
            .sizes
            .last_mut()
            .ok_or_else(|| PatternError::unsupported(TOO_LARGE))?;
        *size = size.saturating_add(by);
        match *size > MAX_SIZE {
            true => Err(PatternError::unsupported(TOO_LARGE)),
            false => Ok(()),
        }
    }

    fn open_group(&mut self) -> Result<(), PatternError> {
        self.regex.push_str("(?:");
        if self.left.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        match self.left.next() {
            Some(':') => Ok(()),
            Some('<') if !matches!(self.left.peek(), Some('=' | '!')) => {
                let is_named = self.left.by_ref().any(|char| char == '>');
                is_named.then_some(()).ok_or_else(|| "a `(?<` has no `>`".into())
            }
            Some('=' | '!' | '<') => Err(PatternError::unsupported(
                "a look-around can't be matched in linear time",
            )),
            _ => Err(PatternError::unsupported(
                "a group that starts with `(?` in this way isn't supported",
            )),
        }
    }

    /// Reads the counts of `{2}`, `{2,}` or `{2,3}` after its brace, if such a quantifier follows.
    fn counts(&mut self) -> Option<String> {
        let is_count = |char: &char| char.is_ascii_digit() || *char == ',';
        let inside: String = self.left.clone().take_while(is_count).collect();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (low, high) = inside.split_once(',').unwrap_or((&inside, ""));
        let is_closed = self.left.clone().nth(inside.chars().count()) == Some('}');
        if !(is_closed && is_number(low) && (high.is_empty() || is_number(high))) {
            return None;
        }
        self.left.nth(inside.len());
        Some(inside)
    }

    /// Reads the class after its `[`.
    fn bracketed(&mut self) -> Result<Class, PatternError> {
        let is_negated = self.left.next_if_eq(&'^').is_some();
        let mut class = Class::default();
        loop {
            if class.ranges() as u64 > MAX_SIZE * RANGES_OF_A_STATE as u64 {
                return Err(PatternError::unsupported(TOO_LARGE));
            }
            let low = match self.class_item()? {
                None => break,
                Some(Escape::Class(inner)) => {
                    class.add(inner);
                    continue;
                }
                Some(Escape::Char(char)) => char,
            };
            let mut ahead = self.left.clone();
            let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']'));
            if !is_range {
                class.add(Class::of(&[(low, low)]));
                continue;
            }
            self.left.next();
            match self.class_item()? {
                Some(Escape::Char(high)) if low <= high => class.add(Class::of(&[(low, high)])),
                Some(Escape::Char(high)) => return Err(format!("the range `{low}-{high}` is out of order").into()),
                Some(Escape::Class(inner)) => {
                    class.add(Class::of(&[(low, low), ('-', '-')]));
                    class.add(inner);
                }
                None => break,
            }
        }
        Ok(if is_negated { class.complement() } else { class })
    }

    /// Reads the next character or escape of a class. `None` at its end.
    fn class_item(&mut self) -> Result<Option<Escape>, PatternError> {
        Ok(match self.left.next().ok_or("a `[` isn't closed")? {
            ']' => None,
            '\\' if self.left.next_if_eq(&'b').is_some() => Some(Escape::Char('\u{8}')),
            '\\' => Some(self.escape()?),
            char => Some(Escape::Char(char)),
        })
    }

    /// Reads an escape after its backslash.
    fn escape(&mut self) -> Result<Escape, PatternError> {
        let char = self.left.next().ok_or("a `\\` ends the pattern")?;
        let class = match char {
            'd' => Class::digits(),
            'D' => Class::digits().complement(),
            'w' => Class::word_characters(),
            'W' => Class::word_characters().complement(),
            's' => Class::spaces(),
            'S' => Class::spaces().complement(),
            'p' => self.property()?,
            'P' => self.property()?.complement(),
            _ => return self.escaped_char(char).map(Escape::Char),
        };
        Ok(Escape::Class(class))
    }

    fn escaped_char(&mut self, char: char) -> Result<char, PatternError> {
        Ok(match char {
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if !self.left.peek().is_some_and(char::is_ascii_digit) => '\0',
            'c' => match self.left.next() {
                Some(letter) if letter.is_ascii_alphabetic() => char::from(letter as u8 % 32),
                _ => return Err("`\\c` needs a letter".into()),
            },
            'x' => self.code_point(2)?,
            'u' => self.unicode_escape()?,
            '1'..='9' | 'k' => {
                return Err(PatternError::unsupported(
                    "a back-reference can't be matched in linear time",
                ));
            }
            char if char.is_alphanumeric() => return Err(format!("`\\{char}` isn't an escape of ECMAScript").into()),
            char => char,
        })
    }

    fn unicode_escape(&mut self) -> Result<char, PatternError> {
        if self.left.next_if_eq(&'{').is_some() {
            let digits: String = self.left.by_ref().take_while(|char| *char != '}').collect();
            let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
            return code.ok_or_else(|| format!("`\\u{{{digits}}}` isn't a character").into());
        }
        let first = self.hex_digits(4)?;
        if let Some(char) = char::from_u32(first) {
            return Ok(char);
        }
        let mut ahead = self.left.clone();
        let second = if ahead.next() == Some('\\') && ahead.next() == Some('u') {
            self.left = ahead;
            self.hex_digits(4)?
        } else {
            0
        };
        let units = [first, second].map(|unit| u16::try_from(unit).unwrap_or_default());
        match char::decode_utf16(units).next() {
            Some(Ok(char)) => Ok(char),
            _ => Err("half a surrogate pair matches no character".into()),
        }
    }

    fn code_point(&mut self, digits: usize) -> Result<char, PatternError> {
        let code = self.hex_digits(digits)?;
        char::from_u32(code).ok_or_else(|| format!("{code:x} isn't a character").into())
    }

    fn hex_digits(&mut self, count: usize) -> Result<u32, PatternError> {
        let mut value = 0;
        for _ in 0..count {
            let digit = self.left.next().and_then(|char| char.to_digit(16));
            value = value * 16 + digit.ok_or_else(|| format!("an escape needs {count} hexadecimal digits"))?;
        }
        Ok(value)
    }

    /// Reads the `{…}` after `\p`, and returns the characters with the property that it names.
    fn property(&mut self) -> Result<Class, PatternError> {
        if self.left.next_if_eq(&'{').is_none() {
            return Err("`\\p` needs the name of a property in braces".into());
        }
        let named: String = self.left.by_ref().take_while(|char| *char != '}').collect();
        let name = named
            .strip_prefix("General_Category=")
            .or_else(|| named.strip_prefix("gc="))
            .unwrap_or(&named);
        Class::with_property(name)
            .ok_or_else(|| PatternError::unsupported(format!("the Unicode property `{named}` isn't supported")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use crate::validator::ProblemKind;

    #[test]
    fn patterns_match_as_in_ecmascript() {
        for (pattern, matching, others) in [
            ("", "a |", ""),
            ("^a*?b+?c??$", "b|aab|abbc", "a|c|abcc"),
            ("^(a|b){2,3}$", "ab|aba", "a|abab"),
            ("^(?:ab)(?<name>c)$", "abc", "ab"),
            ("^a{2}b{1,}$", "aab|aabb", "ab|aa"),
            ("^a{,2}$", "a{,2}", "a|aa"),
            ("^x{a}]$", "x{a}]", "xa"),
            ("^[^]$", "a|é|😀", "ab"),
            ("^[]$", "", "a|b"),
            (r"^[\w.-]+@[\w-.]+$", "a.b-c@d-e.f", "a b@c|a@é"),
            (r"^[a\-z]$", "a|-|z", "b"),
            (r"^[\]\\^]$", "]|\\|^", "a"),
            (r"^[\b]$", "\u{8}", "b"),
            (r"^\bab\b c \B$", "ab c ", "abc"),
            (r"^.$", "é|😀|\u{85}", "\n|\r|\u{2028}|ab"),
            (r"^\s$", " |\u{feff}|\u{a0}|\u{3000}|\u{2029}", "\u{85}|\u{180e}|a"),
            (r"^\S\D\W$", "ab-|é😀é", " b-|a1-|aaa"),
            (r"^[^\d\s]$", "a", "1| "),
            (r"^\p{Lu}\P{Letter}$", "É1|A-", "é1|AB"),
            (r"^[\p{gc=Nd}\p{Alphabetic}_]+$", "1১ab_é", "-"),
            (r"^\t\n\v\f\r\cJ\0$", "\t\n\u{b}\u{c}\r\n\0", "tnvfrJ0"),
            (r"^\x41\u0042\u{1F600}\uD83D\uDE00$", "AB😀😀", "AB"),
            (r"^\-\@\/\#$", "-@/#", r"\-\@"),
            ("^a$", "a", "a\n|ba"),
            ("#a", "#a", "a"),
        ] {
            let compiled = Pattern::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
            for text in matching.split('|').filter(|text| !text.is_empty()) {
                assert!(compiled.matches(text), "{pattern} should match {text:?}");
            }
            for text in others.split('|').filter(|text| !text.is_empty()) {
                assert!(!compiled.matches(text), "{pattern} shouldn't match {text:?}");
            }
        }
    }

    #[test]
    fn invalid_patterns_and_those_that_need_backtracking_are_refused() {
        const UNSUPPORTED: [&str; 5] = ["look-around", "back-reference", "group", "isn't supported", "too large"];
        for (pattern, reason) in [
            ("(?=a)", "look-around"),
            ("(?<!a)b", "look-around"),
            (r"(a)\1", "back-reference"),
            (r"(?<a>a)\k<a>", "back-reference"),
            ("(?i:a)", "group"),
            ("(a", "isn't closed"),
            ("a)", "closes nothing"),
            ("[a", "isn't closed"),
            ("*a", "nothing that `*`"),
            ("a**", "nothing that `*`"),
            ("^*", "nothing that `*`"),
            ("a|{2}", "nothing that `{2}`"),
            ("[z-a]", "out of order"),
            (r"\A", "isn't an escape"),
            (r"\u12", "4 hexadecimal digits"),
            (r"\uD83D", "surrogate"),
            (r"\u{110000}", "isn't a character"),
            (r"\p{Script=Greek}", "isn't supported"),
            (r"\p", "property in braces"),
            ("\\", "ends the pattern"),
            ("((((a{1000}){1000}){1000}){1000})", "too large"),
        ] {
            let refused = Pattern::new(pattern).expect_err(pattern);
            assert!(refused.message.contains(reason), "{pattern}: {}", refused.message);
            let is_supported = !UNSUPPORTED.contains(&reason);
            assert_eq!(refused.kind == ProblemKind::Other, is_supported, "{pattern}");
        }
    }
}
