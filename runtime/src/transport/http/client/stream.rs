//! Streams of events: read, and asked for again where they were cut.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::mcp_wire::RequestId;
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Response, StatusCode};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::connection::{Connection, EVENTS, LAST_EVENT, Session, Within, failure, media_type};
use super::envelope::answers;
use super::error::{HttpError, SessionExpired};
use super::renewal::renew;
use super::sse::{Event, Parser};

/// How long a stream may go on after its answer, so that its connection can serve again.
const LINGER: Duration = Duration::from_secs(1);
/// How long nothing else is sent while the server's own stream isn't there yet.
const OPENING: Duration = Duration::from_secs(1);
/// A stream that lasted as long wasn't a failure, even if it brought nothing.
pub(super) const LASTING: Duration = Duration::from_secs(10);

/// The events of a response.
pub(super) struct Events {
    response: Response,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Events {
    pub(super) fn new(response: Response, limit: usize) -> Self {
        Self {
            response,
            parser: Parser::new(limit),
            ready: VecDeque::new(),
        }
    }

    /// The next event; `None` also when the connection was cut, since a stream says nothing at its end.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.response.chunk().await {
                Ok(Some(chunk)) => self.parser.push(&chunk, &mut self.ready),
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!(error = %HttpError::Network(error), "a stream was cut");
                    return None;
                }
            }
        }
    }
}

/// How far a stream has been read.
#[derive(Default)]
struct Cursor {
    last: Option<HeaderValue>,
    retry: Option<Duration>,
    /// How often in a row it brought nothing.
    failures: u32,
}

/// Why reading a stream has ended.
enum End {
    /// The awaited response has come.
    Answered,
    /// It was too long to be taken.
    Oversized,
    /// The stream ended.
    Cut,
}

/// Hands the messages of a stream to the receiver, until the one that is awaited.
async fn read(connection: &Connection, events: &mut Events, cursor: &mut Cursor, awaited: Option<&RequestId>) -> End {
    let since = Instant::now();
    let mut resumed = cursor.last.clone();
    while let Some(event) = events.next().await {
        cursor.failures = 0;
        cursor.retry = event.retry.or(cursor.retry);
        // A server that begins again with the event that was asked for as the last one has said it twice.
        let twice = resumed
            .take()
            .is_some_and(|last| event.id.as_deref() == Some(last.as_bytes()));
        let mut end = None;
        if event.oversized {
            match awaited {
                Some(_) => end = Some(End::Oversized),
                None => connection.refuse_oversized().await,
            }
        } else if !twice && is_message(&event) {
            end = awaited.filter(|id| answers(&event.data, id)).map(|_| End::Answered);
            connection.deliver(event.data).await;
        }
        // Only now: what hasn't been handed on is to come again.
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

/// Whether an event carries a message: the first one of a stream may be there for its id alone.
pub(super) fn is_message(event: &Event) -> bool {
    matches!(event.name.as_slice(), b"" | b"message") && !event.data.trim_ascii().is_empty()
}

/// Reads the stream that answers a request, and asks for the rest if it ends too early.
pub(super) async fn follow(connection: &Arc<Connection>, answer: Response, id: &RequestId) -> Result<(), HttpError> {
    let limit = connection.options.message_bytes;
    let mut events = Events::new(answer, limit);
    let mut cursor = Cursor::default();
    loop {
        match read(connection, &mut events, &mut cursor, Some(id)).await {
            End::Answered => break,
            End::Oversized => return Err(HttpError::TooLarge(limit)),
            // Without an id the server can't know what is missing.
            End::Cut if cursor.last.is_none() => return Err(HttpError::Unanswered),
            End::Cut => events = reopen(connection, &mut cursor).await?,
        }
    }
    let connection = Arc::clone(connection);
    tokio::spawn(connection.closing.clone().run_until_cancelled_owned(async move {
        let _ = timeout(LINGER, read(&connection, &mut events, &mut cursor, None)).await;
    }));
    Ok(())
}

/// Has what the server sends of its own accord read until the session is over.
pub(super) fn listen(connection: &Arc<Connection>, session: &Session) -> Listening {
    let (open_now, opened) = oneshot::channel();
    let reading = read_own(Arc::clone(connection), open_now);
    tokio::spawn(session.ends.clone().run_until_cancelled_owned(reading));
    Listening(opened)
}

/// A stream that is being opened.
#[must_use]
pub(super) struct Listening(oneshot::Receiver<()>);

impl Listening {
    /// Waits a moment until the stream is open: many servers lose what they have to say while nobody reads it.
    pub(super) async fn begun(self) {
        if timeout(OPENING, self.0).await.is_err() {
            tracing::debug!("the server's own stream is slow to begin");
        }
    }
}

/// Reads what the server sends of its own accord, for as long as it can be had.
async fn read_own(connection: Arc<Connection>, open_now: oneshot::Sender<()>) {
    let mut cursor = Cursor::default();
    let mut opened = open(&connection, None, Opens::First).await;
    // Nobody may wait any more.
    let _ = open_now.send(());
    // No stream at all is fine, and 404 then says that there is none rather than that the session is over.
    if let Err(HttpError::Status(failure)) = &opened
        && failure.status.is_client_error()
        && failure.status != StatusCode::TOO_MANY_REQUESTS
    {
        tracing::debug!(status = %failure.status, "the server has no stream of its own");
        return;
    }
    loop {
        match opened {
            Ok(mut events) => {
                read(&connection, &mut events, &mut cursor, None).await;
            }
            Err(error) => tracing::debug!(%error, "the server's own stream can't be had"),
        }
        opened = match reopen(&connection, &mut cursor).await {
            Ok(events) => Ok(events),
            Err(error) => {
                tracing::warn!(%error, "the server's own stream is given up");
                return;
            }
        };
    }
}

/// Opens a stream again, with ever longer waits.
async fn reopen(connection: &Arc<Connection>, cursor: &mut Cursor) -> Result<Events, HttpError> {
    loop {
        if cursor.failures >= connection.options.reconnects {
            return Err(HttpError::Unanswered);
        }
        sleep(connection.options.wait(cursor.failures, cursor.retry)).await;
        cursor.failures += 1;
        let error = match open(connection, cursor.last.clone(), Opens::Again).await {
            Ok(events) => return Ok(events),
            Err(error) => error,
        };
        let passes = match &error {
            HttpError::Status(failure) => {
                failure.status.is_server_error() || failure.status == StatusCode::TOO_MANY_REQUESTS
            }
            HttpError::Network(_) => true,
            _ => false,
        };
        if !passes || cursor.failures >= connection.options.reconnects {
            return Err(error);
        }
        tracing::debug!(%error, "a stream couldn't be opened again");
    }
}

/// Whether there has been a stream before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    First,
    Again,
}

/// Asks for a stream, from after the event `last`.
pub(super) async fn open(
    connection: &Arc<Connection>,
    last: Option<HeaderValue>,
    opens: Opens,
) -> Result<Events, HttpError> {
    let mut request = connection.client.get(connection.url.clone()).header(ACCEPT, EVENTS);
    if let Some(last) = last {
        request = request.header(LAST_EVENT, last);
    }
    let (response, session) = connection.ask(request, Within::Current).await?;
    if let (Opens::Again, Some(forgotten)) = (opens, session.forgotten(&response)) {
        // Nobody asks for this, and so a server that forgets each session at once must not be asked without end.
        let renewed = connection.state.lock().renewed;
        let lasted = renewed.is_none_or(|renewed| renewed.elapsed() >= LASTING);
        if !(lasted && renew(connection, forgotten.clone()).await) {
            connection.expire(&forgotten).await;
        }
        return Err(SessionExpired.into());
    }
    if !response.status().is_success() {
        return Err(failure(response).await.into());
    }
    match media_type(&response).as_str() {
        EVENTS => Ok(Events::new(response, connection.options.message_bytes)),
        other => Err(HttpError::ContentType(other.to_owned())),
    }
}
