//! Changes that the instances of a server share through a store.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_runtime::router::{ChangeStore, resource};
use mcp_runtime::{Change, Router, hub};
use tokio::sync::{Mutex, broadcast};

use super::{Heard, client_of, next, nothing, subscribe};

type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn std::error::Error + Send + Sync>>> + Send + 'a>>;

/// An in-process store. If it is down, its next send fails.
struct Store {
    instance: usize,
    sent: broadcast::Sender<(usize, Change)>,
    received: Mutex<broadcast::Receiver<(usize, Change)>>,
    is_down: Arc<AtomicBool>,
}

impl ChangeStore for Store {
    fn send<'a>(&'a self, change: &'a Change) -> Stored<'a, ()> {
        Box::pin(async move {
            if self.is_down.swap(false, Ordering::Relaxed) {
                return Err("the store is down".into());
            }
            self.sent.send((self.instance, change.clone()))?;
            Ok(())
        })
    }

    fn receive(&self) -> Stored<'_, Vec<Change>> {
        Box::pin(async {
            let (from, change) = self.received.lock().await.recv().await?;
            Ok(Vec::from_iter((from != self.instance).then_some(change)))
        })
    }
}

/// Two instances of a server. If `is_down`, the first send of each to the store fails.
fn instances(is_down: bool) -> [Router; 2] {
    let (sent, _) = broadcast::channel(16);
    [0, 1].map(|instance| {
        let store = Store {
            instance,
            sent: sent.clone(),
            received: Mutex::new(sent.subscribe()),
            is_down: Arc::new(AtomicBool::new(is_down)),
        };
        Router::new("notes", "1.0")
            .tool("ping", "Answers", || "pong")
            .with(resource(hub::Resource::new("Today", "notes://today"), || "Buy bread"))
            .share_changes(store)
    })
}

async fn heard(heard: &mut Heard, count: usize) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for _ in 0..count {
        all.insert(next(heard).await);
    }
    all
}

#[tokio::test]
async fn a_change_at_one_instance_reaches_the_clients_of_every_instance_once() {
    let [one, other] = instances(false);
    let (client, mut told) = client_of(&other).await;
    client.peer().call_custom(subscribe("notes://today")).await.unwrap();
    let (_own, mut own) = client_of(&one).await;
    one.tools_changed();
    one.resource_updated("notes://today");
    assert_eq!(
        heard(&mut told, 2).await,
        ["notes://today", "tools"].map(str::to_owned).into()
    );
    assert_eq!(next(&mut own).await, "tools");
    nothing(&mut told).await;
    nothing(&mut own).await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_the_store_fails_to_send_is_retried() {
    let [one, other] = instances(true);
    let (_client, mut told) = client_of(&other).await;
    one.tools_changed();
    assert_eq!(next(&mut told).await, "tools");
}
