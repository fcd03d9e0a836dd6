//! Repeated connections to the same server.

use std::future::Future;

use crate::error::TransportError;
use crate::message::Transport;

/// Makes connections to a server. A function that returns a transport is a connector.
pub trait Connector: Send + Sync + 'static {
    /// The transport to the server.
    type Transport: Transport;

    /// Connects to the server, for example by starting its process.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, TransportError>> + Send;
}

impl<F, T> Connector for F
where
    F: Fn() -> Result<T, TransportError> + Send + Sync + 'static,
    T: Transport,
{
    type Transport = T;

    fn connect(&self) -> impl Future<Output = Result<T, TransportError>> + Send {
        std::future::ready(self())
    }
}
