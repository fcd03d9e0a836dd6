//! Sessions and their engines, as hashes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime_http::server::{Instances, Recipient, SessionRecord, SessionStore, StoreError, StoreFuture};

use super::RedisStore;
use super::connection::millis;

/// Adds an engine to a session, if the session exists: assigns its number, and records its instance.
const ADD_ENGINE: &str = "
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local engine = redis.call('HINCRBY', KEYS[1], 'engines', 1)
redis.call('HSET', KEYS[1], 'engine:' .. engine, ARGV[1])
return engine";
/// The maximum number of messages in an inbox, and how long it is kept after the last one.
const INBOX_MESSAGES: u32 = 4096;
const INBOX_EXPIRY: Duration = Duration::from_secs(60);

/// The fields of a session that are read: `initialize`, `revision` and `principal`.
type Fields = (Option<Vec<u8>>, Option<String>, Option<String>);

impl SessionStore for RedisStore {
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let key = self.keys().session(id);
            let mut pipeline = redis::pipe();
            pipeline.atomic();
            let command = pipeline.cmd("HSET").arg(&key);
            command.arg("initialize").arg(&record.initialize[..]);
            command.arg("revision").arg(record.revision.as_str());
            command.arg("engine:0").arg(&self.instance);
            if let Some(principal) = &record.principal {
                command.arg("principal").arg(principal);
            }
            pipeline.ignore();
            pipeline.cmd("PEXPIRE").arg(&key).arg(millis(expiry)).ignore();
            self.connection.query(&pipeline).await
        })
    }

    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>> {
        Box::pin(async move {
            let key = self.keys().session(id);
            let mut pipeline = redis::pipe();
            pipeline.cmd("PEXPIRE").arg(&key).arg(millis(expiry)).ignore();
            pipeline
                .cmd("HMGET")
                .arg(&key)
                .arg(&["initialize", "revision", "principal"]);
            let (fields,): (Fields,) = self.connection.query(&pipeline).await?;
            let (initialize, revision, principal) = fields;
            let (Some(initialize), Some(revision)) = (initialize, revision) else {
                return Ok(None);
            };
            let known = Revision::all().find(|known| known.as_str() == revision);
            let revision = known.ok_or_else(|| format!("the session has the unknown revision {revision}"))?;
            Ok(Some(SessionRecord {
                initialize: initialize.into(),
                revision,
                principal,
            }))
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut pipeline = redis::pipe();
            pipeline.cmd("UNLINK").arg(self.keys().session(id)).ignore();
            self.connection.query(&pipeline).await
        })
    }

    fn instances(self: Arc<Self>) -> Option<Arc<dyn Instances>> {
        Some(self)
    }
}

impl RedisStore {
    pub(super) async fn add_engine(&self, session: &str) -> Result<Option<u32>, StoreError> {
        let mut pipeline = redis::pipe();
        let command = pipeline.cmd("EVAL").arg(ADD_ENGINE).arg(1);
        command.arg(self.keys().session(session)).arg(&self.instance);
        let (engine,) = self.connection.query(&pipeline).await?;
        Ok(engine)
    }

    pub(super) async fn runs(&self, session: &str, engine: u32) -> Result<bool, StoreError> {
        let Some(instance) = self.instance_of(session, engine).await? else {
            return Ok(false);
        };
        let mut pipeline = redis::pipe();
        pipeline.cmd("EXISTS").arg(self.keys().alive(&instance));
        let (exists,) = self.connection.query(&pipeline).await?;
        Ok(exists)
    }

    /// Puts a message into the inboxes of instances.
    pub(super) async fn put_into_inboxes(
        &self,
        session: &str,
        to: Recipient,
        message: &[u8],
    ) -> Result<(), StoreError> {
        let instances: BTreeSet<String> = match to {
            Recipient::Engine(engine) => self.instance_of(session, engine).await?.into_iter().collect(),
            Recipient::Others => self.other_instances(session).await?,
        };
        let mut pipeline = redis::pipe();
        for instance in &instances {
            let inbox = self.keys().inbox(instance);
            let command = pipeline
                .cmd("XADD")
                .arg(&inbox)
                .arg("MAXLEN")
                .arg("~")
                .arg(INBOX_MESSAGES);
            command.arg("*").arg("session").arg(session).arg("message").arg(message);
            command.ignore();
            pipeline.cmd("PEXPIRE").arg(&inbox).arg(millis(INBOX_EXPIRY)).ignore();
        }
        match instances.is_empty() {
            true => Ok(()),
            false => self.connection.query(&pipeline).await,
        }
    }

    /// Returns the instance that has an engine of a session.
    async fn instance_of(&self, session: &str, engine: u32) -> Result<Option<String>, StoreError> {
        let mut pipeline = redis::pipe();
        let key = self.keys().session(session);
        pipeline.cmd("HGET").arg(key).arg(format!("engine:{engine}"));
        let (instance,) = self.connection.query(&pipeline).await?;
        Ok(instance)
    }

    async fn other_instances(&self, session: &str) -> Result<BTreeSet<String>, StoreError> {
        let mut pipeline = redis::pipe();
        pipeline.cmd("HGETALL").arg(self.keys().session(session));
        let (fields,): (HashMap<String, Vec<u8>>,) = self.connection.query(&pipeline).await?;
        let engines = fields.into_iter().filter(|(field, _)| field.starts_with("engine:"));
        let instances = engines.filter_map(|(_, instance)| String::from_utf8(instance).ok());
        Ok(instances.filter(|instance| *instance != self.instance).collect())
    }
}
