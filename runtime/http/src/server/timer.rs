//! The timer of a connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use mcp_runtime_util::Mutex;

/// A timer that reuses its registration with the runtime from one request to the next.
///
/// A connection has a timeout for each request's head. Registering a timeout wakes the thread that waits for the
/// earliest one, by a system call; postponing a registered one needs neither.
#[derive(Debug, Default)]
pub(crate) struct ConnectionTimer(Arc<Mutex<Option<Registered>>>);

type Registered = Pin<Box<tokio::time::Sleep>>;

impl Timer for ConnectionTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn now(&self) -> Instant {
        // Tests can advance this clock.
        tokio::time::Instant::now().into_std()
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        let deadline = tokio::time::Instant::from_std(deadline);
        let kept = self.0.lock().take();
        let sleep = match kept {
            Some(mut sleep) => {
                sleep.as_mut().reset(deadline);
                sleep
            }
            None => Box::pin(tokio::time::sleep_until(deadline)),
        };
        Box::pin(KeptSleep {
            sleep: Some(sleep),
            kept: Arc::clone(&self.0),
        })
    }
}

/// A timeout that is kept for the next request when it is dropped.
struct KeptSleep {
    sleep: Option<Registered>,
    kept: Arc<Mutex<Option<Registered>>>,
}

impl Sleep for KeptSleep {}

impl Future for KeptSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl Drop for KeptSleep {
    fn drop(&mut self) {
        *self.kept.lock() = self.sleep.take();
    }
}
