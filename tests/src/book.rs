//! Doctests: the examples in the project's README, in its guide and in the documentation of the attribute `tool`.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../runtime/macros/src/tool.md")]
struct Tool;

#[doc = include_str!("../../docs/guide/getting-started.md")]
struct GettingStarted;

#[doc = include_str!("../../docs/guide/from-rmcp.md")]
struct FromRmcp;

#[doc = include_str!("../../docs/guide/from-typescript.md")]
struct FromTypescript;

#[doc = include_str!("../../docs/guide/from-python.md")]
struct FromPython;

#[doc = include_str!("../../docs/guide/servers.md")]
struct Servers;

#[doc = include_str!("../../docs/guide/content.md")]
struct Content;

#[doc = include_str!("../../docs/guide/lists.md")]
struct Lists;

#[doc = include_str!("../../docs/guide/asking.md")]
struct Asking;

#[doc = include_str!("../../docs/guide/progress.md")]
struct Progress;

#[doc = include_str!("../../docs/guide/middleware.md")]
struct Middleware;

#[doc = include_str!("../../docs/guide/clients.md")]
struct Clients;

#[doc = include_str!("../../docs/guide/many-servers.md")]
struct ManyServers;

#[doc = include_str!("../../docs/guide/sessions.md")]
struct Sessions;

#[doc = include_str!("../../docs/guide/extensions.md")]
struct Extensions;

#[doc = include_str!("../../docs/guide/http.md")]
struct Http;

#[cfg_attr(unix, doc = include_str!("../../docs/guide/deploying.md"))]
struct Deploying;

#[doc = include_str!("../../docs/guide/scaling.md")]
struct Scaling;

#[doc = include_str!("../../docs/guide/authorization.md")]
struct Authorization;

#[doc = include_str!("../../docs/guide/testing.md")]
struct Testing;

#[doc = include_str!("../../docs/guide/between-revisions.md")]
struct BetweenRevisions;

#[doc = include_str!("../../docs/guide/bridge.md")]
struct ABridge;

#[doc = include_str!("../../docs/guide/gateway.md")]
struct AGateway;

#[doc = include_str!("../../docs/guide/types.md")]
struct Types;

#[doc = include_str!("../../docs/guide/adding-a-revision.md")]
struct AddingARevision;

#[doc = include_str!("../../docs/guide/registry.md")]
struct Registry;
