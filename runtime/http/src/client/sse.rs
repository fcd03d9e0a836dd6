//! A parser of server-sent events: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
//!
//! The crates for this (sse-stream, eventsource-stream) hold an event of any size in memory. Of an event over the limit,
//! this parser keeps only the start and the end of the data, and the event's id, so that the stream can continue after
//! it.

use std::collections::VecDeque;
use std::time::Duration;

/// The maximum bytes of a line in addition to its data.
const FIELD: usize = 64;
/// The bytes that are kept of the start and of the end of data over the limit, which can have the id of a message.
const EXCERPT: usize = 1024;

/// One event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Event {
    /// The type of the event; empty for a message.
    pub(super) name: Vec<u8>,
    pub(super) data: Vec<u8>,
    /// The data was over the limit, and only its start and its end were kept.
    pub(super) oversized: bool,
    /// The new last event id; an empty one resets it.
    pub(super) id: Option<Vec<u8>>,
    /// The new reconnection time.
    pub(super) retry: Option<Duration>,
}

/// A parser of events.
#[derive(Debug)]
pub(super) struct Parser {
    limit: usize,
    line: Vec<u8>,
    /// The line is too long, and its middle was dropped.
    cut: bool,
    /// The last byte was a carriage return, so a line feed after it belongs to the same end of line.
    after_return: bool,
    /// No line has ended yet, so the next one may start with a byte order mark.
    first: bool,
    event: Option<Event>,
}

impl Parser {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            cut: false,
            after_return: false,
            first: true,
            event: None,
        }
    }

    /// Parses the next bytes, and adds the events that are complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], events: &mut VecDeque<Event>) {
        while let Some(&next) = bytes.first() {
            if std::mem::take(&mut self.after_return) && next == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.line.extend(part);
            if self.cut || self.line.len() > self.limit.saturating_add(FIELD) {
                self.cut = true;
                drop_middle(&mut self.line);
            }
            let Some((end, rest)) = rest.split_first() else {
                return;
            };
            self.after_return = *end == b'\r';
            bytes = rest;
            events.extend(self.end_line());
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let cut = std::mem::take(&mut self.cut);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            let mut event = self.event.take()?;
            event.data.pop_if(|last| *last == b'\n');
            return Some(event);
        }

        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let short = !cut && value.len() <= self.limit.min(8 * 1024);
        match name {
            b"data" => {
                let event = self.event.get_or_insert_default();
                event.oversized |= cut || event.data.len() + value.len() > self.limit;
                event.data.extend_from_slice(value);
                event.data.push(b'\n');
                if event.oversized {
                    drop_middle(&mut event.data);
                }
            }
            b"event" if short => self.event.get_or_insert_default().name = value.to_vec(),
            b"id" if short && !value.contains(&0) => self.event.get_or_insert_default().id = Some(value.to_vec()),
            b"retry" if short && value.iter().all(u8::is_ascii_digit) => {
                let retry = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.event.get_or_insert_default().retry = retry.map(Duration::from_millis);
            }
            _ => {}
        }
        None
    }
}

/// Keeps only the start and the end of a text.
fn drop_middle(text: &mut Vec<u8>) {
    // The start of a line also has the name of its field.
    let end = text.len().saturating_sub(EXCERPT);
    text.drain((EXCERPT + FIELD).min(end)..end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], step: usize, limit: usize) -> Vec<Event> {
        let (mut parser, mut events) = (Parser::new(limit), VecDeque::new());
        for chunk in text.chunks(step) {
            parser.push(chunk, &mut events);
        }
        events.into()
    }

    #[test]
    fn without_a_limit_no_event_is_cut() {
        let data = "x".repeat(1_000);
        let events = read(format!("data: {data}\n\n").as_bytes(), 100, usize::MAX);
        assert_eq!((events.len(), events[0].data.len()), (1, 1_000));
        assert!(!events[0].oversized);
    }

    #[test]
    fn events_are_independent_of_chunks_and_line_endings() {
        let text =
            "\u{FEFF}: hello\nid: 1\nretry: 250\nevent: message\ndata: {\"a\":\ndata:1}\n\n\ndata\n\nid\n\ndata: lost";
        let expected = read(text.as_bytes(), usize::MAX, 100);
        assert_eq!(expected.len(), 3);
        assert_eq!(expected[0].data, b"{\"a\":\n1}");
        assert_eq!(expected[0].name, b"message");
        assert_eq!(expected[0].id.as_deref(), Some(&b"1"[..]));
        assert_eq!(expected[0].retry, Some(Duration::from_millis(250)));
        assert_eq!(expected[1], Event::default());
        assert_eq!(expected[2].id.as_deref(), Some(&b""[..]));
        for ends in ["\n", "\r", "\r\n"] {
            let text = text.replace('\n', ends);
            for step in 1..8 {
                assert_eq!(read(text.as_bytes(), step, 100), expected, "{ends:?} {step}");
            }
        }
    }

    #[test]
    fn of_data_over_the_limit_the_start_the_end_and_the_id_are_kept() {
        let long = "x".repeat(500);
        let halves = "y".repeat(60);
        let text = format!("data: {long}\nid: 1\n\ndata: {halves}\ndata: {halves}\nid: 2\n\nid: 3\ndata: ok\n\n");
        for step in [1, 7, 4096] {
            let events = read(text.as_bytes(), step, 100);
            let oversized: Vec<bool> = events.iter().map(|event| event.oversized).collect();
            assert_eq!(oversized, [true, true, false]);
            assert_eq!(events[1].id.as_deref(), Some(&b"2"[..]));
            assert_eq!(events[0].data, long.as_bytes());
            assert_eq!(events[2].data, b"ok");
        }
    }

    #[test]
    fn data_over_the_limit_is_held_only_in_part() {
        let line = format!("data: start{}end\n", "x".repeat(100_000));
        for lines in [1, 50] {
            for step in [1, 4096, usize::MAX] {
                let events = read(format!("{}\n", line.repeat(lines)).as_bytes(), step, 100);
                let data = &events[0].data;
                assert!(events[0].oversized);
                assert!(data.starts_with(b"start") && data.ends_with(b"end"));
                assert!(data.len() < 2 * EXCERPT + 2 * FIELD, "{}", data.len());
            }
        }
    }
}
