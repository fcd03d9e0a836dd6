//! The header of a message, which is read without copying, and without decoding the parameters.

use std::borrow::Cow;
use std::sync::OnceLock;

use mcp_json_schema::JsonType;

use crate::borrowed::{BorrowedJson, members};
use crate::decode::Decode;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};
use crate::id::RequestId;
use crate::known::Places;
use crate::reader::{Envelope, Reader, VERSION};

/// The members of a JSON-RPC message that are the same for every method, borrowed from the message's text.
///
/// A header can be read from every text that [`Message`](super::Message) can be decoded from, and both agree on the
/// kind of message. A header can also be read from many texts that can't be decoded, such as a request whose parameters
/// are nested too deep, so that the error response has the id of the request.
///
/// ```
/// use mcp_wire::{MessageHeader, MessageKind};
///
/// let json = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"p"}}}"#;
/// let header = MessageHeader::from_slice(json)?;
/// assert_eq!(header.kind()?, MessageKind::Request);
/// assert_eq!(header.method().as_deref(), Some("tools/call"));
/// assert_eq!(header.id(), Some(7.into()));
/// let token = header.param(&["_meta", "progressToken"])?;
/// assert_eq!(token.map(|token| token.text()), Some("\"p\""));
/// # Ok::<(), mcp_wire::DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MessageHeader<'a> {
    message: BorrowedJson<'a>,
    id: Option<BorrowedJson<'a>>,
    method: Option<BorrowedJson<'a>>,
    params: Option<BorrowedJson<'a>>,
    param_members: KnownMembers<'a>,
    result: Option<BorrowedJson<'a>>,
    error: Option<BorrowedJson<'a>>,
    /// Whether the member `method` comes before `result` and `error`: a message in another order isn't a request.
    method_is_first: bool,
    /// Whether the member `method` is a string without escapes.
    method_is_plain: bool,
    /// The end of the envelope, if its valid members are the first ones of the message, as in most messages.
    envelope_end: Option<usize>,
    /// Whether the version is one of them.
    has_version: bool,
    /// The values that have been read as text, and their maximum depth.
    places: Places,
    deepest: usize,
}

/// The members of an object. They are read with the first look-up, so that the text isn't read again for each one.
/// `None` if the value isn't an object, or has more than [`MAX_MEMBERS`] members or an invalid name.
type KnownMembers<'a> = OnceLock<Option<Vec<Member<'a>>>>;

/// A member of the parameters, or of an object in them.
#[derive(Debug, Clone)]
struct Member<'a> {
    name: Cow<'a, str>,
    value: BorrowedJson<'a>,
    members: KnownMembers<'a>,
}

/// The maximum number of an object's members that a header keeps.
const MAX_MEMBERS: usize = 32;

/// The kinds of JSON-RPC messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A request, which expects a response.
    Request,
    /// A notification, which expects no response.
    Notification,
    /// The successful response to an earlier request.
    Response,
    /// The error response to an earlier request.
    Error,
}

impl<'a> MessageHeader<'a> {
    /// Reads the header of one message.
    ///
    /// # Errors
    /// When the text isn't a JSON object, or a member of the header occurs twice.
    pub fn from_slice(json: &'a [u8]) -> Decoded<Self> {
        Self::whole(Reader::from_slice(json)?, json)
    }

    /// Reads the header of the message that is the whole text of the reader.
    fn whole(reader: Reader<'a>, json: &'a [u8]) -> Decoded<Self> {
        // A text that isn't JSON has no members either.
        let reason = |error| BorrowedJson::whole(json).err().unwrap_or(error);
        reader.whole(|reader| Self::read(reader).map_err(reason))
    }

    fn read(reader: &mut Reader<'a>) -> Decoded<Self> {
        reader.json_type()?;
        let (start, text) = (reader.position(), reader.rest());
        let mut header = Self {
            message: BorrowedJson::of_valid(text, 0),
            id: None,
            method: None,
            params: None,
            param_members: OnceLock::new(),
            result: None,
            error: None,
            method_is_first: false,
            method_is_plain: false,
            envelope_end: None,
            has_version: false,
            places: Places::default(),
            deepest: 0,
        };
        // The places are those in the text of the message.
        if start == 0 {
            reader.remember();
        }
        let mut in_envelope = true;
        let mut first = reader.open_object()?;
        while let Some(key) = reader.next_key(&mut first)? {
            // Members of the parameters are needed in most requests, so they are kept when they are read.
            let members = (key == "params").then(|| {
                reader.attempt(|reader| {
                    reader.json_type().ok()?;
                    let offset = reader.position() - start;
                    Some((offset, members_of(reader, offset)?))
                })
            });
            let value = match members.flatten() {
                Some((offset, members)) => {
                    header.param_members = OnceLock::from(Some(members));
                    BorrowedJson::of_valid(&text[offset..reader.position() - start], offset)
                }
                None => {
                    let value = reader.text_at_any_depth()?;
                    BorrowedJson::of_valid(value, reader.position() - start - value.len())
                }
            };
            in_envelope = in_envelope
                && match &*key {
                    "id" => value.text() != "null",
                    "jsonrpc" if value.string().is_ok_and(|version| version == VERSION) => {
                        !std::mem::replace(&mut header.has_version, true)
                    }
                    _ => false,
                };
            if in_envelope {
                header.envelope_end = Some(reader.position() - start);
            }
            let place = match &*key {
                "id" => &mut header.id,
                "method" => {
                    header.method_is_first = header.result.is_none() && header.error.is_none();
                    header.method_is_plain = matches!(value.string(), Ok(Cow::Borrowed(_)));
                    &mut header.method
                }
                "params" => &mut header.params,
                "result" => &mut header.result,
                "error" => &mut header.error,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Err(reader.duplicate(&key));
            }
        }
        header.message = BorrowedJson::of_valid(&text[..reader.position() - start], 0);
        (header.places, header.deepest) = (reader.take_remembered(), reader.deepest());
        Ok(header)
    }

    /// Returns a reader of the message, which doesn't read again the values that the header has read.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader::of_places(self.message.text(), &self.places, self.deepest)
    }

    /// Decodes the message.
    ///
    /// # Errors
    /// When it isn't a `T`.
    pub fn decode<T: Decode>(&self) -> Decoded<T> {
        self.give_envelope(self.reader()).whole(T::decode)
    }

    /// Gives a reader the envelope, so that it doesn't read it again. Its text must be that of the message, or start like
    /// it up to the parameters.
    #[must_use]
    pub fn give_envelope<'r>(&self, mut reader: Reader<'r>) -> Reader<'r> {
        reader.envelope = self.envelope();
        reader
    }

    /// Returns the envelope, if the message starts with its valid members.
    fn envelope(&self) -> Option<Envelope> {
        let end = self.envelope_end?;
        let id = self.id.filter(|id| id.offset() < end);
        let id = id.map(BorrowedJson::decode_as).transpose().ok()?;
        // Conversions of the parameters move what follows them.
        let is_before_params =
            |method: &BorrowedJson<'_>| self.params.is_none_or(|params| method.offset() < params.offset());
        let method = self.method.filter(|_| self.method_is_first).filter(is_before_params);
        let method = method.filter(|_| self.method_is_plain);
        // Without its quotes.
        let method = method.map(|method| method.offset() + 1..method.offset() + method.text().len() - 1);
        Some(Envelope::at_start(id, self.has_version, end, method))
    }

    /// Checks the member `jsonrpc`.
    ///
    /// # Errors
    /// When it isn't `"2.0"`, or missing.
    pub fn check_version(&self) -> Decoded<()> {
        if self.has_version {
            return Ok(());
        }
        let (mut reader, mut first, mut version) = (self.reader(), true, None);
        reader.open_object()?;
        while let Some(key) = reader.next_key(&mut first)? {
            match &*key {
                "jsonrpc" if version.is_some() => return Err(reader.duplicate(&key)),
                "jsonrpc" => version = Some(reader.jsonrpc_version().map_err(|error| error.in_member(&key))?),
                _ => drop(reader.text_at_any_depth()?),
            }
        }
        version.ok_or_else(|| reader.missing("jsonrpc"))
    }

    /// Returns the kind of the message.
    ///
    /// # Errors
    /// When the message has none of `method`, `result` and `error`, or several of them.
    pub fn kind(&self) -> Decoded<MessageKind> {
        let not_a_message = |expected: &'static str, found: &'static str| {
            let kind = DecodeErrorKind::NotAMessage;
            Err(DecodeError::new(kind, expected, found, self.message.offset()))
        };
        match (self.method, self.result, self.error) {
            (Some(_), ..) if self.method_is_first => Ok(match self.id {
                Some(_) => MessageKind::Request,
                None => MessageKind::Notification,
            }),
            (None, Some(_), None) => Ok(MessageKind::Response),
            (None, None, Some(_)) => Ok(MessageKind::Error),
            (None, None, None) => not_a_message("a member `method`, `result` or `error`", "none of them"),
            _ => not_a_message("only one of `method`, `result` and `error`", "several of them"),
        }
    }

    /// Returns the whole message.
    #[must_use]
    pub fn message(&self) -> BorrowedJson<'a> {
        self.message
    }

    /// Returns the name of the method, if the member `method` is a string.
    #[must_use]
    pub fn method(&self) -> Option<Cow<'a, str>> {
        let method = self.method?;
        match self.method_is_plain {
            true => method.text().get(1..method.text().len() - 1).map(Cow::Borrowed),
            false => method.string().ok(),
        }
    }

    /// Whether there is a member `id` with any value.
    #[must_use]
    pub fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Returns the id, if it is valid.
    #[must_use]
    pub fn id(&self) -> Option<RequestId> {
        self.id?.decode_as().ok()
    }

    /// Returns the member `params`.
    #[must_use]
    pub fn params(&self) -> Option<BorrowedJson<'a>> {
        self.params
    }

    /// Returns the member `result`.
    #[must_use]
    pub fn result(&self) -> Option<BorrowedJson<'a>> {
        self.result
    }

    /// Returns the member `error`.
    #[must_use]
    pub fn error(&self) -> Option<BorrowedJson<'a>> {
        self.error
    }

    /// Returns the value at `path` in the parameters; see [`BorrowedJson::get`].
    ///
    /// # Errors
    /// As for [`BorrowedJson::get`].
    pub fn param(&self, path: &[&str]) -> Decoded<Option<BorrowedJson<'a>>> {
        let Some(params) = self.params else { return Ok(None) };
        let value = find(params, &self.param_members, path);
        value.map_err(|error| error.in_member("params"))
    }
}

/// Returns the value at `path` in an object whose members may have been read.
fn find<'a>(object: BorrowedJson<'a>, known: &KnownMembers<'a>, path: &[&str]) -> Decoded<Option<BorrowedJson<'a>>> {
    let [name, rest @ ..] = path else {
        return Ok(Some(object));
    };
    let Some(members) = known.get_or_init(|| members_of(&mut Reader::new(object.text()), object.offset())) else {
        return object.get(path);
    };
    let mut named = members.iter().filter(|member| member.name == *name);
    match (named.next(), named.next()) {
        (None, _) => Ok(None),
        (Some(Member { value, members, .. }), None) => {
            find(*value, members, rest).map_err(|error| error.in_member(name))
        }
        (Some(_), Some(_)) => object.get(path),
    }
}

/// Returns the members of the next object, which is at `offset` in the message.
fn members_of<'a>(reader: &mut Reader<'a>, offset: usize) -> Option<Vec<Member<'a>>> {
    let mut found = Vec::new();
    let has_room = |name: &Cow<'a, str>, value| {
        found.push(Member {
            name: name.clone(),
            value,
            members: OnceLock::new(),
        });
        found.len() <= MAX_MEMBERS
    };
    members(reader, offset, has_room).ok()?;
    Some(found)
}

/// The payload that a peer sent: a message, or a batch of messages.
#[derive(Debug, Clone)]
pub enum Payload<'a> {
    /// One message.
    Message(MessageHeader<'a>),
    /// Several messages in an array.
    Batch(BatchElements<'a>),
}

impl<'a> Payload<'a> {
    /// Reads a JSON text that is an object or an array.
    ///
    /// # Errors
    /// When the text is neither, or a member of the header of a single message occurs twice.
    pub fn from_slice(json: &'a [u8]) -> Decoded<Self> {
        let mut reader = Reader::from_slice(json)?;
        match reader.json_type()? {
            JsonType::Array => Ok(Self::Batch(BatchElements {
                array: BorrowedJson::whole(json)?.text(),
                position: 1,
                index: 0,
            })),
            _ => MessageHeader::whole(reader, json).map(Self::Message),
        }
    }

    /// Returns the JSON text of the message or the array, without white space around it.
    #[must_use]
    pub fn text(&self) -> &'a str {
        match self {
            Self::Message(header) => header.message.text(),
            Self::Batch(elements) => elements.array,
        }
    }
}

/// The messages of a batch, read one after the other from its text. Nothing is allocated in advance.
///
/// An element that isn't a message is an error, and the elements after it are still read.
///
/// ```
/// use mcp_wire::Payload;
///
/// let Payload::Batch(elements) = Payload::from_slice(br#"[{"method":"a"},5,{"method":"b"}]"#)? else {
///     panic!("an array");
/// };
/// assert!(elements.is_longer_than(2));
/// let read: Vec<bool> = elements.map(|header| header.is_ok()).collect();
/// assert_eq!(read, [true, false, true]);
/// # Ok::<(), mcp_wire::DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchElements<'a> {
    /// The text of the array, which has been checked to be JSON.
    array: &'a str,
    /// The end of an element, which is a character boundary.
    position: usize,
    index: usize,
}

impl BatchElements<'_> {
    /// Whether there are more than `limit` remaining elements. This reads at most `limit` + 1 elements.
    #[must_use]
    pub fn is_longer_than(&self, limit: usize) -> bool {
        let mut elements = self.clone();
        (0..=limit).all(|_| elements.next_text().is_some())
    }
}

impl<'a> BatchElements<'a> {
    fn next_text(&mut self) -> Option<BorrowedJson<'a>> {
        let rest = &self.array[self.position..];
        let gap = rest.find(|character: char| character != ',' && !character.is_ascii_whitespace())?;
        let mut reader = Reader::new(&rest[gap..]);
        // The end of the array isn't a value.
        let text = reader.text_at_any_depth().ok()?;
        let offset = self.position + gap;
        self.position = offset + text.len();
        Some(BorrowedJson::of_valid(text, offset))
    }
}

impl<'a> Iterator for BatchElements<'a> {
    type Item = Decoded<MessageHeader<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let element = self.next_text()?;
        let header = MessageHeader::read(&mut Reader::new(element.text()));
        let index = self.index;
        self.index += 1;
        Some(header.map_err(|error| error.in_element(index)))
    }
}
