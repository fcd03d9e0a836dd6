//! A cache of results.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, to_vec};
use mcp_runtime_core::internal::ExpiringMap;
use mcp_runtime_core::{CacheLimits, Context, HandlerResult, Middleware, Next, ServerSide, Side};
use mcp_runtime_util::{FOREVER, Moment, Mutex};

/// Caches the results of tools, prompts and resources for a time. The key is the principal, the method, the name or
/// URI, and the arguments. Results that request input from the client, and those of tools that have failed, aren't
/// cached. Add it only to routes whose results depend on nothing but the key.
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
    limits: CacheLimits,
    kept: Arc<Mutex<ExpiringMap<Key, hub::ServerResult, Moment>>>,
}

/// The principal of a call, its method, the name or URI, and its arguments.
type Key = (Option<String>, &'static str, String, String);

impl Cache {
    /// A cache that keeps results for a time, up to 1,000 of them and 64 MiB.
    #[must_use]
    pub fn new(fresh: Duration) -> Self {
        let limits = CacheLimits {
            entries: 1_000,
            bytes: 64 << 20,
            fresh,
        };
        Self {
            limits,
            kept: Arc::default(),
        }
    }

    /// Sets the maximum number of results. Beyond that, the one that expires first is evicted.
    #[must_use]
    pub fn entries(mut self, entries: usize) -> Self {
        self.limits.entries = entries.max(1);
        self
    }

    /// Sets the maximum bytes of the results together with their arguments.
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }

    fn get(&self, key: &Key) -> Option<hub::ServerResult> {
        self.kept.lock().get(key, Moment::now()).cloned()
    }

    fn keep(&self, key: Key, result: &hub::ServerResult) {
        let Ok(json) = to_vec(result) else { return };
        let (_, _, target, arguments) = &key;
        let bytes = json.len() + target.len() + arguments.len();
        let now = Moment::now();
        let times = (now, now + self.limits.fresh.min(FOREVER));
        let mut kept = self.kept.lock();
        kept.insert(key, result.clone(), bytes, times, &self.limits);
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

/// The key of a call; `None` for one whose result isn't cached.
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
