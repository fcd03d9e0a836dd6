//! Results that are kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use mcp_runtime_core::internal::{Moment, Mutex};
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide, Side};

/// The default number of results.
const ENTRIES: usize = 1_000;

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
    kept: Arc<Mutex<HashMap<Key, (Moment, hub::ServerResult)>>>,
}

/// On whose behalf a call is made, its method, what it is for, and its arguments.
type Key = (Option<String>, &'static str, String, String);

impl Cache {
    /// Results are kept this long, up to 1,000 of them.
    #[must_use]
    pub fn new(fresh: Duration) -> Self {
        Self {
            fresh,
            entries: ENTRIES,
            kept: Arc::default(),
        }
    }

    /// Sets the number of results that are kept at most; the one that ends first makes room.
    #[must_use]
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries.max(1);
        self
    }

    fn get(&self, key: &Key) -> Option<hub::ServerResult> {
        let kept = self.kept.lock();
        let (end, result) = kept.get(key)?;
        (*end > Moment::now()).then(|| result.clone())
    }

    fn keep(&self, key: Key, result: hub::ServerResult) {
        let now = Moment::now();
        let mut kept = self.kept.lock();
        if kept.len() >= self.entries {
            kept.retain(|_, (end, _)| *end > now);
        }
        if kept.len() >= self.entries {
            let first = kept.iter().min_by_key(|(_, (end, _))| *end).map(|(key, _)| key.clone());
            first.map(|first| kept.remove(&first));
        }
        kept.insert(key, (now + self.fresh, result));
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
            self.keep(key, result.clone());
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
