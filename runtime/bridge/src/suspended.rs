//! Suspended calls of stateless clients: each waits for the request with the client's answers to the server's input
//! requests.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::{internal_error, invalid_params};
use mcp_runtime_util::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::client::{ClientId, Owner};
use super::input_requests::Running;
use super::upstream::Lease;

/// The divisor for the share of the suspended calls that one client can have, so that it doesn't crowd out the others.
const SHARE: usize = 8;

/// A call that waits for an answer of its client.
struct SuspendedCall {
    call: Running,
    principal: Option<String>,
    owner: Owner,
    /// The session with the server, which must not end meanwhile.
    lease: Arc<Lease>,
    /// Removes the call after some time.
    _expiry: AbortOnDropHandle<()>,
}

/// The calls of a bridge that wait for answers of clients. They are bounded in number and in time.
pub struct SuspendedCalls {
    calls: Mutex<HashMap<String, SuspendedCall>>,
    limit: usize,
    patience: Duration,
}

impl SuspendedCalls {
    pub fn new(limit: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            calls: Mutex::default(),
            limit,
            patience,
        })
    }

    /// Keeps a call until its client repeats the request. Returns the name by which the call is found.
    pub fn suspend(
        self: &Arc<Self>,
        call: Running,
        client: &ClientId,
        lease: Arc<Lease>,
    ) -> Result<String, ErrorObject> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(internal_error)?;
        let name = format!("{:032x}", u128::from_le_bytes(id));
        let owner = client.owner();
        let mut calls = self.calls.lock();
        let of_owner = calls.values().filter(|call| call.owner == owner).count();
        if calls.len() >= self.limit || of_owner >= self.limit.div_ceil(SHARE) {
            return Err(internal_error("too many calls wait for answers of their clients"));
        }
        let expiry = tokio::spawn(expire(Arc::downgrade(self), name.clone(), self.patience));
        let suspended = SuspendedCall {
            call,
            principal: client.principal().map(str::to_owned),
            owner,
            lease,
            _expiry: AbortOnDropHandle::new(expiry),
        };
        calls.insert(name.clone(), suspended);
        Ok(name)
    }

    /// Returns the session of a suspended call, if the client has the principal of the call.
    pub fn lease(&self, name: &str, client: &ClientId) -> Option<Arc<Lease>> {
        let calls = self.calls.lock();
        let call = calls.get(name)?;
        (call.principal.as_deref() == client.principal()).then(|| Arc::clone(&call.lease))
    }

    /// Resumes the call that a repeated request names, with the answers in that request.
    pub fn resume(
        &self,
        name: &str,
        client: &ClientId,
        responses: Option<hub::InputResponses>,
    ) -> Result<Running, ErrorObject> {
        let mut calls = self.calls.lock();
        let is_own = |call: &SuspendedCall| call.principal.as_deref() == client.principal();
        let suspended = match calls.get(name).is_some_and(is_own) {
            true => calls.remove(name),
            false => None,
        };
        drop(calls);
        let SuspendedCall { call, .. } =
            suspended.ok_or_else(|| invalid_params("the call has ended, or has waited for too long"))?;
        if let Some(carrier) = &call.carrier {
            carrier.resume(responses.unwrap_or_default());
        }
        Ok(call)
    }

    /// Cancels all calls.
    pub fn clear(&self) {
        let calls = std::mem::take(&mut *self.calls.lock());
        drop(calls);
    }
}

/// Cancels a call that its client doesn't resume in time.
async fn expire(suspended: Weak<SuspendedCalls>, name: String, patience: Duration) {
    tokio::time::sleep(patience).await;
    let expired = suspended
        .upgrade()
        .and_then(|suspended| suspended.calls.lock().remove(&name));
    if expired.is_some() {
        tracing::debug!("a call is cancelled: its client hasn't answered what the server asks");
    }
}
