//! Methods that only one revision has, from functions typed by this revision.

use std::future::Future;
use std::sync::Arc;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, Request, UnknownMethod, Validate};
use serde::Serialize;

use super::call::{Call, Function};
use super::error::RouteError;
use crate::error::{internal, invalid_params};
use crate::session::ExtraMethod;

/// A method that only one revision has, and the function that answers it.
pub(super) struct MethodRoute {
    pub(super) method: ExtraMethod,
    pub(super) function: Function<UnknownMethod, OpenJson>,
}

impl MethodRoute {
    pub(super) fn new<R, F>(function: impl Fn(R, Call) -> F + Send + Sync + 'static) -> Result<Self, RouteError>
    where
        R: Request<Result: Serialize> + Validate + Send + 'static,
        F: Future<Output = Result<R::Result, ErrorObject>> + Send + 'static,
    {
        let refused = |what: String| RouteError::Method {
            method: R::METHOD,
            revision: R::schema().revision(),
            what,
        };
        let revision: Revision = R::schema()
            .revision()
            .parse()
            .map_err(|_| refused("this build has no such revision".to_owned()))?;
        let method = ExtraMethod::new(revision, R::METHOD).map_err(|error| refused(error.to_string()))?;
        let function = Arc::new(function);
        let function: Function<UnknownMethod, OpenJson> = Arc::new(move |request, call| {
            let function = Arc::clone(&function);
            Box::pin(async move {
                let request = request.decode_as().map_err(invalid_params)?;
                let result = function(request, call).await?;
                OpenJson::from_serialize(&result).map_err(internal)
            })
        });
        Ok(Self { method, function })
    }
}
