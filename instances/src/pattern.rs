//! Texts that match a regular expression, for the syntax that patterns in schemas commonly use.
//!
//! A sample doesn't always match, because anchors in the middle and word boundaries are ignored. Callers check it.

use std::iter::Peekable;
use std::str::Chars;

use crate::rng::Rng;

/// The maximum number of repetitions beyond the minimum, if the pattern has no bound.
const EXTRA: usize = 3;

/// The characters of classes such as `.` or `[^,]`.
const PRINTABLE: std::ops::RangeInclusive<char> = ' '..='~';

/// A regular expression that can be sampled.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// One of these characters.
    Class(Vec<char>),
    /// All parts, in order.
    Sequence(Vec<Pattern>),
    /// One of the branches.
    Either(Vec<Pattern>),
    /// A minimum and a maximum number of repetitions; `None` for no maximum.
    Repeat(Box<Pattern>, usize, Option<usize>),
}

impl Pattern {
    /// Parses a regular expression. Returns `None` if it uses syntax that can't be sampled, such as look-ahead and back
    /// references.
    pub(crate) fn parse(source: &str) -> Option<Self> {
        let mut parser = Parser {
            rest: source.chars().peekable(),
        };
        let pattern = parser.either()?;
        parser.rest.next().is_none().then_some(pattern)
    }

    /// Makes a text. `low` is the minimum length to reach by unbounded repetitions.
    pub(crate) fn sample(&self, rng: &mut Rng, low: usize) -> String {
        let mut text = String::new();
        self.write(rng, low, &mut text);
        text
    }

    fn write(&self, rng: &mut Rng, low: usize, text: &mut String) {
        match self {
            Self::Class(characters) => text.extend(rng.pick(characters)),
            Self::Sequence(parts) => parts.iter().for_each(|part| part.write(rng, low, text)),
            Self::Either(branches) => {
                if let Some(branch) = rng.pick(branches) {
                    branch.write(rng, low, text);
                }
            }
            Self::Repeat(part, least, most) => {
                let wanted = low.saturating_sub(text.chars().count());
                let most = most.unwrap_or_else(|| wanted.max(least + EXTRA));
                let least = wanted.clamp(*least, most.max(*least));
                for _ in 0..rng.between(least, most) {
                    part.write(rng, low, text);
                }
            }
        }
    }
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    fn either(&mut self) -> Option<Pattern> {
        let mut branches = vec![self.sequence()?];
        while self.rest.next_if_eq(&'|').is_some() {
            branches.push(self.sequence()?);
        }
        Some(Pattern::Either(branches))
    }

    fn sequence(&mut self) -> Option<Pattern> {
        let mut parts = Vec::new();
        while let Some(next) = self.rest.next_if(|next| !matches!(next, '|' | ')')) {
            let part = match next {
                '^' | '$' => continue,
                '(' => self.group()?,
                '[' => Pattern::Class(self.class()?),
                '.' => Pattern::Class(PRINTABLE.collect()),
                '\\' => match self.rest.peek()? {
                    'b' | 'B' => {
                        self.rest.next();
                        continue;
                    }
                    _ => Pattern::Class(self.escape()?),
                },
                '*' | '+' | '?' | '{' => return None,
                literal => Pattern::Class(vec![literal]),
            };
            parts.push(self.repeated(part)?);
        }
        Some(Pattern::Sequence(parts))
    }

    fn group(&mut self) -> Option<Pattern> {
        if self.rest.next_if_eq(&'?').is_some() {
            self.rest.next_if_eq(&':')?;
        }
        let inner = self.either()?;
        self.rest.next_if_eq(&')')?;
        Some(inner)
    }

    fn repeated(&mut self, part: Pattern) -> Option<Pattern> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.rest.next();
                let least = self.number()?;
                let most = match self.rest.next_if_eq(&',') {
                    Some(_) => self.number(),
                    None => Some(least),
                };
                (least, most)
            }
            _ => return Some(part),
        };
        // Skips the quantifier itself, or its closing brace.
        self.rest.next()?;
        self.rest.next_if_eq(&'?');
        Some(Pattern::Repeat(Box::new(part), least, most))
    }

    fn number(&mut self) -> Option<usize> {
        let digits: String = std::iter::from_fn(|| self.rest.next_if(char::is_ascii_digit)).collect();
        digits.parse().ok()
    }

    fn class(&mut self) -> Option<Vec<char>> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut characters = Vec::new();
        loop {
            let mut set = match self.rest.next()? {
                ']' => break,
                '\\' => self.escape()?,
                literal => vec![literal],
            };
            if let [first] = set[..]
                && self.rest.next_if_eq(&'-').is_some()
            {
                match self.rest.peek()? {
                    ']' => set.push('-'),
                    _ => set = (first..=self.range_end()?).collect(),
                }
            }
            characters.append(&mut set);
        }
        if negated {
            characters = PRINTABLE.filter(|character| !characters.contains(character)).collect();
        }
        Some(characters)
    }

    fn range_end(&mut self) -> Option<char> {
        match self.rest.next()? {
            '\\' => match self.escape()?[..] {
                [end] => Some(end),
                _ => None,
            },
            end => Some(end),
        }
    }

    fn escape(&mut self) -> Option<Vec<char>> {
        let all = |fits: fn(&char) -> bool| PRINTABLE.filter(fits).collect();
        Some(match self.rest.next()? {
            'd' => all(char::is_ascii_digit),
            'D' => all(|character| !character.is_ascii_digit()),
            'w' => all(|character| character.is_ascii_alphanumeric() || *character == '_'),
            'W' => all(|character| !character.is_ascii_alphanumeric() && *character != '_'),
            's' => vec![' ', '\t'],
            'S' => all(|character| *character != ' '),
            'n' => vec!['\n'],
            'r' => vec!['\r'],
            't' => vec!['\t'],
            other if other.is_ascii_alphanumeric() => return None,
            other => vec![other],
        })
    }
}
