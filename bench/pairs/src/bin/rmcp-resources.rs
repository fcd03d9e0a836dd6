//! A server with rmcp that has a resource, which a tool changes and to which clients subscribe.
#![allow(
    deprecated,
    reason = "rmcp deprecates the subscriptions of earlier revisions, whose clients this server also supports"
)]

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    ErrorData, Implementation, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceUpdatedNotificationParam,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::task::AbortHandle;

const ALL: &str = "notes://all";

#[derive(Deserialize, schemars::JsonSchema)]
struct Note {
    text: String,
}

#[derive(Clone, Default)]
struct Notes {
    notes: watch::Sender<String>,
    /// The client's subscription in earlier revisions.
    subscription: Arc<Mutex<Option<AbortHandle>>>,
}

fn known(uri: &str) -> Result<(), ErrorData> {
    match uri {
        ALL => Ok(()),
        _ => Err(ErrorData::resource_not_found(format!("unknown resource: {uri}"), None)),
    }
}

#[tool_router]
impl Notes {
    #[tool(description = "Adds a note")]
    fn add(&self, Parameters(note): Parameters<Note>) {
        self.notes.send_modify(|notes| *notes += &format!("{}\n", note.text));
    }

    fn set_subscription(&self, subscription: Option<AbortHandle>) {
        let mut current = self.subscription.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(previous) = std::mem::replace(&mut *current, subscription) {
            previous.abort();
        }
    }
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("notes", "1.0"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = Resource::new(ALL, "All notes").with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![all]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        known(&params.uri)?;
        let contents = ResourceContents::text(self.notes.borrow().clone(), ALL);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        known(&params.uri)?;
        let mut notes = self.notes.subscribe();
        let task = tokio::spawn(async move {
            while notes.changed().await.is_ok() {
                let updated = ResourceUpdatedNotificationParam::new(ALL);
                if context.peer.notify_resource_updated(updated).await.is_err() {
                    break;
                }
            }
        });
        self.set_subscription(Some(task.abort_handle()));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        known(&params.uri)?;
        self.set_subscription(None);
        Ok(())
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().resource_subscription(ALL).build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut notes = self.notes.subscribe();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                changed = notes.changed() => {
                    if changed.is_err() || subscription.sink().notify_resource_updated(ALL).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Notes::default()
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
