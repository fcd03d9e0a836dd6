// A client of the installed TypeScript SDK that goes through everything with a server that has the fixtures.
//
//   node client.mjs PACKAGES_DIR (--stdio COMMAND ARGUMENT… | --http URL | --sse URL)
//
// It prints a line of JSON for each step, and exits with 0 if none failed.

import { steps } from "./client_steps.mjs";
import { Absent, Peer } from "./peer.mjs";
import { loadSdk, readArguments } from "./sdk.mjs";

const STEP_MILLISECONDS = 8_000;
const ALL_MILLISECONDS = 28_000;

const { packages, transport, rest } = readArguments(
  "client.mjs PACKAGES_DIR (--stdio COMMAND ARGUMENT… | --http URL | --sse URL)",
  process.argv.slice(2),
);
setTimeout(() => {
  report("all steps", "failed", `not done after ${ALL_MILLISECONDS / 1000} s`);
  process.exit(1);
}, ALL_MILLISECONDS).unref();
process.exit((await run(await loadSdk(packages))) ? 0 : 1);

async function run(sdk) {
  if (transport === "http" && !sdk.StreamableHTTPClientTransport) {
    report("initialize", "absent", `SDK ${sdk.version} has no Streamable HTTP`);
    return true;
  }
  const opened = [];
  const peer = new Peer(sdk, openTransport(sdk, opened), opened);
  let good = true;
  for (const [name, step] of Object.entries(steps)) {
    good = (await take(name, step, peer)) && good;
    // Without a session every other step would only fail too.
    if (!peer.initialized) return false;
  }
  await peer.close();
  return good;
}

/** The transport to the server; what it asks a stream of events for is noted in `opened`. */
function openTransport(sdk, opened) {
  const [target, ...parameters] = rest;
  switch (transport) {
    case "stdio":
      return new sdk.StdioClientTransport({ command: target, args: parameters });
    case "http":
      return new sdk.StreamableHTTPClientTransport(new URL(target), {
        requestInit: process.env.MCP_USER ? { headers: { "X-Forwarded-User": process.env.MCP_USER } } : {},
        fetch: (url, request) => {
          if (request.method === "GET") opened.push(new Headers(request.headers).get("last-event-id"));
          return fetch(url, request);
        },
      });
    default:
      return new sdk.SSEClientTransport(new URL(target));
  }
}

/** Takes one step and reports it. What the SDK complains of fails the step during which it did. */
async function take(name, step, peer) {
  peer.errors.length = 0;
  try {
    const detail = await within(step(peer));
    if (peer.errors.length > 0) throw new Error("the SDK complains");
    report(name, "ok", detail);
    return true;
  } catch (error) {
    const absent = error instanceof Absent;
    report(name, absent ? "absent" : "failed", [error?.message ?? String(error), ...peer.errors].join("; "));
    return absent;
  }
}

function within(step) {
  const timeout = new Promise((_, reject) =>
    setTimeout(() => reject(new Error(`not done after ${STEP_MILLISECONDS / 1000} s`)), STEP_MILLISECONDS).unref(),
  );
  return Promise.race([step, timeout]);
}

function report(step, status, detail) {
  console.log(JSON.stringify({ step, status, detail }));
}
