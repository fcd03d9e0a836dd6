//! Parameters and results of the handshake and of the discovery.

use mcp_wire::{MessageHeader, RawJson, RequestId};

use super::object::{Object, members_of, null, text};
use crate::lifecycle::Presets;

use super::{ClientDescription, META, PeerTypes, Read, ServerDescription, SessionError, Written};

/// Creates the parameters of the request that starts a session.
///
/// # Errors
/// The revision has no handshake or can't represent the parameters.
pub fn initialize_params<R: PeerTypes>(revision: R, description: ClientDescription<R>) -> Written {
    let lifecycle = revision.lifecycle();
    let members = lifecycle.begin_params;
    let mut object = Object::of(lifecycle.params_of(lifecycle.begin.unwrap_or_default()));
    object.put(members.name, Some(text(&description.version)));
    object.put_encoded(
        members.capabilities,
        revision.client_capabilities(description.capabilities),
    )?;
    if let Some(implementation) = description.implementation {
        object.put_encoded(members.implementation, revision.implementation(implementation))?;
    }
    Ok(object.finish())
}

/// Reads the parameters of the request that starts a session.
///
/// # Errors
/// A member is missing or invalid.
pub fn read_initialize_params<R: PeerTypes>(revision: R, params: &RawJson) -> Read<ClientDescription<R>> {
    let members = revision.lifecycle().begin_params;
    let mut reader = members_of(params)?;
    let result = ClientDescription {
        version: reader.text(members.name)?,
        capabilities: reader.read(members.capabilities, |json| revision.read_client_capabilities(json))?,
        implementation: Some(reader.read(members.implementation, |json| revision.read_implementation(json))?),
        log_level: None,
    };
    Ok(reader.finish(result))
}

/// Creates the result of the request that starts a session.
///
/// # Errors
/// The revision has no handshake or can't represent the result.
pub fn initialize_result<R: PeerTypes>(revision: R, description: ServerDescription<R>) -> Written {
    let lifecycle = revision.lifecycle();
    let members = lifecycle.begin_result;
    let version = description.versions.first().map(|version| text(version));
    let mut object = Object::of(lifecycle.result_of(lifecycle.begin.unwrap_or_default()));
    object.put(members.name, version);
    object.put_server(revision, members, description)?;
    Ok(object.finish())
}

/// Reads the result of the request that starts a session.
///
/// # Errors
/// A member is missing or invalid.
pub fn read_initialize_result<R: PeerTypes>(revision: R, result: &RawJson) -> Read<ServerDescription<R>> {
    let members = revision.lifecycle().begin_result;
    let mut reader = members_of(result)?;
    let description = ServerDescription {
        versions: vec![reader.text(members.name)?],
        capabilities: reader.read(members.capabilities, |json| revision.read_server_capabilities(json))?,
        implementation: Some(reader.read(members.implementation, |json| revision.read_implementation(json))?),
        instructions: members.text.and_then(|member| result.get(member)?.parse().ok()),
    };
    Ok(reader.finish(description))
}

/// Returns the revision that the result of the request that starts a session names. The result can be of any revision
/// with a handshake.
#[must_use]
pub fn negotiated_version<R: PeerTypes>(result: &RawJson) -> Option<R> {
    let mut handshakes = R::revisions().filter(|revision| revision.has_handshake());
    handshakes.find_map(|revision| {
        let named: String = result.get(revision.lifecycle().begin_result.name?)?.parse().ok()?;
        R::by_name(&named).filter(|named| *named == revision)
    })
}

/// Creates the parameters of a request or notification that a session sends automatically: the presets of the revision,
/// or `None` without any.
#[must_use]
pub fn params<R: PeerTypes>(revision: R, method: &str) -> Option<RawJson> {
    let presets = revision.lifecycle().params_of(method);
    (presets != Presets::default()).then(|| Object::of(presets).finish().0)
}

/// Creates the result of a request that a session responds to automatically: only the presets of the revision.
#[must_use]
pub fn empty_result<R: PeerTypes>(revision: R, method: &str) -> RawJson {
    Object::of(revision.lifecycle().result_of(method)).finish().0
}

/// Creates the result of the discovery.
///
/// # Errors
/// The revision has no discovery or can't represent the result.
pub fn discovery<R: PeerTypes>(revision: R, description: ServerDescription<R>) -> Written {
    let lifecycle = revision.lifecycle();
    let (method, members) = (
        lifecycle.discover.ok_or(SessionError::NoSuchMethod)?,
        lifecycle.discover_result,
    );
    let mut object = Object::of(lifecycle.result_of(method));
    let versions = description
        .versions
        .iter()
        .filter(|version| lifecycle.can_list(version));
    let versions = RawJson::from_encode(&Vec::from_iter(versions)).unwrap_or_else(|_| null());
    object.put(members.versions, Some(versions));
    object.put_server(revision, members, description)?;
    Ok(object.finish())
}

/// Reads the result of the discovery.
///
/// # Errors
/// A member is missing or invalid.
pub fn read_discovery<R: PeerTypes>(revision: R, result: &RawJson) -> Read<ServerDescription<R>> {
    let lifecycle = revision.lifecycle();
    let members = lifecycle.discover_result;
    let mut reader = members_of(result)?;
    let versions = reader.required(members.versions, |json| json.parse().ok())?;
    let capabilities = reader.read(members.capabilities, |json| revision.read_server_capabilities(json))?;
    let server = match members.implementation {
        Some(member) => result.get(member),
        None => lifecycle.meta_server.and_then(|key| result.get(META)?.get(key)),
    };
    let description = ServerDescription {
        versions,
        capabilities,
        implementation: server.and_then(|json| Some(revision.read_implementation(&json).ok()?.result)),
        instructions: members.text.and_then(|member| result.get(member)?.parse().ok()),
    };
    Ok(reader.finish(description))
}

/// Creates the parameters of the notification that cancels a request.
#[must_use]
pub fn cancellation<R: PeerTypes>(revision: R, request: &RequestId, reason: &str) -> Option<(&'static str, RawJson)> {
    let lifecycle = revision.lifecycle();
    let (method, members) = (lifecycle.cancel?, lifecycle.cancel_params);
    let mut object = Object::of(lifecycle.params_of(method));
    object.put(members.request, RawJson::from_encode(request).ok());
    object.put(members.text, Some(text(reason)));
    Some((method, object.finish().0))
}

/// Returns the revision that a client requests when it starts a session: `Some(None)` if it is unknown. `None` for
/// other requests.
#[must_use]
pub fn requested_version<R: PeerTypes>(request: &MessageHeader<'_>) -> Option<Option<R>> {
    let method = request.method()?;
    let lifecycles = R::revisions().map(|revision| revision.lifecycle());
    let mut beginning = lifecycles
        .filter(|lifecycle| lifecycle.begin == Some(&*method))
        .peekable();
    beginning.peek()?;
    let named = beginning.find_map(|lifecycle| {
        let version = request.param(&[lifecycle.begin_params.name?]).ok()??;
        R::by_name(&version.string().ok()?).filter(|revision| revision.has_handshake())
    });
    Some(named)
}

/// Whether this method is the notification that completes a handshake.
#[must_use]
pub fn completes_handshake<R: PeerTypes>(method: &str) -> bool {
    let mut revisions = R::revisions().map(|revision| revision.lifecycle());
    revisions.any(|lifecycle| lifecycle.begun == Some(method))
}

/// Returns the id of the request that a notification cancels. `None` for other notifications.
#[must_use]
pub fn cancelled_request<R: PeerTypes>(notification: &MessageHeader<'_>) -> Option<RequestId> {
    let method = notification.method()?;
    let lifecycles = R::revisions().map(|revision| revision.lifecycle());
    let mut cancelling = lifecycles.filter(|lifecycle| lifecycle.cancel == Some(&*method));
    cancelling.find_map(|lifecycle| {
        let id = notification.param(&[lifecycle.cancel_params.request?]).ok()??;
        id.decode_as().ok()
    })
}

/// Returns the id of the call whose progress a notification reports, if the caller used the id as the progress token.
/// `None` for other notifications.
#[must_use]
pub fn progressing_call<R: PeerTypes>(revision: R, notification: &MessageHeader<'_>) -> Option<RequestId> {
    let lifecycle = revision.lifecycle();
    if lifecycle.progress.is_none() || lifecycle.progress != notification.method().as_deref() {
        return None;
    }
    let token = notification.param(&[lifecycle.meta_progress?]).ok()??;
    token.decode_as().ok()
}
