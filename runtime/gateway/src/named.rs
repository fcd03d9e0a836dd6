//! Transports whose errors name their server, for clients that know several servers.

use std::error::Error;
use std::sync::Arc;

use mcp_runtime_core::CallError;
use mcp_runtime_core::transport::{Connector, Incoming, Intake, Receiver, Restart, Transport, TransportError};

/// A connector or a transport to the server with this name, or its receiving half.
pub struct Named<T> {
    server: Arc<str>,
    inner: T,
    /// Whether the server has sent something. Before that, the gateway reports that it can't reach the server, by name.
    is_reached: bool,
}

/// The failure of a transport.
#[derive(Debug, thiserror::Error)]
#[error("the server {server:?} has failed: {error}")]
struct ServerFailure {
    server: Arc<str>,
    error: Arc<dyn Error + Send + Sync>,
}

impl<T> Named<T> {
    pub fn new(server: impl Into<Arc<str>>, inner: T) -> Self {
        Self {
            server: server.into(),
            inner,
            is_reached: false,
        }
    }

    fn failure(&self, error: Arc<dyn Error + Send + Sync>) -> Arc<ServerFailure> {
        let server = Arc::clone(&self.server);
        Arc::new(ServerFailure { server, error })
    }
}

impl<C: Connector> Connector for Named<C> {
    type Transport = Named<C::Transport>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        Ok(Named::new(Arc::clone(&self.server), self.inner.connect().await?))
    }
}

impl<T: Transport> Transport for Named<T> {
    type Sender = T::Sender;
    type Receiver = Named<T::Receiver>;

    fn split(self) -> (Self::Sender, Self::Receiver) {
        let (sender, receiver) = self.inner.split();
        (sender, Named::new(self.server, receiver))
    }

    fn restart(&mut self) -> Option<Restart<Self>> {
        let (restart, server) = (self.inner.restart()?, Arc::clone(&self.server));
        Some(Box::new(move || Ok(Self::new(server, restart()?))))
    }
}

impl<R: Receiver> Receiver for Named<R> {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        let received = self.inner.receive().await;
        if !self.is_reached {
            self.is_reached = matches!(received, Ok(Some(Incoming::Message { .. })));
            return received;
        }
        match received {
            Ok(Some(Incoming::Failed { id, error })) => {
                let error = match error {
                    CallError::Transport(error) => CallError::Transport(self.failure(error)),
                    CallError::Cut(error) => CallError::Cut(self.failure(error)),
                    error => error,
                };
                Ok(Some(Incoming::Failed { id, error }))
            }
            Err(TransportError::Exited(exit)) => Err(TransportError::Exited(exit.of_server(&*self.server))),
            received => received,
        }
    }

    fn half_closes(&self) -> bool {
        self.inner.half_closes()
    }

    fn begin(&mut self, intake: Intake) {
        self.inner.begin(intake);
    }
}
