//! Reading the part of a table that sessions need.

use mcp_wire::{Decoded, Direction, JsonType, Method, Reader};

use super::json::{Source, each, entries, leaked, list, optional, string};
use super::known::{ErrorRule, Known, Need, Tolerance};
use super::named::Text;
use crate::facts::{Facts, MirroredArguments, MirroredCall, MirroredList, MirroredParam, Mirrors};
use crate::lifecycle::{Asks, ErrorRole, KnownError, Lifecycle, Members, OwnMessage, Presets};

/// Reads the part that sessions need.
pub(crate) fn known(text: Text) -> Decoded<Known> {
    let mut reader = Reader::new(text);
    let mut known = Known::default();
    each(&mut reader, |reader, key| {
        match &*key {
            "facts" => known.facts = facts(reader)?,
            "lifecycle" => known.lifecycle = lifecycle(reader)?,
            "errors" => known.errors = list(reader, known_error)?,
            "errors_up" => known.errors_up = list(reader, error_rule)?,
            "errors_down" => known.errors_down = list(reader, error_rule)?,
            "methods" => {
                let methods = list(reader, |reader| method(reader, &mut known))?;
                known.methods = methods;
            }
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    reader.finish()?;
    Ok(known)
}

fn method(reader: &mut Source, known: &mut Known) -> Decoded<Method> {
    let (mut name, mut direction, mut definition) = ("", Direction::Both, "");
    let (mut results, mut capability, mut deprecated) = (None, None, None);
    let (mut needs, mut tolerances) = (Vec::new(), Vec::new());
    each(reader, |reader, key| {
        match &*key {
            "name" => name = string(reader)?,
            "direction" => direction = self::direction(string(reader)?),
            "at" => definition = string(reader)?,
            "needs" => capability = Some(string(reader)?),
            "wants" => needs = list(reader, need)?,
            "tolerates" => tolerances = list(reader, tolerance)?,
            "results" => results = Some(list(reader, string)?),
            "deprecated" => deprecated = Some(string(reader)?),
            _ => drop(reader.raw()?),
        }
        Ok(())
    })?;
    known.needs.add(name, needs);
    known.tolerances.add(name, tolerances);
    known.deprecated.extend(deprecated.map(|note| (name, note)));
    let method = match results {
        Some(results) => Method::request(name, direction, definition, results.leak()),
        None => Method::notification(name, direction, definition),
    };
    Ok(match capability {
        Some(capability) => method.needs(capability),
        None => method,
    })
}

fn direction(name: &str) -> Direction {
    match name {
        "client-to-server" => Direction::ClientToServer,
        "server-to-client" => Direction::ServerToClient,
        "in-result" => Direction::InResult,
        _ => Direction::Both,
    }
}

fn facts(reader: &mut Source) -> Decoded<Facts> {
    let mut facts = Facts::default();
    each(reader, |reader, key| {
        match &*key {
            "released" => facts.released = reader.boolean()?,
            "specification" => facts.specification = string(reader)?,
            "batches" => facts.batches = reader.boolean()?,
            "errors_without_id" => facts.errors_without_id = reader.boolean()?,
            "initializes" => facts.initializes = reader.boolean()?,
            "version_header" => facts.version_header = optional(reader)?,
            "session_header" => facts.session_header = optional(reader)?,
            "listening" => facts.listening = reader.boolean()?,
            "resumption" => facts.resumption = reader.boolean()?,
            "polling" => facts.polling = reader.boolean()?,
            "cancels_by_closing" => facts.cancels_by_closing = reader.boolean()?,
            "authorizes_at_origin" => facts.authorizes_at_origin = reader.boolean()?,
            "input_errors_as_results" => facts.input_errors_as_results = reader.boolean()?,
            "statuses" => facts.statuses = list(reader, status)?.leak(),
            "mirrors" => facts.mirrors = mirrors(reader)?,
            _ => return unknown(reader),
        }
        Ok(())
    })?;
    Ok(facts)
}

/// Reads the code of an error, and its HTTP status.
fn status(reader: &mut Source) -> Decoded<(i64, u16)> {
    let pair = list(reader, |reader| reader.integer())?;
    match pair[..] {
        [code, status] => Ok((code, u16::try_from(status).unwrap_or_default())),
        _ => Err(reader.missing("status")),
    }
}

fn mirrors(reader: &mut Source) -> Decoded<Mirrors> {
    let mut mirrors = Mirrors::default();
    let mut params = Vec::new();
    each(reader, |reader, key| {
        match &*key {
            "method" => mirrors.method = optional(reader)?,
            "params" => each(reader, |reader, header| {
                let header = leaked(header);
                each(reader, |reader, method| {
                    let (method, parameter) = (leaked(method), string(reader)?);
                    params.push(MirroredParam {
                        header,
                        method,
                        parameter,
                    });
                    Ok(())
                })
            })?,
            "arguments" if reader.json_type()? == JsonType::Null => reader.null()?,
            "arguments" => mirrors.arguments = Some(arguments(reader)?),
            _ => return unknown(reader),
        }
        Ok(())
    })?;
    mirrors.params = params.leak();
    Ok(mirrors)
}

fn arguments(reader: &mut Source) -> Decoded<MirroredArguments> {
    let parts = texts(reader)?;
    let (call, rows) = (parts.object("call")?, parts.object("list")?);
    Ok(MirroredArguments {
        prefix: parts.text("prefix")?,
        keyword: parts.text("keyword")?,
        call: MirroredCall {
            method: call.text("method")?,
            name: call.text("name")?,
            arguments: call.text("arguments")?,
        },
        list: MirroredList {
            method: rows.text("method")?,
            items: rows.text("items")?,
            name: rows.text("name")?,
            schema: rows.text("schema")?,
            cursor: rows.text("cursor")?,
            next: rows.text("next")?,
        },
    })
}

/// The members of an object, as JSON.
struct Texts(Vec<(Text, Text)>);

fn texts(reader: &mut Source) -> Decoded<Texts> {
    entries(reader).map(Texts)
}

impl Texts {
    fn get(&self, member: &str) -> Option<Text> {
        let mut texts = self.0.iter();
        texts.find_map(|(other, json)| (*other == member).then_some(*json))
    }

    fn reader(&self, member: &str) -> Decoded<Source> {
        let json = self.get(member);
        json.map(Source::new).ok_or_else(|| Source::new("").missing(member))
    }

    fn text(&self, member: &str) -> Decoded<Text> {
        string(&mut self.reader(member)?)
    }

    fn object(&self, member: &str) -> Decoded<Self> {
        texts(&mut self.reader(member)?)
    }

    /// Returns a text, or `None` if it is absent or `null`.
    fn optional(&self, member: &str) -> Decoded<Option<Text>> {
        self.get(member)
            .map_or(Ok(None), |json| optional(&mut Source::new(json)))
    }

    /// Returns a boolean, or `false` if it is absent.
    fn boolean(&self, member: &str) -> Decoded<bool> {
        self.get(member).map_or(Ok(false), |json| Source::new(json).boolean())
    }
}

fn lifecycle(reader: &mut Source) -> Decoded<Lifecycle> {
    let mut lifecycle = Lifecycle::default();
    each(reader, |reader, key| {
        match &*key {
            "acknowledge" => lifecycle.acknowledge = Some(string(reader)?),
            "begin" => lifecycle.begin = Some(string(reader)?),
            "begun" => lifecycle.begun = Some(string(reader)?),
            "cancel" => lifecycle.cancel = Some(string(reader)?),
            "discover" => lifecycle.discover = Some(string(reader)?),
            "filter_prompts" => lifecycle.filter_prompts = Some(string(reader)?),
            "filter_resources" => lifecycle.filter_resources = Some(string(reader)?),
            "filter_tools" => lifecycle.filter_tools = Some(string(reader)?),
            "filter_uris" => lifecycle.filter_uris = Some(string(reader)?),
            "listen" => lifecycle.listen = Some(string(reader)?),
            "log" => lifecycle.log = Some(string(reader)?),
            "ping" => lifecycle.ping = Some(string(reader)?),
            "progress" => lifecycle.progress = Some(string(reader)?),
            "set_level" => lifecycle.set_level = Some(string(reader)?),
            "subscribe" => lifecycle.subscribe = Some(string(reader)?),
            "unsubscribe" => lifecycle.unsubscribe = Some(string(reader)?),
            "meta_capabilities" => lifecycle.meta_capabilities = Some(string(reader)?),
            "meta_client" => lifecycle.meta_client = Some(string(reader)?),
            "meta_log_level" => lifecycle.meta_log_level = Some(string(reader)?),
            "meta_progress" => lifecycle.meta_progress = Some(string(reader)?),
            "meta_server" => lifecycle.meta_server = Some(string(reader)?),
            "meta_subscription" => lifecycle.meta_subscription = Some(string(reader)?),
            "meta_version" => lifecycle.meta_version = Some(string(reader)?),
            "result_kind" => lifecycle.result_kind = Some(string(reader)?),
            "acknowledge_params" => lifecycle.acknowledge_params = members(reader)?,
            "begin_params" => lifecycle.begin_params = members(reader)?,
            "begin_result" => lifecycle.begin_result = members(reader)?,
            "cancel_params" => lifecycle.cancel_params = members(reader)?,
            "discover_result" => lifecycle.discover_result = members(reader)?,
            "listen_params" => lifecycle.listen_params = members(reader)?,
            "set_level_params" => lifecycle.set_level_params = members(reader)?,
            "subscribe_params" => lifecycle.subscribe_params = members(reader)?,
            "unsubscribe_params" => lifecycle.unsubscribe_params = members(reader)?,
            "messages" => lifecycle.messages = messages(reader)?.leak(),
            "kinds" => lifecycle.kinds = kinds(reader)?.leak(),
            "versions" => lifecycle.versions = list(reader, string)?.leak(),
            _ => return unknown(reader),
        }
        Ok(())
    })?;
    Ok(lifecycle)
}

fn members(reader: &mut Source) -> Decoded<Members> {
    let mut members = Members::default();
    each(reader, |reader, key| {
        let member = match &*key {
            "name" => &mut members.name,
            "versions" => &mut members.versions,
            "capabilities" => &mut members.capabilities,
            "implementation" => &mut members.implementation,
            "text" => &mut members.text,
            "request" => &mut members.request,
            "level" => &mut members.level,
            "filter" => &mut members.filter,
            _ => return unknown(reader),
        };
        *member = optional(reader)?;
        Ok(())
    })?;
    Ok(members)
}

fn messages(reader: &mut Source) -> Decoded<Vec<OwnMessage>> {
    let mut messages = Vec::new();
    each(reader, |reader, method| {
        let mut message = OwnMessage {
            method: leaked(method),
            ..OwnMessage::default()
        };
        each(reader, |reader, part| {
            match &*part {
                "params" => message.params = presets(reader)?,
                "result" => message.result = presets(reader)?,
                _ => return unknown(reader),
            }
            Ok(())
        })?;
        messages.push(message);
        Ok(())
    })?;
    Ok(messages)
}

fn presets(reader: &mut Source) -> Decoded<Presets> {
    let mut presets = Presets::default();
    each(reader, |reader, key| {
        match &*key {
            "members" => presets.members = entries(reader)?.leak(),
            "meta" => presets.meta = entries(reader)?.leak(),
            _ => return unknown(reader),
        }
        Ok(())
    })?;
    Ok(presets)
}

fn kinds(reader: &mut Source) -> Decoded<Vec<(Text, &'static [Text])>> {
    let mut kinds = Vec::new();
    each(reader, |reader, kind| {
        let methods: &'static [Text] = list(reader, string)?.leak();
        kinds.push((leaked(kind), methods));
        Ok(())
    })?;
    Ok(kinds)
}

fn known_error(reader: &mut Source) -> Decoded<KnownError> {
    let parts = texts(reader)?;
    let role = match parts.text("role")? {
        "header-mismatch" => ErrorRole::HeaderMismatch,
        "input-required" => ErrorRole::InputRequired,
        "missing-capability" => ErrorRole::MissingCapability,
        "unsupported-version" => ErrorRole::UnsupportedVersion,
        _ => return Err(reader.missing("a known role")),
    };
    let mut asks = parts.reader("asks")?;
    Ok(KnownError {
        role,
        code: parts.reader("code")?.integer()?,
        data: members(&mut parts.reader("data")?)?,
        asks: match asks.json_type()? {
            JsonType::Null => None,
            _ => {
                let asks = texts(&mut asks)?;
                Some(Asks {
                    method: asks.text("method")?,
                    params: asks.text("params")?,
                })
            }
        },
    })
}

fn error_rule(reader: &mut Source) -> Decoded<ErrorRule> {
    let parts = texts(reader)?;
    Ok(ErrorRule {
        method: parts.optional("method")?,
        from: parts.reader("from")?.integer()?,
        data: list(&mut parts.reader("data")?, string)?.leak(),
        to: parts.reader("to")?.integer()?,
        rule: parts.text("rule")?,
    })
}

fn need(reader: &mut Source) -> Decoded<Need> {
    let parts = texts(reader)?;
    Ok(Need {
        member: parts.text("member")?,
        value: parts.optional("value")?,
        other_than: parts.optional("other_than")?,
        capability: parts.text("capability")?,
        or_empty: parts.boolean("or_empty")?,
    })
}

fn tolerance(reader: &mut Source) -> Decoded<Tolerance> {
    let parts = texts(reader)?;
    Ok(Tolerance {
        member: parts.text("member")?,
        found: parts.optional("found")?,
        beside: parts.optional("beside")?,
        read: parts.optional("read")?,
    })
}

/// Refuses an unknown name. It isn't ignored, because its author meant something by it.
fn unknown(reader: &mut Source) -> Decoded<()> {
    let found = reader.json_type()?;
    Err(reader.wrong_type("nothing with this name", found))
}
