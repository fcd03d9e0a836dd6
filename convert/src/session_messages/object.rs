//! Writing and reading objects member by member.

use mcp_wire::{JsonType, Map, RawJson, Reader};

use super::{Encoded, META, PeerTypes, ServerDescription, SessionError};
use crate::lifecycle::{Members, Presets};
use crate::loss::Loss;
use crate::translated::{FromPeer, FromResult};

pub(super) fn text(text: &str) -> RawJson {
    mcp_wire::serde_json::Value::from(text).into()
}

pub(super) fn null() -> RawJson {
    mcp_wire::serde_json::Value::Null.into()
}

/// An object that is being written.
#[derive(Default)]
pub(super) struct Object {
    pub(super) entries: Vec<(&'static str, RawJson)>,
    /// The keys of `_meta`.
    meta: Vec<(&'static str, RawJson)>,
    losses: Vec<Loss>,
}

impl Object {
    /// Creates an object with presets. Values that are put later under the same names replace them.
    pub(super) fn of(presets: Presets) -> Self {
        let parse = |(name, json): &(&'static str, &str)| Some((*name, mcp_wire::from_str(json).ok()?));
        Self {
            entries: presets.members.iter().filter_map(parse).collect(),
            meta: presets.meta.iter().filter_map(parse).collect(),
            losses: Vec::new(),
        }
    }

    pub(super) fn put_meta(&mut self, key: Option<&'static str>, value: Option<RawJson>) {
        self.meta.extend(key.zip(value));
    }

    pub(super) fn put(&mut self, member: Option<&'static str>, value: Option<RawJson>) {
        self.entries.extend(member.zip(value));
    }

    pub(super) fn put_encoded(&mut self, member: Option<&'static str>, value: Encoded) -> Result<(), SessionError> {
        let member = member.ok_or(SessionError::NoSuchMethod)?;
        let (value, losses) = value.map_err(|error| SessionError::Member(member, error.into()))?;
        self.entries.push((member, value));
        self.losses.extend(losses);
        Ok(())
    }

    /// Writes the members that describe a server, except its revisions.
    pub(super) fn put_server<R: PeerTypes>(
        &mut self,
        revision: R,
        members: Members,
        description: ServerDescription<R>,
    ) -> Result<(), SessionError> {
        self.put_encoded(
            members.capabilities,
            revision.server_capabilities(description.capabilities),
        )?;
        self.put(
            members.text,
            description.instructions.map(|instructions| text(&instructions)),
        );
        let Some(implementation) = description.implementation else {
            return Ok(());
        };
        if members.implementation.is_some() {
            return self.put_encoded(members.implementation, revision.implementation(implementation));
        }
        if let Some((key, json)) = result_meta(revision, implementation)? {
            self.put_meta(Some(key), Some(json));
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> (RawJson, Vec<Loss>) {
        if !self.meta.is_empty() {
            self.entries.push((META, to_object(self.meta)));
        }
        (to_object(self.entries), self.losses)
    }
}

/// Creates an object in which the last value of each name counts.
fn to_object(entries: Vec<(&'static str, RawJson)>) -> RawJson {
    let members: Map<RawJson> = entries.into_iter().collect();
    // Encoding fails only for a number that JSON can't represent, and open JSON has none.
    RawJson::from_encode(&members).unwrap_or_else(|_| null())
}

/// A reader of the members of an object, which `find` looks up.
pub(super) struct MemberReader<F> {
    find: F,
    losses: Vec<Loss>,
}

/// Returns a reader of the members of a value, unless the value isn't an object.
pub(super) fn members_of(json: &RawJson) -> Result<MemberReader<impl Fn(&str) -> Option<RawJson>>, SessionError> {
    match json.json_type() {
        JsonType::Object => Ok(MemberReader::new(|member| json.get(member))),
        found => Err(SessionError::NoObject(
            Reader::new(json.text()).wrong_type("an object", found),
        )),
    }
}

impl<F: Fn(&str) -> Option<RawJson>> MemberReader<F> {
    pub(super) fn new(find: F) -> Self {
        let losses = Vec::new();
        Self { find, losses }
    }

    pub(super) fn required<T>(
        &self,
        member: Option<&'static str>,
        read: impl FnOnce(RawJson) -> Option<T>,
    ) -> Result<T, SessionError> {
        let member = member.ok_or(SessionError::NoSuchMethod)?;
        (self.find)(member).and_then(read).ok_or(SessionError::Missing(member))
    }

    pub(super) fn text(&self, member: Option<&'static str>) -> Result<String, SessionError> {
        self.required(member, |json| json.parse().ok())
    }

    pub(super) fn read<T>(
        &mut self,
        member: Option<&'static str>,
        read: impl FnOnce(&RawJson) -> Result<FromResult<T>, FromPeer>,
    ) -> Result<T, SessionError> {
        let json = self.required(member, Some)?;
        let read = read(&json).map_err(|error| SessionError::Member(member.unwrap_or_default(), error))?;
        self.losses.extend(read.losses);
        Ok(read.result)
    }

    pub(super) fn finish<T>(self, result: T) -> FromResult<T> {
        let losses = self.losses;
        FromResult { result, losses }
    }
}

/// Returns the key in `_meta` of results for the server's name and version, and its value.
///
/// # Errors
/// The revision can't represent it.
pub fn result_meta<R: PeerTypes>(
    revision: R,
    server: R::Implementation,
) -> Result<Option<(&'static str, RawJson)>, SessionError> {
    let Some(key) = revision.lifecycle().meta_server else {
        return Ok(None);
    };
    let (json, _) = revision
        .implementation(server)
        .map_err(|error| SessionError::Member(key, error.into()))?;
    Ok(Some((key, json)))
}
