//! Subscriptions to changes: one request for all of them, or a request for each resource.

use mcp_wire::{Extra, JsonType, MessageHeader, RawJson, RequestId};

use super::object::{Object, null, text};
use super::{META, PeerTypes, SessionError};

/// The changes that a client subscribes to, or that a server accepts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangeFilter {
    /// Changes of the list of tools.
    pub tool_list: bool,
    /// Changes of the list of prompts.
    pub prompt_list: bool,
    /// Changes of the lists of resources and of resource templates.
    pub resource_list: bool,
    /// Changes of the resources with these URIs.
    pub resources: Vec<String>,
    /// Members that the revision doesn't declare, such as those by which a client subscribes to the notifications of an
    /// extension.
    pub extra: Extra,
}

impl ChangeFilter {
    /// Creates a filter for the changes of all lists.
    #[must_use]
    pub fn lists() -> Self {
        Self {
            tool_list: true,
            prompt_list: true,
            resource_list: true,
            ..Self::default()
        }
    }

    /// Adds the changes of a resource.
    #[must_use]
    pub fn with_resource(mut self, uri: impl Into<String>) -> Self {
        self.resources.push(uri.into());
        self
    }

    /// Adds a member that the revision doesn't declare, such as one of an extension.
    #[must_use]
    pub fn with_extra(mut self, member: impl Into<String>, value: impl Into<RawJson>) -> Self {
        self.extra.insert(member, value);
        self
    }
}

/// A method, and the parameters of its request or notification.
type Written = Option<(&'static str, RawJson)>;

/// Creates the request that subscribes to changes. `None` if the revision has no such request.
#[must_use]
pub fn listen<R: PeerTypes>(revision: R, filter: &ChangeFilter) -> Written {
    let lifecycle = revision.lifecycle();
    let method = lifecycle.listen?;
    let mut params = Object::of(lifecycle.params_of(method));
    put_filter(revision, &mut params, lifecycle.listen_params.filter, filter);
    Some((method, params.finish().0))
}

/// Reads the filter from the parameters of the request that subscribes to changes.
///
/// # Errors
/// A member is missing or invalid.
pub fn read_listen<R: PeerTypes>(revision: R, request: &MessageHeader<'_>) -> Result<ChangeFilter, SessionError> {
    read_filter(revision, request, revision.lifecycle().listen_params.filter)
}

/// Creates the notification that acknowledges a subscription. `None` if the revision has no such notification.
#[must_use]
pub fn acknowledge<R: PeerTypes>(revision: R, subscription: &RequestId, agreed: &ChangeFilter) -> Written {
    let lifecycle = revision.lifecycle();
    let method = lifecycle.acknowledge?;
    let mut params = Object::of(lifecycle.params_of(method));
    put_filter(revision, &mut params, lifecycle.acknowledge_params.filter, agreed);
    put_subscription(revision, &mut params, subscription);
    Some((method, params.finish().0))
}

/// Reads the filter from the parameters of the notification that acknowledges a subscription.
///
/// # Errors
/// A member is missing or invalid.
pub fn read_acknowledgement<R: PeerTypes>(
    revision: R,
    notification: &MessageHeader<'_>,
) -> Result<ChangeFilter, SessionError> {
    read_filter(revision, notification, revision.lifecycle().acknowledge_params.filter)
}

/// Returns the id of the request whose subscription a notification belongs to.
#[must_use]
pub fn subscription<R: PeerTypes>(revision: R, notification: &MessageHeader<'_>) -> Option<RequestId> {
    let key = revision.lifecycle().meta_subscription?;
    notification.param(&[META, key]).ok()??.decode_as().ok()
}

/// Creates the result of the request that subscribes to changes. The server ends the subscription with it.
#[must_use]
pub fn listen_result<R: PeerTypes>(revision: R, subscription: &RequestId) -> RawJson {
    let lifecycle = revision.lifecycle();
    let mut result = Object::of(lifecycle.result_of(lifecycle.listen.unwrap_or_default()));
    put_subscription(revision, &mut result, subscription);
    result.finish().0
}

/// Creates the request that subscribes to the changes of a resource. `None` if the revision has no such request.
#[must_use]
pub fn subscribe<R: PeerTypes>(revision: R, uri: &str) -> Written {
    let lifecycle = revision.lifecycle();
    one_text(revision, lifecycle.subscribe?, lifecycle.subscribe_params.name, uri)
}

/// Creates the request that unsubscribes from the changes of a resource. `None` if the revision has no such request.
#[must_use]
pub fn unsubscribe<R: PeerTypes>(revision: R, uri: &str) -> Written {
    let lifecycle = revision.lifecycle();
    one_text(revision, lifecycle.unsubscribe?, lifecycle.unsubscribe_params.name, uri)
}

/// Creates the request that sets the level of log messages. `None` if the revision has no such request.
#[must_use]
pub fn set_level<R: PeerTypes>(revision: R, level: &str) -> Written {
    let lifecycle = revision.lifecycle();
    one_text(revision, lifecycle.set_level?, lifecycle.set_level_params.level, level)
}

/// Reads a string from the parameters of a request, such as the URI or the log level.
///
/// # Errors
/// The member is missing or not a string.
pub fn text_param(request: &MessageHeader<'_>, member: Option<&'static str>) -> Result<String, SessionError> {
    let member = member.ok_or(SessionError::NoSuchMethod)?;
    let text = || request.param(&[member]).ok()??.string().ok();
    Ok(text().ok_or(SessionError::Missing(member))?.into_owned())
}

fn one_text<R: PeerTypes>(revision: R, method: &'static str, member: Option<&'static str>, value: &str) -> Written {
    let mut params = Object::of(revision.lifecycle().params_of(method));
    params.put(member, Some(text(value)));
    Some((method, params.finish().0))
}

fn put_subscription<R: PeerTypes>(revision: R, object: &mut Object, subscription: &RequestId) {
    let id = RawJson::from_encode(subscription).ok();
    object.put_meta(revision.lifecycle().meta_subscription, id);
}

/// Writes a filter as a member. Changes that it doesn't have are omitted.
fn put_filter<R: PeerTypes>(revision: R, object: &mut Object, member: Option<&'static str>, filter: &ChangeFilter) {
    let lifecycle = revision.lifecycle();
    let mut members = Object::default();
    let mut put = |member, is_wanted: bool, value| members.put(member, Some(value).filter(|_| is_wanted));
    let yes = || RawJson::from(mcp_wire::serde_json::Value::Bool(true));
    put(lifecycle.filter_tools, filter.tool_list, yes());
    put(lifecycle.filter_prompts, filter.prompt_list, yes());
    put(lifecycle.filter_resources, filter.resource_list, yes());
    let uris = RawJson::from_encode(&filter.resources).unwrap_or_else(|_| null());
    put(lifecycle.filter_uris, !filter.resources.is_empty(), uris);
    let declared = members.finish().0;
    let all = match filter.extra.is_empty() {
        true => declared,
        false => {
            let mut all = filter.extra.clone();
            all.extend(declared.decode_as::<Extra>().unwrap_or_default());
            RawJson::from_encode(&all).unwrap_or(declared)
        }
    };
    object.put(member, Some(all));
}

fn read_filter<R: PeerTypes>(
    revision: R,
    message: &MessageHeader<'_>,
    member: Option<&'static str>,
) -> Result<ChangeFilter, SessionError> {
    let lifecycle = revision.lifecycle();
    let member = member.ok_or(SessionError::NoSuchMethod)?;
    let filter = message.param(&[member]).ok().flatten();
    let filter: Option<RawJson> = filter.and_then(|filter| filter.decode_as().ok());
    let filter = filter
        .filter(|filter| filter.json_type() == JsonType::Object)
        .ok_or(SessionError::Missing(member))?;
    let flag = |member: Option<&'static str>| match member.and_then(|member| filter.get(member)) {
        None => Ok(false),
        Some(json) => json
            .parse()
            .map_err(|_| SessionError::Missing(member.unwrap_or_default())),
    };
    let declared = [
        lifecycle.filter_tools,
        lifecycle.filter_prompts,
        lifecycle.filter_resources,
        lifecycle.filter_uris,
    ];
    let mut extra = filter.decode_as::<Extra>().unwrap_or_default();
    extra.retain(|member, _| !declared.contains(&Some(member)));
    let uris = lifecycle.filter_uris.and_then(|member| filter.get(member));
    let uris = uris.map(|json| json.parse::<Vec<String>>()).transpose();
    Ok(ChangeFilter {
        tool_list: flag(lifecycle.filter_tools)?,
        prompt_list: flag(lifecycle.filter_prompts)?,
        resource_list: flag(lifecycle.filter_resources)?,
        resources: uris
            .map_err(|_| SessionError::Missing(lifecycle.filter_uris.unwrap_or_default()))?
            .unwrap_or_default(),
        extra,
    })
}
