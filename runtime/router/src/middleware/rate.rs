//! A limit of the rate of each principal's calls.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::{Context, HandlerResult, Middleware, Next, ServerSide};
use mcp_runtime_util::{Moment, Mutex};
use serde_json::json;

use super::is_call;

/// The maximum number of remembered principals. Beyond that, the one that has called least recently is evicted.
const PRINCIPALS: usize = 10_000;
/// The code of the error for a call beyond the limit, in the range that JSON-RPC reserves for errors of
/// implementations.
const TOO_MANY: i64 = -32_000;

/// Refuses calls of a principal beyond a rate. Calls without a principal share one rate. A principal can make all calls
/// of a period at once, and then regains them evenly over the period. Clones share their counts.
///
/// The error for a call beyond the limit has the code -32000, and `retryAfterMs` in its data.
#[derive(Debug, Clone)]
pub struct RateLimit {
    calls: f64,
    period: Duration,
    buckets: Arc<Mutex<HashMap<Option<String>, Bucket>>>,
}

/// The remaining calls of a principal.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Moment,
}

impl RateLimit {
    /// A limit of the number of calls that a principal can make in each period.
    #[must_use]
    pub fn new(calls: u32, period: Duration) -> Self {
        Self {
            calls: f64::from(calls.max(1)),
            period: period.max(Duration::from_millis(1)),
            buckets: Arc::default(),
        }
    }

    /// Counts a call. The error is the time to wait until one is allowed.
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
            let wait = Duration::try_from_secs_f64((1.0 - bucket.left) / per_second);
            return Err(wait.unwrap_or(self.period));
        }
        bucket.left -= 1.0;
        Ok(())
    }

    /// Makes room: evicts the principals that have regained all their calls or, if there are none, the one that has
    /// called least recently.
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
    async fn principals_regain_their_calls_and_have_separate_limits() {
        let limit = RateLimit::new(2, Duration::from_secs(10));
        let call = |name: &str| limit.take(Some(name.to_owned()));
        assert!(call("ada").is_ok() && call("ada").is_ok());
        assert_eq!(call("ada"), Err(Duration::from_secs(5)));
        assert!(call("bob").is_ok());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(call("ada").is_ok());
        assert!(call("ada").is_err());
    }

    #[test]
    fn a_period_can_have_any_length() {
        let limit = RateLimit::new(1, Duration::MAX);
        assert!(limit.take(None).is_ok());
        assert_eq!(limit.take(None), Err(Duration::MAX));
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_remembered_principals_is_bounded() {
        let limit = RateLimit::new(1, Duration::from_secs(10));
        for principal in 0..=PRINCIPALS {
            assert!(limit.take(Some(principal.to_string())).is_ok());
        }
        assert_eq!(limit.buckets.lock().len(), PRINCIPALS);
    }
}
