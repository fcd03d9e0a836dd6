//! JSON that is being converted: a tree where conversions look into it, and text elsewhere.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use mcp_wire::{
    BorrowedJson, Decoded, JsonType, KnownJson, Places, RawJson, Reader, SharedJson, from_str, push_string,
};

use crate::placeholders::member;
use crate::unrepresentable::{Converted, Unrepresentable};

/// A JSON value.
#[derive(Debug, Clone)]
pub(crate) enum Node<'a> {
    /// The text of any value.
    Text(Cow<'a, str>),
    /// The text of an object that isn't a declared variant of its union.
    Unknown(Cow<'a, str>),
    /// The text of a value of the source that no conversion of its type changes, and the position of its start in the
    /// source.
    Kept(&'a str, usize),
    /// The same, except for members of objects in it that conversions remove or add.
    Edited(Box<Edited<'a>>),
    Array(Vec<Node<'a>>),
    Object(Vec<Entry<'a>>),
}

/// The text of a value of the source, the position of its start there, and its edits, in the order of the text.
#[derive(Debug, Clone)]
pub(crate) struct Edited<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) edits: Vec<Edit>,
}

/// The replacement of a part of the source.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    /// The part, which can be empty.
    pub(super) range: Range<usize>,
    /// The members to insert, and whether they follow another member.
    pub(super) members: Option<(Arc<SharedJson>, bool)>,
}

impl Edit {
    pub(super) fn remove(range: Range<usize>) -> Self {
        Self { range, members: None }
    }

    /// Inserts members at a position. `follow` is whether they follow another member.
    pub(super) fn insert(at: usize, members: Arc<SharedJson>, follow: bool) -> Self {
        Self {
            range: at..at,
            members: (!members.text().is_empty()).then_some((members, follow)),
        }
    }

    /// Applies the edit to the source.
    pub(crate) fn apply(self, source: &mut String) {
        let members = self.members.map(|(members, follow)| match follow {
            true => format!(",{}", members.text()),
            false => members.text().to_owned(),
        });
        source.replace_range(self.range, &members.unwrap_or_default());
    }
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Whether the type of the object declares the member, and the value is one of the declared type. Undeclared
    /// members pass through the conversions to revisions that don't declare them either.
    pub(crate) declared: bool,
    pub(crate) value: Node<'a>,
}

impl<'a> Entry<'a> {
    pub(crate) fn declared(name: impl Into<Cow<'a, str>>, value: Node<'a>) -> Self {
        Self {
            name: name.into(),
            declared: true,
            value,
        }
    }
}

impl<'a> Node<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a string.
    pub(super) fn string(text: &str) -> Self {
        let mut json = String::new();
        push_string(&mut json, text);
        Self::text(json)
    }

    /// Returns the edits that turn the source into this value, if they are few. The last edit is first, because each
    /// one moves the text after it. The value has to span the `length` bytes of the source from `start` on.
    pub(crate) fn few_edits(&mut self, start: usize, length: usize) -> Option<Vec<Edit>> {
        const FEW: usize = 2;
        match self {
            Self::Kept(text, at) if (*at, text.len()) == (start, length) => Some(Vec::new()),
            Self::Edited(edited)
                if (edited.start, edited.text.len()) == (start, length) && edited.edits.len() <= FEW =>
            {
                edited.edits.reverse();
                Some(std::mem::take(&mut edited.edits))
            }
            _ => None,
        }
    }

    /// Whether the text is that of the source up to a value there.
    pub(crate) fn starts_like_source(&self, value: Option<BorrowedJson<'_>>) -> bool {
        let until = value.map_or(usize::MAX, BorrowedJson::offset);
        match self {
            Self::Kept(_, start) => *start == 0,
            Self::Edited(edited) => edited.start == 0 && edited.edits.iter().all(|edit| edit.range.start >= until),
            _ => false,
        }
    }

    /// Returns the JSON type of the value.
    pub(crate) fn json_type(&self) -> JsonType {
        let text: &str = match self {
            Self::Text(text) => text,
            Self::Kept(text, _) => text,
            Self::Edited(edited) => edited.text,
            Self::Array(_) => return JsonType::Array,
            Self::Unknown(_) | Self::Object(_) => return JsonType::Object,
        };
        Reader::new(text).json_type().unwrap_or(JsonType::Null)
    }

    /// Whether the value was kept as text, so that conversions of its type have nothing to change in it.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(..) | Self::Edited(_))
    }

    /// Whether a JSON text is the same value.
    pub(super) fn is_same_as(&self, json: &str) -> bool {
        let text = self.to_text();
        text == json || from_str::<RawJson>(&text) == from_str::<RawJson>(json)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.json_type() == JsonType::Null
    }

    /// Returns the characters of a string.
    pub(crate) fn as_str(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Reader::new(text).string().ok(),
            Self::Kept(text, _) => Reader::new(text).string().ok(),
            _ => None,
        }
    }

    /// Returns the JSON text.
    pub(crate) fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) | Self::Unknown(text) => Cow::Borrowed(text),
            Self::Kept(text, _) => Cow::Borrowed(text),
            _ => {
                let mut json = String::new();
                self.push_to(&mut json, 0);
                Cow::Owned(json)
            }
        }
    }

    /// Appends the JSON text, and reserves `room` more bytes.
    pub(crate) fn push_to(&self, json: &mut String, room: usize) {
        json.reserve(self.length() + room);
        // The positions of values in it aren't needed.
        let mut known = KnownJson::from(std::mem::take(json));
        self.write(&mut known, &Places::default());
        *json = known.into_text();
    }

    /// Turns the value into its JSON text.
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) | Self::Unknown(text) => text,
            Self::Kept(text, _) => Cow::Borrowed(text),
            tree => Cow::Owned(tree.to_text().into_owned()),
        }
    }

    /// Turns the value into open JSON.
    pub(crate) fn into_json(self) -> RawJson {
        RawJson::of_json(self.into_text())
    }

    /// Turns a text into a tree, which `read` reads. Reading doesn't fail if the source has been checked.
    fn open(&mut self, read: impl for<'t> Fn(&'t str) -> Decoded<Node<'t>>) -> Converted {
        let opened = match self {
            Self::Text(text) | Self::Unknown(text) => open(text, read),
            Self::Kept(text, _) => read(text),
            Self::Edited(_) => read(&self.to_text()).map(Node::into_owned),
            _ => return Ok(()),
        };
        *self = opened.map_err(Unrepresentable::undecodable)?;
        Ok(())
    }

    /// Returns the members of an object. If it is text, it is opened, with undeclared members.
    pub(crate) fn members(&mut self) -> Converted<&mut Vec<Entry<'a>>> {
        self.open(|text| {
            let mut members = Vec::new();
            Reader::new(text).members(|reader, name| {
                let value = Node::text(reader.raw().map_err(|error| error.in_member(&name))?);
                let declared = false;
                reader.push(&mut members, Entry { name, declared, value })
            })?;
            Ok(Node::Object(members))
        })?;
        match self {
            Self::Object(members) => Ok(members),
            other => Err(other.wrong_type("an object")),
        }
    }

    /// Returns the elements of an array. If it is text, it is opened.
    pub(crate) fn elements(&mut self) -> Converted<&mut Vec<Node<'a>>> {
        self.open(|text| {
            let mut elements = Vec::new();
            Reader::new(text).array(|reader| {
                let element = Node::text(reader.raw()?);
                reader.push(&mut elements, element)
            })?;
            Ok(Node::Array(elements))
        })?;
        match self {
            Self::Array(elements) => Ok(elements),
            other => Err(other.wrong_type("an array")),
        }
    }

    fn wrong_type(&self, expected: &'static str) -> Unrepresentable {
        Unrepresentable::undecodable(Reader::new("").wrong_type(expected, self.json_type()))
    }

    /// Returns the characters of a string, which it has to be.
    pub(super) fn characters(&self) -> Converted<String> {
        let text = self.as_str().ok_or_else(|| self.wrong_type("a string"))?;
        Ok(text.into_owned())
    }

    /// Returns the JSON text of the declared member at a path.
    pub(crate) fn at(&self, path: &[&str]) -> Option<Cow<'_, str>> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self.to_text());
        };
        match self {
            Self::Object(members) => {
                let mut members = members.iter();
                members
                    .find(|entry| entry.declared && entry.name == *first)?
                    .value
                    .at(rest)
            }
            Self::Array(_) => None,
            text => {
                let text = text.to_text();
                let found = Node::text(member(&text, first).ok()??);
                found.at(rest).map(|text| Cow::Owned(text.into_owned()))
            }
        }
    }

    /// Returns the JSON text, with the positions of the values in it that have been read as text. `places` has their
    /// positions in the source.
    pub(crate) fn to_known(&self, places: &Places) -> KnownJson {
        let mut json = KnownJson::with_capacity(self.length());
        self.write(&mut json, places);
        json
    }

    /// Returns the number of bytes of the JSON text, if no name has an escape.
    fn length(&self) -> usize {
        match self {
            Self::Text(text) | Self::Unknown(text) => text.len(),
            Self::Kept(text, _) => text.len(),
            Self::Edited(edited) => edited.length(),
            Self::Array(elements) => 2 + elements.iter().map(|element| element.length() + 1).sum::<usize>(),
            Self::Object(members) => {
                let members = members.iter();
                2 + members
                    .map(|entry| entry.name.len() + 4 + entry.value.length())
                    .sum::<usize>()
            }
        }
    }

    fn write(&self, json: &mut KnownJson, places: &Places) {
        match self {
            Self::Text(text) | Self::Unknown(text) => json.push_value(text),
            Self::Kept(text, start) => {
                let begun = json.begin();
                json.push_part(text, *start, places);
                json.end(begun);
            }
            Self::Edited(edited) => edited.write(json, places),
            Self::Array(elements) => {
                let begun = json.begin();
                json.push("[");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        json.push(",");
                    }
                    element.write(json, places);
                }
                json.push("]");
                json.end(begun);
            }
            Self::Object(members) => {
                let begun = json.begin();
                json.push("{");
                for (index, entry) in members.iter().enumerate() {
                    if index > 0 {
                        json.push(",");
                    }
                    json.push_string(&entry.name);
                    json.push(":");
                    entry.value.write(json, places);
                }
                json.push("}");
                json.end(begun);
            }
        }
    }

    /// Copies what the value borrows from the source.
    pub(crate) fn into_owned(self) -> Node<'static> {
        match self {
            Self::Text(text) => Node::Text(Cow::Owned(text.into_owned())),
            Self::Unknown(text) => Node::Unknown(Cow::Owned(text.into_owned())),
            Self::Kept(text, _) => Node::text(text.to_owned()),
            Self::Edited(_) => Node::text(self.to_text().into_owned()),
            Self::Array(elements) => Node::Array(elements.into_iter().map(Node::into_owned).collect()),
            Self::Object(members) => {
                let own = |entry: Entry<'_>| Entry {
                    name: Cow::Owned(entry.name.into_owned()),
                    declared: entry.declared,
                    value: entry.value.into_owned(),
                };
                Node::Object(members.into_iter().map(own).collect())
            }
        }
    }
}

impl Edited<'_> {
    fn length(&self) -> usize {
        let members = self.edits.iter().filter_map(|edit| edit.members.as_ref());
        self.text.len() + members.map(|(members, _)| members.text().len() + 1).sum::<usize>()
    }

    fn write(&self, json: &mut KnownJson, places: &Places) {
        let begun = json.begin();
        let mut from = 0;
        for edit in &self.edits {
            let (start, end) = (edit.range.start - self.start, edit.range.end - self.start);
            json.push_part(&self.text[from..start], self.start + from, places);
            if let Some((members, follow)) = &edit.members {
                json.push(if *follow { "," } else { "" });
                json.push_shared(members);
            }
            from = end;
        }
        json.push_part(&self.text[from..], self.start + from, places);
        json.end(begun);
    }
}

/// Returns the tree that `read` reads from a text. It borrows from a borrowed text, and copies from an owned one.
pub(crate) fn open<'a>(text: &Cow<'a, str>, read: impl for<'t> Fn(&'t str) -> Decoded<Node<'t>>) -> Decoded<Node<'a>> {
    match text {
        Cow::Borrowed(text) => read(text),
        Cow::Owned(text) => read(text).map(Node::into_owned),
    }
}
