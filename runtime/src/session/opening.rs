//! What can be told of a message before its revision is known.

use std::borrow::Cow;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{RequestId, from_str};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The members of a message that are the same in every revision, whatever their values.
#[derive(Debug, Default, Deserialize)]
pub struct Glimpse<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// A text that is copied only if it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A member that is there, be it `null`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(member: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(member).map(Some)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
}

impl<'a> Glimpse<'a> {
    /// What can be told; nothing of what is no JSON object.
    pub fn of(json: &'a [u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_default()
    }

    /// The message's id, if it is one.
    pub fn id(&self) -> Option<RequestId> {
        from_str(self.id?.get()).ok()
    }

    /// Whether the message has an id, be it one that no message can have.
    pub fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// The method that the message calls, unless it answers.
    pub fn method(&self) -> Option<Cow<'a, str>> {
        let Text(method) = serde_json::from_str(self.method?.get()).ok()?;
        Some(method)
    }

    /// The revision that a request to begin the session asks for.
    pub fn requested(&self) -> Option<Cow<'a, str>> {
        self.params().protocol_version
    }

    /// The token that progress of the request is to be told under.
    pub fn progress_token(&self) -> Option<hub::ProgressToken> {
        from_str(self.params().meta?.progress_token?.get()).ok()
    }

    /// The messages of a batch, each as it came.
    pub fn each(json: &'a [u8]) -> impl Iterator<Item = (&'a [u8], Self)> {
        let elements: Vec<&'a RawValue> = serde_json::from_slice(json).unwrap_or_default();
        let elements = elements.into_iter().map(|element| element.get().as_bytes());
        elements.map(|element| (element, Self::of(element)))
    }

    fn params(&self) -> Params<'a> {
        let params = self.params.map(|params| serde_json::from_str(params.get()));
        params.and_then(Result::ok).unwrap_or_default()
    }
}
