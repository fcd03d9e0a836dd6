//! JSON texts that are composed of values that have been read or written before.

use std::sync::Arc;

use crate::shared::SharedJson;

/// A JSON text, and the places of values in it that are known to be JSON. A [`Reader`](crate::Reader) of it skips these
/// values without reading their bytes.
#[derive(Debug, Clone, Default)]
pub struct KnownJson {
    text: String,
    /// The places, in the order of the text. `None` if they aren't needed.
    places: Option<Vec<Place>>,
    /// A part that is shared with other texts, and the start of its value.
    shared: Option<(usize, Arc<SharedJson>)>,
}

/// The place of a known value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether the value is a string without escapes.
    pub(crate) is_plain: bool,
}

/// The places of the values that a reader has read as text.
#[derive(Debug, Clone, Default)]
pub struct Places(pub(crate) Vec<Place>);

/// A value whose text is being written.
#[derive(Debug)]
pub struct Begun(usize);

/// The length from which on it is faster to remember a value than to read its bytes again.
const LONG: usize = 32;

/// Whether a value is a string without escapes.
fn is_plain(json: &str) -> bool {
    json.starts_with('"') && !json.as_bytes().contains(&b'\\')
}

impl Places {
    /// Remembers the value at a place, if it is long. `is_plain` is whether it is a string without escapes.
    pub(crate) fn mark(&mut self, start: usize, json: &str, is_plain: bool) {
        if json.len() >= LONG {
            let end = start + json.len();
            self.0.push(Place { start, end, is_plain });
        }
    }
}

impl KnownJson {
    /// Creates an empty text whose values will be remembered, with a capacity in bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::known_from(String::with_capacity(capacity))
    }

    /// Creates a text from one whose values aren't known. Values that are appended will be remembered.
    pub(crate) fn known_from(text: String) -> Self {
        Self {
            text,
            places: Some(Vec::new()),
            shared: None,
        }
    }

    /// Appends text between values.
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends a value, whose text has been read as JSON before.
    pub fn push_value(&mut self, json: &str) {
        let start = self.text.len();
        self.text.push_str(json);
        self.mark(start, || is_plain(json));
    }

    /// Appends a part of another text. It starts at `start` in that text, whose known values are at `places`. Those
    /// within the part stay known.
    pub fn push_part(&mut self, json: &str, start: usize, places: &Places) {
        if let Some(known) = &mut self.places {
            let first = places.0.partition_point(|place| place.start < start);
            let end = start + json.len();
            let begun = places.0[first..].iter().take_while(|place| place.start < end);
            let moved = |at: usize| at - start + self.text.len();
            known.extend(begun.filter(|place| place.end <= end).map(|place| Place {
                start: moved(place.start),
                end: moved(place.end),
                is_plain: place.is_plain,
            }));
        }
        self.text.push_str(json);
    }

    /// Appends a part that is shared with other texts.
    pub fn push_shared(&mut self, json: &Arc<SharedJson>) {
        self.shared = Some((self.text.len() + json.start(), Arc::clone(json)));
        self.text.push_str(json.text());
    }

    /// Starts a value, whose text is pushed until [`end`](Self::end).
    pub fn begin(&mut self) -> Begun {
        let start = self.text.len();
        let Some(places) = &mut self.places else {
            return Begun(0);
        };
        places.push(Place {
            start,
            end: start,
            is_plain: false,
        });
        Begun(places.len() - 1)
    }

    /// Ends a value.
    pub fn end(&mut self, begun: Begun) {
        let end = self.text.len();
        let Some(places) = &mut self.places else { return };
        match places.get_mut(begun.0) {
            Some(place) if end - place.start >= LONG => place.end = end,
            // The values in it are short too, so none of them has been remembered.
            _ => places.truncate(begun.0),
        }
    }

    /// Remembers the value from `start` to the end, if it is long.
    pub(crate) fn mark(&mut self, start: usize, is_plain: impl FnOnce() -> bool) {
        let end = self.text.len();
        if let Some(places) = &mut self.places
            && end - start >= LONG
        {
            let is_plain = is_plain();
            places.push(Place { start, end, is_plain });
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    pub(crate) fn shared(&self) -> Option<(usize, &SharedJson)> {
        self.shared.as_ref().map(|(start, shared)| (*start, &**shared))
    }

    pub(crate) fn places(&self) -> &[Place] {
        self.places.as_deref().unwrap_or_default()
    }
}

/// Creates a text without known values.
impl From<String> for KnownJson {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RawJson, Reader};

    #[test]
    fn a_reader_skips_known_values_without_reading_them() {
        let mut known = KnownJson::with_capacity(0);
        known.push("{\"a\":");
        // The value isn't JSON, which a reader would only notice by reading it.
        known.push_value(&"x".repeat(LONG));
        known.push("}");
        let read = |mut reader: Reader<'_>| reader.raw().map(str::len);
        assert!(read(Reader::new(known.text())).is_err());
        let mut reader = Reader::of_known(&known);
        let mut lengths = Vec::new();
        let members = reader.members(|reader, _| reader.raw().map(|text| lengths.push(text.len())));
        assert!(members.is_ok());
        assert_eq!(lengths, [LONG]);
    }

    #[test]
    fn known_strings_are_not_among_the_parts_to_look_at() {
        let long = "a".repeat(LONG);
        let values = vec![long.clone(), "b".to_owned(), format!("{long}\n"), long];
        let known = KnownJson::after("[".to_owned(), &values).unwrap();
        let reader = Reader::of_known(&known).starting_at(1);
        let parts: Vec<&str> = reader.parts_to_look_at().collect();
        assert_eq!(parts, ["[[", ",\"b\",", ",", "]"]);
        assert_eq!(reader.rest(), &known.text()[1..]);
        let (text, _) = KnownJson::after("[".to_owned(), &crate::Number::from(f64::NAN)).unwrap_err();
        assert_eq!(text, "[");
    }

    #[test]
    fn values_read_as_text_are_known_in_a_part_of_another_text() {
        let long = format!("{:?}", "a".repeat(LONG));
        let source = format!("{{\"before\":{long},\"part\":{{\"a\":{long},\"b\":[1]}},\"after\":{long}}}");
        let mut reader = Reader::new(&source).remembering();
        // Values that were peeked at aren't remembered.
        assert_eq!(reader.peek_member(&["after"]).unwrap(), Some("after"));
        let part = reader.members(|reader, name| match &*name {
            "part" => reader.members(|reader, _| reader.raw().map(drop)),
            _ => reader.raw().map(drop),
        });
        assert!(part.is_ok());
        let places = reader.take_remembered();
        assert_eq!(places.0.len(), 3);
        let start = source.find("{\"a\"").unwrap();
        let end = source.find(",\"after\"").unwrap();
        let mut known = KnownJson::with_capacity(0);
        known.push("[");
        known.push_part(&source[start..end], start, &places);
        known.push("]");
        let [place] = known.places() else {
            panic!("one value is long: {:?}", known.places())
        };
        assert_eq!(&known.text()[place.start..place.end], long);
        assert!(place.is_plain);
        assert_eq!(Reader::of_known(&known).raw().unwrap(), known.text());
    }

    #[test]
    fn only_long_arrays_and_objects_are_known_as_a_whole() {
        let known = |values: &[&str]| {
            let known = KnownJson::of(&crate::Map::from([("a", vec![values; 2])])).unwrap();
            known
                .places()
                .iter()
                .map(|place| known.text()[place.start..place.end].to_owned())
                .collect::<Vec<_>>()
        };
        assert!(known(&[]).is_empty());
        let array = r#"["abcdefghijkl","abcdefghijkl","x"]"#;
        let arrays = format!("[{array},{array}]");
        let places = [&*format!("{{\"a\":{arrays}}}"), &*arrays, array, array];
        assert_eq!(known(&["abcdefghijkl", "abcdefghijkl", "x"]), places);
    }

    #[test]
    fn a_value_reads_the_same_whether_its_parts_are_known_or_not() {
        let long = "abc ".repeat(LONG);
        let parts = [format!("{long}\n"), long, String::from("short"), String::new()];
        let open: RawJson = crate::from_str(&format!("[{:?}, 1, {{}}]", parts[1])).unwrap();
        for part in &parts {
            let value = crate::Map::from([("text", RawJson::from_encode(part).unwrap()), ("open", open.clone())]);
            let known = KnownJson::of(&value).unwrap();
            assert_eq!(known.text(), crate::to_string(&value).unwrap());
            assert_eq!(Reader::of_known(&known).raw().unwrap(), known.text());
            let mut reader = Reader::of_known(&known);
            // After looking ahead, the reader still finds the places.
            assert_eq!(reader.peek_tag("text").unwrap().as_deref(), Some(&**part));
            assert_eq!(reader.decode::<crate::Map<RawJson>>().unwrap(), value);
            let mut strings = Vec::new();
            let mut reader = Reader::of_known(&known);
            let members = reader.members(|reader, name| match &*name {
                "text" => reader.string().map(|text| strings.push(text.into_owned())),
                _ => reader.raw().map(drop),
            });
            assert!(members.is_ok());
            assert_eq!(strings.first(), Some(part));
        }
    }
}
