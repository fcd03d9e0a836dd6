//! Methods that the protocol doesn't declare, in both directions: as JSON, and as custom types.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_runtime::mcp_wire::{
    Decode, Decoded, Direction, Encode, Extra, JsonWriter, Member, MemberWriter, Notification, Object, ObjectWriter,
    RawJson, Reader, Request, UnknownMethod, encode_object, serialize_object,
};
use mcp_runtime::transport::{Transport, channel};
use mcp_runtime::{
    CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision,
    ServerHandler, ServerSession, ServerSide, connect, error_code, hub, serve,
};
use serde::ser::{Serialize, Serializer};
use serde_json::json;

use crate::common::session_revisions;

/// Declares a message whose only parameter is a `word`.
macro_rules! message {
    ($name:ident, $method:literal, $trait:ident { $($item:tt)* }) => {
        #[derive(Debug, PartialEq)]
        struct $name {
            word: String,
            extra: Extra,
        }

        impl $name {
            fn new(word: &str) -> Self {
                let (word, extra) = (word.to_owned(), Extra::new());
                Self { word, extra }
            }
        }

        impl Object for $name {
            fn extra(&self) -> &Extra {
                &self.extra
            }

            fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
                members.write_constant("method", $method)?;
                members.write("params", &json!({"word": self.word}))
            }
        }

        impl Encode for $name {
            fn encode(&self, json: &mut JsonWriter) {
                encode_object(self, json);
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_object(self, serializer)
            }
        }

        impl Decode for $name {
            fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
                let (mut method, mut params) = (false, None);
                let extra = reader.object(&mut [
                    Member::constant("method", $method, &mut method),
                    Member::required::<Spoken>("params", &mut params),
                ])?;
                let Spoken(word) = params.ok_or_else(|| reader.missing("params"))?;
                Ok(Self { word, extra })
            }
        }

        impl $trait for $name {
            const METHOD: &'static str = $method;
            const DIRECTION: Direction = Direction::Both;
            type Params = Spoken;
            $($item)*
        }
    };
}

message!(Shout, "vendor.example/shout", Request { type Result = Spoken; });
message!(Whisper, "notifications/vendor.example/whisper", Notification {});

/// `{"word": …}`
#[derive(Debug, PartialEq)]
struct Spoken(String);

impl Decode for Spoken {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut word = None;
        reader.object(&mut [Member::required("word", &mut word)])?;
        word.map(Self).ok_or_else(|| reader.missing("word"))
    }
}

/// The handler of either side.
#[derive(Clone, Default)]
struct Echo {
    heard: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    fn answer(&self, request: &UnknownMethod) -> Result<RawJson, ErrorObject> {
        let invalid = |error: &dyn ToString| ErrorObject::new(error_code::INVALID_PARAMS, error.to_string());
        match request.method.as_str() {
            Shout::METHOD => {
                let request: Shout = request.decode_as().map_err(|error| invalid(&error))?;
                let heard = self.heard.lock().unwrap().join(" ");
                Ok(json!({"word": request.word.to_uppercase(), "heard": heard}).into())
            }
            "vendor.example/same" => {
                let params = request.params.clone();
                params.map(RawJson::from).ok_or_else(|| invalid(&"no parameters"))
            }
            method => Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, method)),
        }
    }

    fn hear(&self, notification: &UnknownMethod) {
        let whisper: Whisper = notification.decode_as().unwrap();
        self.heard.lock().unwrap().push(whisper.word);
    }
}

impl ServerHandler<Context<ServerSide>> for Echo {
    async fn unknown_request(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<RawJson, ErrorObject> {
        if request.method == "vendor.example/ask" {
            let asked = context.peer().call_custom(Shout::new("and you")).await;
            let word = asked
                .map_err(|error| ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string()))?
                .0;
            return Ok(json!({"word": word}).into());
        }
        self.answer(&request)
    }

    async fn on_unknown(&self, notification: UnknownMethod, _: &Context<ServerSide>) {
        self.hear(&notification);
    }
}

impl ClientHandler<Context<ClientSide>> for Echo {
    async fn unknown_request(&self, request: UnknownMethod, _: &Context<ClientSide>) -> Result<RawJson, ErrorObject> {
        self.answer(&request)
    }

    async fn on_unknown(&self, notification: UnknownMethod, _: &Context<ClientSide>) {
        self.hear(&notification);
    }
}

fn info() -> hub::Implementation {
    hub::Implementation::new("echo", "1.0")
}

fn server(echo: Echo, transport: impl Transport) -> ServerSession {
    let options = Options {
        supported: session_revisions(),
        ..Options::default()
    };
    serve(
        echo,
        info(),
        hub::ServerCapabilities::default(),
        None,
        options,
        transport,
    )
}

async fn client(revision: Revision, transport: impl Transport) -> ClientSession {
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let client = connect(
        Echo::default(),
        info(),
        hub::ClientCapabilities::default(),
        options,
        transport,
    );
    client.await.unwrap()
}

/// The oldest and the newest revision that a session can be in.
fn ends() -> [Revision; 2] {
    let session_revisions = session_revisions();
    [
        *session_revisions.iter().min().unwrap(),
        *session_revisions.iter().max().unwrap(),
    ]
}

/// Sends a client's requests and notifications, and checks the responses.
async fn talk(client: &ClientSession) {
    let peer = client.peer();
    peer.notify_custom(Whisper::new("hush")).await.unwrap();
    // The notification is handled at some later time.
    let heard = async {
        loop {
            let mut shout = UnknownMethod::new(Shout::METHOD).with_params(json!({"word": "x"}));
            shout.extra.insert("vendor", json!(true));
            let answer = peer.call_unknown(shout).await.unwrap();
            if answer.get("heard").unwrap().text().contains("hush") {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), heard)
        .await
        .expect("it is heard");
    assert_eq!(
        peer.call_custom(Shout::new("hello")).await.unwrap(),
        Spoken("HELLO".to_owned())
    );

    let params = r#"{"z":1.50,"a":[1e400],"_meta":{"vendor":null}}"#;
    let same = UnknownMethod::new("vendor.example/same").with_params(mcp_wire::from_str::<RawJson>(params).unwrap());
    assert_eq!(peer.call_unknown(same).await.unwrap().text(), params);

    let asked = peer
        .call_unknown(UnknownMethod::new("vendor.example/ask"))
        .await
        .unwrap();
    assert_eq!(asked.text(), r#"{"word":"AND YOU"}"#);

    let refused = peer.call_unknown(UnknownMethod::new("vendor.example/none")).await;
    assert!(
        matches!(&refused, Err(CallError::Peer(error)) if error.code == error_code::METHOD_NOT_FOUND),
        "{refused:?}"
    );
    // Methods that the protocol declares have their own calls, which convert and check.
    let refused = peer.call_unknown(UnknownMethod::new("tools/list")).await;
    assert!(matches!(refused, Err(CallError::Unrepresentable(_))), "{refused:?}");
    assert!(matches!(
        peer.list_tools(hub::PaginatedRequestParams::default()).await,
        Err(CallError::NotOffered { .. })
    ));
}

#[tokio::test]
async fn custom_methods_work_both_ways_at_the_oldest_and_the_newest_revision() {
    for revision in ends() {
        let (ours, theirs) = channel(16);
        let echo = Echo::default();
        let server = server(echo.clone(), ours);
        let client = client(revision, theirs).await;
        talk(&client).await;
        server.peer().notify_custom(Whisper::new("psst")).await.unwrap();
        let word = server.peer().call_custom(Shout::new("you")).await.unwrap();
        assert_eq!(word, Spoken("YOU".to_owned()), "{revision}");
    }
}

#[tokio::test]
async fn custom_methods_work_over_http_at_the_oldest_and_the_newest_revision() {
    use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
    use mcp_runtime::transport::http::server::{HttpServer, serve};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = HttpServer::from_fn(|transport, _| {
        server(Echo::default(), transport);
    })
    .revisions(session_revisions());
    let serving = tokio::spawn(serve(listener, app).into_future());
    for revision in ends() {
        let transport = HttpClient::new(&url, HttpOptions::default()).unwrap();
        let client = client(revision, transport).await;
        talk(&client).await;
        client.close().await;
    }
    serving.abort();
}
