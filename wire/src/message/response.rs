//! JSON-RPC responses.

use std::fmt;

use serde_core::{Serialize, Serializer};

use super::envelope::{Version, decode_enveloped, take_envelope};
use crate::decode::Decode;
use crate::encode::{Encode, JsonWriter};
use crate::error::Decoded;
use crate::id::RequestId;
use crate::map::Extra;
use crate::name;
use crate::object::{Member, MemberWriter, Object, ObjectWriter, encode_object};
use crate::open::RawJson;
use crate::reader::{Reader, VERSION};

/// A successful response.
///
/// The type of the result depends on the request that has this id. Until that is known, the result is open JSON, which
/// [`RawJson::decode_as`] decodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Response<T = RawJson> {
    /// The id of the request.
    pub id: RequestId,
    /// The result of the method.
    pub result: T,
    /// Members that JSON-RPC doesn't declare.
    pub extra: Extra,
}

impl<T> Response<T> {
    /// Creates the response to the request `id`.
    pub fn new(id: impl Into<RequestId>, result: T) -> Self {
        Self {
            id: id.into(),
            result,
            extra: Extra::new(),
        }
    }

    /// Reads a response in one pass: `read` gets its id, and decodes its result in place, because the type of the
    /// result depends on the request.
    ///
    /// Returns `None` if `read` does, or if the text isn't a successful response whose id comes before its result and
    /// which has no other members. Decode it as a [`Message`](crate::Message) then.
    ///
    /// ```
    /// use mcp_wire::{Reader, RequestId, Response};
    ///
    /// let names = |id: &RequestId, result: &mut Reader<'_>| match id {
    ///     RequestId::Integer(7) => result.decode::<Vec<String>>().ok(),
    ///     _ => None,
    /// };
    /// let response = Response::read_in_place(br#"{"jsonrpc":"2.0","id":7,"result":["a","b"]}"#, names);
    /// assert_eq!(response.unwrap().result, ["a", "b"]);
    /// let error = br#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"failed"}}"#;
    /// assert!(Response::read_in_place(error, names).is_none());
    /// ```
    pub fn read_in_place<'a>(
        json: &'a [u8],
        read: impl FnOnce(&RequestId, &mut Reader<'a>) -> Option<T>,
    ) -> Option<Self> {
        let mut reader = Reader::from_slice(json).ok()?;
        let (mut id, mut result, mut read) = (None, None, Some(read));
        let mut has_version = false;
        let mut first = reader.open_object().ok()?;
        while let Some(key) = reader.next_key(&mut first).ok()? {
            match &*key {
                "jsonrpc" if !has_version => {
                    reader.jsonrpc_version().ok()?;
                    has_version = true;
                }
                "id" if id.is_none() => id = Some(reader.request_id().ok()?),
                "result" => result = Some(read.take()?(id.as_ref()?, &mut reader)?),
                _ => return None,
            }
        }
        reader.finish().ok()?;
        has_version.then_some(Self::new(id?, result?))
    }
}

impl<T: Decode> Decode for Response<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let body = decode_enveloped::<ResponseBody<T>>(reader)?;
        let envelope = take_envelope(reader)?;
        Ok(Self {
            id: envelope.id.ok_or_else(|| reader.missing("id"))?,
            result: body.result,
            extra: body.extra,
        })
    }
}

/// A response without its envelope.
struct ResponseBody<T> {
    result: T,
    extra: Extra,
}

impl<T: Decode> Decode for ResponseBody<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut result = None;
        let extra = reader.object(&mut [Member::required("result", &mut result)])?;
        let result = result.ok_or_else(|| reader.missing("result"))?;
        Ok(Self { result, extra })
    }
}

impl<T: Encode + Serialize> Object for Response<T> {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write(name!("jsonrpc"), VERSION)?;
        members.write(name!("id"), &self.id)?;
        members.write(name!("result"), &self.result)
    }
}

impl<T: Encode + Serialize> Encode for Response<T> {
    fn encode(&self, json: &mut JsonWriter) {
        encode_object(self, json);
    }
}

impl<T: Encode + Serialize> Serialize for Response<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::serialize_object(self, serializer)
    }
}

/// An error response.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorResponse {
    /// The id of the request that failed. Absent if the id couldn't be read.
    pub id: Option<RequestId>,
    /// The error.
    pub error: ErrorObject,
    /// Members that JSON-RPC doesn't declare.
    pub extra: Extra,
}

impl ErrorResponse {
    /// Creates the error response to the request `id`, or to a message whose id couldn't be read.
    pub fn new(id: Option<RequestId>, error: ErrorObject) -> Self {
        Self {
            id,
            error,
            extra: Extra::new(),
        }
    }
}

impl Decode for ErrorResponse {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut version, mut id, mut error) = (None, None, None);
        let extra = reader.object(&mut [
            Member::required::<Version>("jsonrpc", &mut version),
            Member::optional("id", &mut id),
            Member::required("error", &mut error),
        ])?;
        version.ok_or_else(|| reader.missing("jsonrpc"))?;
        let error = error.ok_or_else(|| reader.missing("error"))?;
        Ok(Self { id, error, extra })
    }
}

impl Object for ErrorResponse {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write(name!("jsonrpc"), VERSION)?;
        members.write_optional(name!("id"), &self.id)?;
        members.write(name!("error"), &self.error)
    }
}

crate::serde_object!(ErrorResponse);

/// The error of a request: [JSON-RPC's error object](https://www.jsonrpc.org/specification#error_object).
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    /// The code of the error, one of [`error_code`](crate::error_code) or of the revision's own codes.
    pub code: i64,
    /// A description of the error in one sentence.
    pub message: String,
    /// Further information about the error.
    pub data: Option<RawJson>,
    /// Members that JSON-RPC doesn't declare.
    pub extra: Extra,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            extra: Extra::new(),
        }
    }

    /// Sets the data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<RawJson>) -> Self {
        self.data = Some(data.into());
        self
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}: {}", self.code, self.message)
    }
}

impl std::error::Error for ErrorObject {}

impl Decode for ErrorObject {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (mut code, mut message, mut data) = (None, None, None);
        let extra = reader.object(&mut [
            Member::required("code", &mut code),
            Member::required("message", &mut message),
            Member::optional("data", &mut data),
        ])?;
        Ok(Self {
            code: code.ok_or_else(|| reader.missing("code"))?,
            message: message.ok_or_else(|| reader.missing("message"))?,
            data,
            extra,
        })
    }
}

impl Object for ErrorObject {
    fn extra(&self) -> &Extra {
        &self.extra
    }

    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        members.write(name!("code"), &self.code)?;
        members.write(name!("message"), &self.message)?;
        members.write_optional(name!("data"), &self.data)
    }
}

crate::serde_object!(ErrorObject);

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a response whose result is a number in place.
    fn read(json: &str) -> Option<(RequestId, i64)> {
        let response = Response::read_in_place(json.as_bytes(), |_, result| result.integer().ok())?;
        Some((response.id, response.result))
    }

    #[test]
    fn only_a_plain_response_with_its_id_before_the_result_is_read_in_place() {
        let expected = Some((RequestId::Integer(1), 5));
        for response in [
            r#"{"jsonrpc":"2.0","id":1,"result":5}"#,
            r#"{"id":1,"jsonrpc":"2.0","result":5}"#,
            " { \"id\" : 1 , \"result\" : 5 , \"jsonrpc\" : \"2.0\" } ",
            r#"{"\u0069d":1,"result":5,"jsonrpc":"2.0"}"#,
        ] {
            assert_eq!(read(response), expected, "{response}");
        }
        for other in [
            r#"{"jsonrpc":"2.0","result":5,"id":1}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":5}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"result":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":1,"result":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5,"id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5,"result":5}"#,
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"result":5}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":5}"#,
            r#"{"id":1,"result":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5,"error":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5,"other":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":"5"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5} {}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":5"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":5}]"#,
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
        assert!(Response::read_in_place(b"\xff", |_, result| result.integer().ok()).is_none());
    }
}
