//! Changes that one instance sends to the others.

use std::time::Duration;

use mcp_runtime::Change;
use mcp_runtime::router::ChangeStore;
use mcp_runtime::transport::http::server::{RedisChanges, RedisOptions, RedisStore};

use crate::instances::programs::Redis;

async fn changes(redis: &Redis) -> RedisChanges {
    let store = RedisStore::connect(&redis.url(), RedisOptions::default()).await;
    let changes = store.expect("the store answers").changes().await;
    changes.expect("the store answers")
}

/// The next changes that an instance receives.
async fn received(instance: &RedisChanges) -> Vec<Change> {
    let received = async {
        loop {
            let changes = instance.receive().await.expect("the store answers");
            if !changes.is_empty() {
                return changes;
            }
        }
    };
    let received = tokio::time::timeout(Duration::from_secs(10), received).await;
    received.expect("changes come")
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn instances_receive_the_changes_that_others_send_after_they_connect() {
    let redis = Redis::start().await;
    let one = changes(&redis).await;
    let sent = [
        Change::ToolList,
        Change::PromptList,
        Change::Resource("notes://today".into()),
    ];
    one.send(&Change::ResourceList).await.expect("the store answers");
    let (two, three) = (changes(&redis).await, changes(&redis).await);
    for change in &sent {
        one.send(change).await.expect("the store answers");
    }
    for instance in [&two, &three] {
        let mut told = Vec::new();
        while told.len() < sent.len() {
            told.extend(received(instance).await);
        }
        assert_eq!(told, sent);
    }
    two.send(&Change::ToolList).await.expect("the store answers");
    assert_eq!(
        received(&one).await,
        [Change::ToolList],
        "an instance doesn't receive its own changes"
    );
}
