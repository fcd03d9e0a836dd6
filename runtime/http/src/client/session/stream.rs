//! Reading streams of events, and resuming them when they are cut.

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, HeaderName, HeaderValue};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::body::Response;
use super::classify::answers;
use super::connection::Connection;
use super::error::{HttpError, SessionExpired};
use super::events::{Events, is_message};
use super::opening::OpeningStream;
use super::pending_response::PendingResponse;
use super::renewal::renew;
use super::response::{EVENT_STREAM, failure, media_type};
use super::state::{RemoteSession, SessionScope};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The time for which a stream is still read after its response: a connection whose stream has ended can be reused.
const LINGER: Duration = Duration::from_secs(1);
/// A stream that has lasted this long doesn't count as a failure, even without an event.
pub(super) const LASTING: Duration = Duration::from_secs(10);

/// The position in a stream.
#[derive(Default)]
struct Cursor {
    last: Option<HeaderValue>,
    retry: Option<Duration>,
    /// The number of attempts in a row without an event.
    failures: u32,
}

/// The reason why reading a stream has ended.
enum End {
    /// The awaited response has come.
    Answered,
    /// The awaited response is over the limit.
    Oversized,
    /// The stream ended.
    Cut,
}

/// Delivers the messages of a stream, up to the awaited response.
async fn read(
    connection: &Connection,
    events: &mut Events,
    cursor: &mut Cursor,
    pending: Option<&PendingResponse<'_>>,
) -> End {
    let since = Instant::now();
    let mut resumed = cursor.last.clone();
    while let Some(event) = events.next().await {
        cursor.failures = 0;
        cursor.retry = event.retry.or(cursor.retry);
        // Some servers repeat the event that `Last-Event-ID` names.
        let is_repeated = resumed
            .take()
            .is_some_and(|last| event.id.as_deref() == Some(last.as_bytes()));
        let mut end = None;
        if event.oversized {
            match pending {
                Some(_) => end = Some(End::Oversized),
                None => connection.refuse_oversized(event.data).await,
            }
        } else if !is_repeated && is_message(&event) {
            match pending {
                Some(pending) if answers(&event.data, pending.id) => {
                    end = Some(End::Answered);
                    connection.deliver(pending.take(&connection.tools, event.data)).await;
                }
                Some(pending) => connection.deliver_related(event.data, pending.id).await,
                None => connection.deliver(event.data).await,
            }
        }
        // Only after the delivery: an event that wasn't delivered has to be sent again.
        if let Some(id) = event.id {
            cursor.last = HeaderValue::from_bytes(&id).ok().filter(|id| !id.is_empty());
        }
        if let Some(end) = end {
            return end;
        }
    }
    if since.elapsed() >= LASTING {
        cursor.failures = 0;
    }
    End::Cut
}

/// Reads the stream of a response, and resumes it if it ends too early.
pub(super) async fn follow(
    connection: &Arc<Connection>,
    answer: Response,
    pending: &PendingResponse<'_>,
) -> Result<(), HttpError> {
    let limit = connection.options.message_bytes;
    let mut events = Events::new(answer, limit);
    let mut cursor = Cursor::default();
    loop {
        match read(connection, &mut events, &mut cursor, Some(pending)).await {
            End::Answered => break,
            End::Oversized => return Err(HttpError::TooLarge(limit)),
            // Without an id, the server can't know which events are missing.
            End::Cut if cursor.last.is_none() || !pending.resumes => return Err(HttpError::MissingResponse),
            End::Cut => events = reopen(connection, &mut cursor).await?,
        }
    }
    let connection = Arc::clone(connection);
    tokio::spawn(connection.closing.clone().run_until_cancelled_owned(async move {
        let _ = timeout(LINGER, read(&connection, &mut events, &mut cursor, None)).await;
    }));
    Ok(())
}

/// Spawns the task that reads the standalone stream until the session has ended.
pub(super) fn listen(connection: &Arc<Connection>, session: &RemoteSession) -> OpeningStream {
    let (open, opened) = oneshot::channel();
    let reading = read_standalone(Arc::clone(connection), open);
    tokio::spawn(session.ended.clone().run_until_cancelled_owned(reading));
    OpeningStream(opened)
}

/// Reads the standalone stream, as long as the server has it.
async fn read_standalone(connection: Arc<Connection>, on_open: oneshot::Sender<()>) {
    let mut cursor = Cursor::default();
    let mut opened = open(&connection, None, Attempt::Initial).await;
    // The caller may no longer wait.
    let _ = on_open.send(());
    // Servers may lack this stream. Here, a 404 means that, and not that the session has ended.
    if let Err(HttpError::Status(failure)) = &opened
        && failure.status.is_client_error()
        && failure.status != StatusCode::TOO_MANY_REQUESTS
    {
        tracing::debug!(status = %failure.status, "the server has no standalone stream");
        return;
    }
    loop {
        match opened {
            Ok(mut events) => {
                read(&connection, &mut events, &mut cursor, None).await;
            }
            Err(error) => tracing::debug!(%error, "the standalone stream can't be opened"),
        }
        opened = reopen(&connection, &mut cursor).await;
        if let Err(error) = &opened {
            let is_unreachable = cursor.failures >= connection.options.reconnects;
            // A server that ends the stream each time can be reached, and doesn't use it.
            if !is_unreachable || matches!(error, HttpError::MissingResponse) {
                tracing::warn!(%error, "the standalone stream can't be resumed, and isn't read any more");
                return;
            }
            // The server may keep the session meanwhile.
            tracing::warn!(%error, "the standalone stream can't be resumed before the server responds again");
            connection.responded.notified().await;
            cursor.failures = 0;
        }
    }
}

/// Opens a stream again, with exponential backoff.
async fn reopen(connection: &Arc<Connection>, cursor: &mut Cursor) -> Result<Events, HttpError> {
    loop {
        if cursor.failures >= connection.options.reconnects {
            return Err(HttpError::MissingResponse);
        }
        sleep(connection.options.wait(cursor.failures, cursor.retry)).await;
        cursor.failures += 1;
        let error = match open(connection, cursor.last.clone(), Attempt::Reconnect).await {
            Ok(events) => return Ok(events),
            Err(error) => error,
        };
        let is_transient = match &error {
            HttpError::Status(failure) => {
                failure.status.is_server_error() || failure.status == StatusCode::TOO_MANY_REQUESTS
            }
            HttpError::Network(_) => true,
            _ => false,
        };
        if !is_transient || cursor.failures >= connection.options.reconnects {
            return Err(error);
        }
        tracing::debug!(%error, "a stream couldn't be opened again");
    }
}

/// Whether a stream is opened for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    Initial,
    Reconnect,
}

/// Opens a stream after the event `last`.
pub(super) async fn open(
    connection: &Arc<Connection>,
    last: Option<HeaderValue>,
    attempt: Attempt,
) -> Result<Events, HttpError> {
    let mut request = connection
        .client
        .get(connection.url.clone())
        .header(ACCEPT, EVENT_STREAM);
    if let Some(last) = last {
        request = request.header(LAST_EVENT_ID, last);
    }
    let (response, session) = connection.send(request, SessionScope::Current).await?;
    if let (Attempt::Reconnect, Some(lost)) = (attempt, session.lost_id(&response)) {
        // A server that loses every session immediately must not cause renewals in quick succession. A request isn't
        // delayed: it renews the session, which ends this task.
        let renewed = connection.state.lock().renewed;
        if let Some(renewed) = renewed {
            sleep_until(renewed + LASTING).await;
        }
        if !renew(connection, lost.clone(), listen).await {
            connection.expire(&lost).await;
        }
        return Err(SessionExpired.into());
    }
    if !response.status().is_success() {
        return Err(failure(response, true).await.into());
    }
    match media_type(&response).as_str() {
        EVENT_STREAM => Ok(Events::new(response, connection.options.message_bytes)),
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}
