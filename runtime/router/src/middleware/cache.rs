//! Results that are kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, to_vec};
use mcp_runtime_core::internal::{Moment, Mutex};
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide, Side};

/// The default number of results.
const ENTRIES: usize = 1_000;

/// The default number of bytes.
const BYTES: usize = 64 << 20;

/// A time that any clock can add: 136 years.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// Keeps the results of tools, prompts and resources for a time, by the principal and by all that the call names. Results that ask the
/// client something, and those of tools that have failed, aren't kept. It is for routes whose results depend on nothing else:
/// put it on those.
///
/// ```
/// use std::time::Duration;
///
/// use mcp_runtime::middleware::Cache;
/// use mcp_runtime::router::tool;
///
/// let rates = tool("rates", "Gets the exchange rates", || "1.1").layer(Cache::new(Duration::from_secs(60)));
/// ```
#[derive(Debug, Clone)]
pub struct Cache {
    fresh: Duration,
    entries: usize,
    bytes: usize,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: HashMap<Key, Entry>,
    /// Those of all keys and results.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    result: hub::ServerResult,
    bytes: usize,
    end: Moment,
}

/// On whose behalf a call is made, its method, what it is for, and its arguments.
type Key = (Option<String>, &'static str, String, String);

impl Cache {
    /// Results are kept this long, up to 1,000 of them and 64 MiB.
    #[must_use]
    pub fn new(fresh: Duration) -> Self {
        Self {
            fresh,
            entries: ENTRIES,
            bytes: BYTES,
            kept: Arc::default(),
        }
    }

    /// Sets the number of results that are kept at most; the one that ends first makes room.
    #[must_use]
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries.max(1);
        self
    }

    /// Sets the number of bytes of the results that are kept at most, with their arguments.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    fn get(&self, key: &Key) -> Option<hub::ServerResult> {
        let kept = self.kept.lock();
        let entry = kept.entries.get(key)?;
        (entry.end > Moment::now()).then(|| entry.result.clone())
    }

    fn keep(&self, key: Key, result: &hub::ServerResult) {
        let now = Moment::now();
        let end = now + self.fresh.min(FOREVER);
        let Ok(json) = to_vec(result) else { return };
        let (_, _, target, arguments) = &key;
        let bytes = json.len() + target.len() + arguments.len();
        if bytes > self.bytes {
            return;
        }
        let mut kept = self.kept.lock();
        kept.remove_if(|other, entry| *other == key || entry.end <= now);
        while kept.entries.len() >= self.entries || kept.bytes + bytes > self.bytes {
            let first = kept.entries.values().map(|entry| entry.end).min();
            kept.remove_if(|_, entry| Some(entry.end) == first);
        }
        kept.bytes += bytes;
        let result = result.clone();
        kept.entries.insert(key, Entry { result, bytes, end });
    }
}

impl Kept {
    fn remove_if(&mut self, is_removed: impl Fn(&Key, &Entry) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|key, entry| {
            let stays = !is_removed(key, entry);
            *bytes -= if stays { 0 } else { entry.bytes };
            stays
        });
    }
}

impl Middleware<ServerSide> for Cache {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let Some(key) = key(&request, &context) else {
            return next.request(request, context).await;
        };
        if let Some(result) = self.get(&key) {
            return Ok(HandlerResult::Declared(result));
        }
        let result = next.request(request, context).await?;
        if let HandlerResult::Declared(result) = &result
            && !matches!(
                result,
                hub::ServerResult::InputRequired(_) | hub::ServerResult::Unknown(_)
            )
            && !ServerSide::has_failed(result)
        {
            self.keep(key, result);
        }
        Ok(result)
    }
}

/// What a call is kept by; `None` for one whose result isn't kept.
fn key(request: &hub::ClientRequest, context: &Context<ServerSide>) -> Option<Key> {
    let principal = context.principal().map(|principal| principal.0.clone());
    let (method, target, arguments) = match request {
        hub::ClientRequest::CallTool(request) => {
            let arguments = request.params.arguments.clone().map(RawJson::from);
            ("tool", &request.params.name, arguments)
        }
        hub::ClientRequest::GetPrompt(request) => {
            let arguments = request.params.arguments.as_ref();
            let arguments = arguments.map(RawJson::from_encode).transpose().ok()?;
            ("prompt", &request.params.name, arguments)
        }
        hub::ClientRequest::ReadResource(request) => ("resource", &request.params.uri, None),
        _ => return None,
    };
    let arguments = arguments.map_or_else(String::new, |arguments| arguments.text().to_owned());
    Some((principal, method, target.clone(), arguments))
}
