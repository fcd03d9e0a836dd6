//! A server and a client with rmcp in one process, with a vendor's method and notification.

use rmcp::model::{
    ClientRequest, CustomNotification, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ServerCapabilities, ServerConfig, ServerNotification, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::mpsc;

const STATS: &str = "x/stats";
const MILESTONE: &str = "notifications/x/milestone";

#[derive(Serialize, Deserialize)]
struct Period {
    days: u64,
}

#[derive(Serialize, Deserialize)]
struct Stats {
    visits: u64,
}

#[derive(Serialize, Deserialize)]
struct Milestone {
    name: String,
}

struct Site;

impl ServerHandler for Site {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::default()).with_server_info(Implementation::new("site", "1.0"))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != STATS {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let invalid = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
        let period: Option<Period> = request.params_as().map_err(invalid)?;
        let Period { days } = period.ok_or_else(|| ErrorData::invalid_params("the parameters are absent", None))?;
        let visits = days * 20;
        if visits > 100 {
            let name = "a hundred visits".to_owned();
            let reached = CustomNotification::new(MILESTONE, Some(json!(Milestone { name })));
            let sent = context
                .peer
                .send_notification(ServerNotification::CustomNotification(reached));
            sent.await
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        Ok(CustomResult::new(json!(Stats { visits })))
    }
}

/// A handler that receives the server's notifications.
struct Notified(mpsc::Sender<Milestone>);

impl ClientHandler for Notified {
    async fn on_custom_notification(&self, notification: CustomNotification, _: NotificationContext<RoleClient>) {
        if notification.method == MILESTONE
            && let Ok(Some(milestone)) = notification.params_as()
        {
            let _ = self.0.send(milestone).await;
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (ours, theirs) = tokio::io::duplex(4096);
    let server = tokio::spawn(async {
        Site.serve(theirs)
            .await?
            .waiting()
            .await
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    });
    let (sender, mut milestones) = mpsc::channel(16);
    let client = Notified(sender).serve(ours).await?;
    let request = CustomRequest::new(STATS, Some(json!(Period { days: 7 })));
    let ServerResult::CustomResult(result) = client.send_request(ClientRequest::CustomRequest(request)).await? else {
        return Err("the result is that of another method".into());
    };
    let Stats { visits } = result.result_as()?;
    let milestone = milestones.recv().await.ok_or("the client has ended")?;
    println!("{visits} visits, {}", milestone.name);
    client.cancel().await?;
    let _ = server.await?;
    Ok(())
}
