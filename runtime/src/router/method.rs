//! Methods that only one revision has, from functions typed by this revision.

use std::future::Future;
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, Request, UnknownMethod, Validate};
use mcp_adapters::{PeerTypes, Revision};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::error::RouteError;
use super::scope::Scope;
use crate::error::{internal, invalid_params};
use crate::future::BoxFuture;

/// A method that only one revision has, and the function that answers it.
#[derive(Clone)]
pub(super) struct MethodRoute {
    pub(super) name: &'static str,
    pub(super) revision: Revision,
    /// The capability that it needs, as a member of a server's capabilities.
    pub(super) capability: Option<Value>,
    pub(super) function: MethodFunction,
    /// What the routers that it came from had around it.
    pub(super) scope: Scope,
}

type MethodFunction =
    Arc<dyn Fn(UnknownMethod, Call) -> BoxFuture<'static, Result<OpenJson, ErrorObject>> + Send + Sync>;

impl MethodRoute {
    pub(super) fn new<R, F>(function: impl Fn(R, Call) -> F + Send + Sync + 'static) -> Result<Self, RouteError>
    where
        R: Request<Result: Serialize> + Validate + Send + 'static,
        F: Future<Output = Result<R::Result, ErrorObject>> + Send + 'static,
    {
        let refused = |what| RouteError::Method {
            method: R::METHOD,
            revision: R::schema().revision(),
            what,
        };
        let revision = R::schema().revision().parse();
        let revision: Revision = revision.map_err(|_| refused("this build has no such revision"))?;
        check(revision, R::METHOD).map_err(refused)?;
        let method = revision.method(R::METHOD);
        let path = method.and_then(|method| method.capability);
        let function = Arc::new(function);
        let function: MethodFunction = Arc::new(move |request, call| {
            let function = Arc::clone(&function);
            Box::pin(async move {
                let request = request.decode_as().map_err(invalid_params)?;
                let result = function(request, call).await?;
                OpenJson::from_serialize(&result).map_err(internal)
            })
        });
        Ok(Self {
            name: R::METHOD,
            revision,
            capability: path.and_then(|path| capability(revision, path)),
            function,
            scope: Scope::default(),
        })
    }
}

/// Checks that a method is one that a function can answer for clients of one revision; the error says why not.
fn check(revision: Revision, name: &str) -> Result<(), &'static str> {
    let method = revision.method(name);
    if !method.is_some_and(|method| method.direction.from_client()) {
        return Err("clients of the revision don't call it");
    }
    let lifecycle = revision.lifecycle();
    let internal = [
        lifecycle.begin,
        lifecycle.discover,
        lifecycle.listen,
        lifecycle.ping,
        lifecycle.set_level,
        lifecycle.subscribe,
        lifecycle.unsubscribe,
    ];
    if internal.contains(&Some(name)) {
        return Err("sessions answer it by themselves");
    }
    match Revision::HUB.method(Revision::HUB.name_of_method(revision, name)) {
        Some(_) => Err("the handlers for clients of every revision answer it"),
        None => Ok(()),
    }
}

/// The capabilities that have only the member at a path. Its value is an empty object, or `true` if the revision wants that.
fn capability(revision: Revision, path: &str) -> Option<Value> {
    let nested = |value| path.rsplit('.').fold(value, |inner, member| json!({ member: inner }));
    let values = [Value::from(Map::new()), Value::Bool(true)].map(nested);
    values
        .into_iter()
        .find(|capabilities| revision.read_server_capabilities(&capabilities.into()).is_ok())
}
