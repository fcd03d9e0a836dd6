//! A scanner that finds the end of a JSON value by its structure.

/// The maximum nesting of objects and arrays, which is more than any decoder of this program accepts.
const DEPTH: usize = 1024;

/// The role of a byte for the value that is scanned.
pub enum Step {
    /// It belongs to the value.
    Within,
    /// It is the last byte of the value.
    Last,
    /// The value has ended before this byte.
    Past,
    /// The byte isn't allowed there; the text states what is.
    Wrong(&'static str),
}

/// The position of the scanner in the grammar of JSON.
#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    AfterValue,
    String {
        is_key: bool,
        is_escaped: bool,
    },
    Number,
    /// Within `true`, `false` or `null`; the rest of it follows.
    Literal(&'static [u8]),
}

/// An object or array that isn't closed yet.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    Array,
}

/// Scans a value byte by byte.
#[derive(Default)]
pub struct Scanner {
    state: State,
    open: Vec<Open>,
}

impl Scanner {
    /// Scans the next byte.
    pub fn step(&mut self, byte: u8) -> Step {
        match self.state {
            State::String { is_key, is_escaped } => self.in_string(byte, is_key, is_escaped),
            State::Number if is_of_number(byte) => Step::Within,
            State::Number if byte.is_ascii_alphabetic() => Step::Wrong("expected the end of a number"),
            State::Number if self.open.is_empty() => Step::Past,
            State::Number => {
                self.state = State::AfterValue;
                self.step(byte)
            }
            State::Literal(rest) => self.in_literal(byte, rest),
            _ if is_space(byte) => Step::Within,
            State::FirstElement if byte == b']' => self.close(),
            State::Value | State::FirstElement => self.begin(byte),
            State::FirstKey if byte == b'}' => self.close(),
            State::FirstKey | State::Key if byte == b'"' => self.begin_string(true),
            State::FirstKey => Step::Wrong("expected a member's name or `}`"),
            State::Key => Step::Wrong("expected a member's name"),
            State::Colon if byte == b':' => {
                self.state = State::Value;
                Step::Within
            }
            State::Colon => Step::Wrong("expected `:`"),
            State::AfterValue => self.after_value(byte),
        }
    }

    /// Whether the value is complete if the input ends here.
    pub fn at_end(&self) -> bool {
        matches!(self.state, State::Number) && self.open.is_empty()
    }

    fn begin(&mut self, byte: u8) -> Step {
        if self.open.len() == DEPTH {
            return Step::Wrong("expected fewer than 1024 levels of nesting");
        }
        match byte {
            b'{' => {
                self.open.push(Open::Object);
                self.state = State::FirstKey;
            }
            b'[' => {
                self.open.push(Open::Array);
                self.state = State::FirstElement;
            }
            b'"' => return self.begin_string(false),
            b't' => self.state = State::Literal(b"rue"),
            b'f' => self.state = State::Literal(b"alse"),
            b'n' => self.state = State::Literal(b"ull"),
            b'-' | b'0'..=b'9' => self.state = State::Number,
            _ => return Step::Wrong("expected a value"),
        }
        Step::Within
    }

    fn begin_string(&mut self, is_key: bool) -> Step {
        let is_escaped = false;
        self.state = State::String { is_key, is_escaped };
        Step::Within
    }

    fn in_string(&mut self, byte: u8, is_key: bool, is_escaped: bool) -> Step {
        match byte {
            b'\n' => return Step::Wrong("expected the end of a string"),
            b'"' if !is_escaped && is_key => self.state = State::Colon,
            b'"' if !is_escaped => return self.end(),
            _ => {
                let is_escaped = byte == b'\\' && !is_escaped;
                self.state = State::String { is_key, is_escaped };
            }
        }
        Step::Within
    }

    fn in_literal(&mut self, byte: u8, rest: &'static [u8]) -> Step {
        match rest {
            [last] if *last == byte => self.end(),
            [next, rest @ ..] if *next == byte => {
                self.state = State::Literal(rest);
                Step::Within
            }
            _ => Step::Wrong("expected `true`, `false` or `null`"),
        }
    }

    fn after_value(&mut self, byte: u8) -> Step {
        match (self.open.last(), byte) {
            (Some(Open::Object), b',') => self.state = State::Key,
            (Some(Open::Array), b',') => self.state = State::Value,
            (Some(Open::Object), b'}') | (Some(Open::Array), b']') => return self.close(),
            (Some(Open::Object), _) => return Step::Wrong("expected `,` or `}`"),
            _ => return Step::Wrong("expected `,` or `]`"),
        }
        Step::Within
    }

    /// Closes the innermost object or array.
    fn close(&mut self) -> Step {
        self.open.pop();
        self.end()
    }

    /// Ends a value with this byte.
    fn end(&mut self) -> Step {
        self.state = State::AfterValue;
        match self.open.is_empty() {
            true => Step::Last,
            false => Step::Within,
        }
    }
}

/// Whether a byte can be the first of a value.
pub fn begins_value(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

/// Whether a byte can separate values. This includes the record separator of RFC 7464.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x1e)
}

/// Whether a byte can be part of a number. The decoder checks whether they form one.
fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}
