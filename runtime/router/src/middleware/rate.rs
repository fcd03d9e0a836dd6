//! A limit of calls by principal.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide};
use mcp_runtime_util::{Moment, Mutex};
use serde_json::json;

use super::is_call;

/// The principals that are remembered. Beyond that, those that have called least recently are forgotten.
const PRINCIPALS: usize = 10_000;
/// The code of the error for a call beyond the limit, which implementations may define.
const TOO_MANY: i64 = -32_000;

/// Refuses calls of a principal beyond a rate. Calls without a principal have one rate together. A principal may make all calls of the
/// period at once, and regains them evenly. Clones share their counts.
///
/// The error for a call beyond the limit has the code -32000, and `retryAfterMs` in its data.
#[derive(Debug, Clone)]
pub struct RateLimit {
    calls: f64,
    period: Duration,
    buckets: Arc<Mutex<HashMap<Option<String>, Bucket>>>,
}

/// What is left to a principal.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Moment,
}

impl RateLimit {
    /// A principal may make so many calls in each period.
    #[must_use]
    pub fn new(calls: u32, period: Duration) -> Self {
        Self {
            calls: f64::from(calls.max(1)),
            period: period.max(Duration::from_millis(1)),
            buckets: Arc::default(),
        }
    }

    /// Takes a call; how long to wait for one if there is none.
    fn take(&self, principal: Option<String>) -> Result<(), Duration> {
        let now = Moment::now();
        let per_second = self.calls / self.period.as_secs_f64();
        let mut buckets = self.buckets.lock();
        if buckets.len() >= PRINCIPALS && !buckets.contains_key(&principal) {
            self.forget(&mut buckets, now);
        }
        let full = Bucket {
            left: self.calls,
            at: now,
        };
        let bucket = buckets.entry(principal).or_insert(full);
        let regained = (now - bucket.at).as_secs_f64() * per_second;
        (bucket.left, bucket.at) = ((bucket.left + regained).min(self.calls), now);
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / per_second));
        }
        bucket.left -= 1.0;
        Ok(())
    }

    /// Makes room: for those that have regained everything, and else for the one that has called least recently.
    fn forget(&self, buckets: &mut HashMap<Option<String>, Bucket>, now: Moment) {
        buckets.retain(|_, bucket| now - bucket.at < self.period);
        if buckets.len() < PRINCIPALS {
            return;
        }
        let oldest = buckets.iter().min_by_key(|(_, bucket)| bucket.at);
        if let Some(principal) = oldest.map(|(principal, _)| principal.clone()) {
            buckets.remove(&principal);
        }
    }
}

impl Middleware<ServerSide> for RateLimit {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        if is_call(&request) {
            let principal = context.principal().map(|principal| principal.0.clone());
            if let Err(wait) = self.take(principal) {
                let mut error = ErrorObject::new(TOO_MANY, "too many calls");
                let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                error.data = Some(json!({"retryAfterMs": milliseconds}).into());
                return Err(error);
            }
        }
        next.request(request, context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_principal_regains_its_calls_and_others_have_theirs() {
        let limit = RateLimit::new(2, Duration::from_secs(10));
        let call = |name: &str| limit.take(Some(name.to_owned()));
        assert!(call("ada").is_ok() && call("ada").is_ok());
        assert_eq!(call("ada"), Err(Duration::from_secs(5)));
        assert!(call("bob").is_ok());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(call("ada").is_ok());
        assert!(call("ada").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn the_principals_that_are_remembered_are_bounded() {
        let limit = RateLimit::new(1, Duration::from_secs(10));
        for principal in 0..=PRINCIPALS {
            assert!(limit.take(Some(principal.to_string())).is_ok());
        }
        assert_eq!(limit.buckets.lock().len(), PRINCIPALS);
    }
}
