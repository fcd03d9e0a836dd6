//! Handlers that request input from the client, and clients that answer, in every revision.

mod by_hand;
mod client;
mod every_revision;
mod forms;
mod hostile;
mod replay;

use mcp_runtime::mcp_wire::{self, RawJson};
use mcp_runtime::router::Call;
use mcp_runtime::transport::{
    ChannelReceiver, ChannelSender, ChannelTransport, Incoming, Outgoing, Principal, Purpose, Receiver, Transport,
    channel,
};
use mcp_runtime::{
    CallClient, CallError, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision, Router,
    connect, hub,
};
use serde_json::{Value, json};

use crate::common::stateless;

fn info() -> hub::Implementation {
    hub::Implementation::new("test", "1.0")
}

/// Options that allow every revision.
fn every_revision() -> Options {
    Options {
        supported: Revision::ALL.to_vec(),
        ..Options::default()
    }
}

fn form(message: &str) -> hub::ElicitRequestParams {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let schema = mcp_wire::from_str(&schema.to_string()).expect("it is a form");
    hub::ElicitRequestFormParams::new(message, schema).into()
}

fn sampling(text: &str) -> hub::CreateMessageRequestParams {
    let message = hub::SamplingMessage::new(hub::Role::User, hub::TextContent::new(text));
    hub::CreateMessageRequestParams::new(10, vec![message])
}

/// Elicits a name from the user. [`Obliging`] answers with the message.
async fn name_of(call: &Call, message: &str) -> Result<String, CallError> {
    let result = call.peer().elicit(form(message)).await?;
    let content = RawJson::from_serialize(&result.content).expect("it is JSON");
    Ok(content
        .get("name")
        .map_or_else(|| "nobody".to_owned(), |name| name.text().to_owned()))
}

/// A client that answers everything.
struct Obliging;

impl ClientHandler<Context<ClientSide>> for Obliging {
    async fn create_message(
        &self,
        params: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        let asked = RawJson::from_serialize(&params.messages).expect("it is JSON");
        let text = format!("{} bytes", asked.text().len().min(1));
        let message = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": text}});
        Ok(serde_json::from_value(message).expect("it is a message"))
    }

    async fn elicit(
        &self,
        params: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        let params = RawJson::from_serialize(&params).expect("it is JSON");
        let message: String = params.get("message").expect("it has one").parse().expect("a text");
        let result = json!({"action": "accept", "content": {"name": message}});
        Ok(serde_json::from_value(result).expect("it is a result"))
    }

    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        Ok(hub::ListRootsResult::new(vec![hub::Root::new("file:///home")]))
    }
}

fn every_capability() -> Value {
    json!({"elicitation": {}, "roots": {}, "sampling": {}})
}

/// Connects a client of a revision.
async fn client_of(revision: Revision, capabilities: Value, transport: ChannelTransport) -> ClientSession {
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let capabilities = serde_json::from_value(capabilities).expect("they are capabilities");
    let client = connect(Obliging, info(), capabilities, options, transport).await;
    client.expect("the server speaks every revision")
}

/// Connects a client of a revision to a router.
async fn served(router: &Router, revision: Revision, capabilities: Value) -> ClientSession {
    let (server, client) = channel(16);
    drop(router.clone().serve(every_revision(), server));
    client_of(revision, capabilities, client).await
}

/// The text of the result of a tool.
fn text(result: &hub::CallToolResult) -> String {
    match result.content.as_slice() {
        [hub::ContentBlock::Text(content)] => content.text.clone(),
        other => panic!("{other:?}"),
    }
}

/// A peer that writes and reads raw JSON.
struct Raw {
    sender: ChannelSender,
    receiver: ChannelReceiver,
    principal: Option<String>,
}

impl Raw {
    fn new(transport: ChannelTransport) -> Self {
        let (sender, receiver) = transport.split();
        let principal = None;
        Self {
            sender,
            receiver,
            principal,
        }
    }

    async fn send(&mut self, message: &Value) {
        let message = Outgoing {
            json: message.to_string().into_bytes(),
            purpose: Purpose::Unsolicited,
        };
        let mut extensions = http::Extensions::new();
        if let Some(principal) = self.principal.clone() {
            extensions.insert(Principal(principal));
        }
        let sent = self.sender.send_with_extensions(message, extensions).await;
        sent.expect("the peer reads");
    }

    async fn receive(&mut self) -> Value {
        let incoming = self.receiver.receive().await.expect("it comes").expect("there is one");
        let Incoming::Message { json, .. } = incoming else {
            panic!("{incoming:?}")
        };
        serde_json::from_slice(&json).expect("it is JSON")
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.receive().await
    }
}

/// A raw client of a router.
fn raw_client(router: &Router, options: Options) -> Raw {
    let (server, client) = channel(16);
    drop(router.clone().serve(options, server));
    Raw::new(client)
}

/// A stateless call of a tool, with more parameters.
fn call(id: i64, name: &str, more: &Value) -> Value {
    let mut params = json!({"name": name, "_meta": {
        "io.modelcontextprotocol/protocolVersion": stateless().as_str(),
        "io.modelcontextprotocol/clientCapabilities": every_capability(),
    }});
    for (member, value) in more.as_object().expect("they are members") {
        params[member] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}
