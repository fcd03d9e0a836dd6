// A server of the installed TypeScript SDK, with the fixtures, for our client to talk to.
//
//   node server.mjs PACKAGES_DIR (--stdio | --http | --sse)
//
// Over HTTP it prints its URL first. It stops at the end of its input or on SIGTERM.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { EventStore } from "./event_store.mjs";
import { loadSdk, readArguments } from "./sdk.mjs";
import { buildServer, newMemory } from "./server_fixtures.mjs";

const RETRY_MILLISECONDS = 50;

const { packages, transport } = readArguments(
  "server.mjs PACKAGES_DIR (--stdio | --http | --sse)",
  process.argv.slice(2),
);
const sdk = await loadSdk(packages);
process.stdin.on("end", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));

const serve = { stdio: serveStdio, http: serveStreamableHttp, sse: serveHttpWithSse };
await serve[transport]();

async function serveStdio() {
  const memory = newMemory();
  if (sdk.serveStdio) return sdk.serveStdio(() => buildServer(sdk, memory));
  await buildServer(sdk).connect(new sdk.StdioServerTransport());
}

async function serveStreamableHttp() {
  if (!sdk.StreamableHTTPServerTransport) {
    console.error(`SDK ${sdk.version} has no Streamable HTTP`);
    process.exit(1);
  }
  const sessions = new Map();
  const answerStateless = sdk.createMcpHandler && statelessHandler();
  await listen("/mcp", async (request, response) => {
    const body = answerStateless && (await readJson(request));
    if (answerStateless && !(await sdk.isLegacyRequest(await sdk.toWebRequest(request, body), body))) {
      return answerStateless(request, response, body);
    }
    const id = request.headers["mcp-session-id"];
    if (id && !sessions.has(id)) return refuse(response);
    const session = sessions.get(id) ?? (await openSession(sessions));
    await session.handleRequest(request, response, body);
    if (request.method === "DELETE") sessions.delete(id);
  });
}

/** Serves the requests that need no session. */
function statelessHandler() {
  const memory = newMemory();
  const publish = ({ method, params }) =>
    method === "notifications/resources/updated"
      ? handler.notify.resourceUpdated(params.uri)
      : handler.notify.toolsChanged();
  const handler = sdk.createMcpHandler(() => buildServer(sdk, memory, publish), { legacy: "reject" });
  return sdk.toNodeHandler(handler);
}

/** The body of a POST. */
async function readJson(request) {
  if (request.method !== "POST") return undefined;
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts));
}

async function openSession(sessions) {
  const session = new sdk.StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, session),
    // Since then a server may end a stream and be asked for the rest.
    ...(sdk.revision >= "2025-11-25" ? { eventStore: new EventStore(), retryInterval: RETRY_MILLISECONDS } : {}),
  });
  await buildServer(sdk).connect(session);
  return session;
}

async function serveHttpWithSse() {
  const sessions = new Map();
  await listen("/sse", async (request, response, url) => {
    if (request.method === "GET") {
      const session = new sdk.SSEServerTransport("/sse", response);
      sessions.set(session.sessionId, session);
      return buildServer(sdk).connect(session);
    }
    const session = sessions.get(url.searchParams.get("sessionId"));
    return session ? session.handlePostMessage(request, response) : refuse(response);
  });
}

/** Serves `path` on a free port of this machine, and tells on standard output where that is. */
async function listen(path, answer) {
  process.stdin.resume();
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname !== path) return refuse(response);
    answer(request, response, url).catch((error) => {
      console.error(error);
      response.destroy();
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  console.log(`http://127.0.0.1:${server.address().port}${path}`);
}

function refuse(response) {
  response.writeHead(404).end();
}
