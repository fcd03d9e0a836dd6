// A server with the fixtures, written against what the TypeScript SDKs of all eras have: handlers by schema.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const fixtures = JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8"));
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const AWAY_MILLISECONDS = 100;
const SLOW_MILLISECONDS = 30_000;

/** A server for one session, with the fixtures that this SDK's revision has. */
export function buildServer(sdk) {
  const server = new sdk.Server({ name: "typescript-driver", version: "1.0.0" }, { capabilities: capabilitiesOf(sdk) });
  const session = {
    sdk,
    server,
    tools: fixtures.tools.filter(({ since }) => !since || since <= sdk.revision),
    level: LEVELS[0],
    cancelled: 0,
    dynamic: false,
    subscribed: new Set(),
  };
  for (const [name, handle] of Object.entries(handlers)) {
    const schema = sdk.types[`${name}RequestSchema`];
    server.setRequestHandler(schema, ({ params }, extra) => handle(params ?? {}, session, extra));
  }
  return server;
}

function capabilitiesOf(sdk) {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {} };
  return sdk.types.ServerCapabilitiesSchema.shape.completions ? { ...capabilities, completions: {} } : capabilities;
}

const handlers = {
  ListTools: (_, session) => ({
    tools: [...session.tools.map(({ tool }) => tool), ...(session.dynamic ? [fixtures.dynamicTool] : [])],
  }),
  CallTool: callTool,
  ListResources: () => ({ resources: fixtures.resources }),
  ReadResource: readResource,
  ListResourceTemplates: () => ({ resourceTemplates: [fixtures.template] }),
  Subscribe: ({ uri }, session) => (session.subscribed.add(uri), {}),
  Unsubscribe: ({ uri }, session) => (session.subscribed.delete(uri), {}),
  ListPrompts: () => ({ prompts: fixtures.prompts.map(({ prompt }) => prompt) }),
  GetPrompt: getPrompt,
  Complete: complete,
  SetLevel: ({ level }, session) => ((session.level = level), {}),
};

async function callTool({ name, arguments: given = {}, _meta }, session, extra) {
  const fixture = session.tools.find(({ tool }) => tool.name === name);
  if (!fixture) throw fault(session, INVALID_PARAMS, `no tool is called ${name}`);
  if (fixture.says) return fixture.says;
  // Over HTTP, what belongs to a call is sent on the call's own stream, by SDKs that support it.
  const call = {
    given,
    session,
    signal: extra.signal,
    endStream: extra.closeSSEStream,
    progressToken: _meta?.progressToken,
    tell: extra.sendNotification ?? ((notification) => session.server.notification(notification)),
    ask: extra.sendRequest ?? ((request, schema) => session.server.request(request, schema)),
  };
  const text = fixture.asks ? await elicit(fixture.asks, call) : await tools[name](call);
  return { content: [{ type: "text", text }] };
}

const tools = {
  async test_tool_with_logging({ session, tell }) {
    if (LEVELS.indexOf(session.level) > LEVELS.indexOf("info")) return "logged nothing";
    for (const data of ["begun", "half done", "done"]) {
      await tell({ method: "notifications/message", params: { level: "info", logger: "fixtures", data } });
    }
    return "logged three messages";
  },
  async test_tool_with_progress({ progressToken, tell }) {
    if (progressToken === undefined) return "nobody wanted to know";
    for (const progress of [0, 50, 100]) {
      await tell({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    return "reported three times";
  },
  async test_reconnection({ endStream }) {
    endStream?.();
    await sleep(AWAY_MILLISECONDS);
    return "The client is back.";
  },
  async test_slow({ session, signal }) {
    signal.addEventListener("abort", () => (session.cancelled += 1), { once: true });
    await sleep(SLOW_MILLISECONDS, undefined, { signal });
    return "nobody cancelled";
  },
  test_cancelled: async ({ session }) => String(session.cancelled),
  async test_sampling({ given, session, ask }) {
    const messages = [{ role: "user", content: { type: "text", text: given.prompt } }];
    const request = { method: "sampling/createMessage", params: { messages, maxTokens: 100 } };
    const answer = await ask(request, session.sdk.types.CreateMessageResultSchema);
    return `The model said: ${answer.content.text}`;
  },
  async test_roots({ session, ask }) {
    const { roots } = await ask({ method: "roots/list" }, session.sdk.types.ListRootsResultSchema);
    return JSON.stringify(roots.map(({ uri }) => uri));
  },
  async test_touch_resource({ given: { uri }, session }) {
    if (session.subscribed.has(uri)) {
      await session.server.notification({ method: "notifications/resources/updated", params: { uri } });
    }
    return `touched ${uri}`;
  },
  async test_list_changed({ session }) {
    session.dynamic = !session.dynamic;
    await session.server.notification({ method: "notifications/tools/list_changed" });
    return session.dynamic ? "added test_dynamic" : "removed test_dynamic";
  },
};

async function elicit(requestedSchema, { given, session, ask }) {
  const params = { message: given.message ?? "Please answer", requestedSchema };
  const { action, content } = await ask({ method: "elicitation/create", params }, session.sdk.types.ElicitResultSchema);
  return `The user chose to ${action}: ${JSON.stringify(content)}`;
}

function readResource({ uri }, session) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id) return { contents: [{ uri, mimeType: fixtures.template.mimeType, text: JSON.stringify({ id }) }] };
  const contents = fixtures.contents.filter((content) => content.uri === uri);
  if (contents.length === 0) throw fault(session, RESOURCE_NOT_FOUND, "no such resource", { uri });
  return { contents };
}

function getPrompt({ name, arguments: given = {} }, session) {
  const fixture = fixtures.prompts.find(({ prompt }) => prompt.name === name);
  if (!fixture) throw fault(session, INVALID_PARAMS, `no prompt is called ${name}`);
  const missing = (fixture.prompt.arguments ?? []).filter((argument) => !(argument.name in given));
  if (missing.length > 0) throw fault(session, INVALID_PARAMS, `missing: ${missing.map((argument) => argument.name)}`);
  return { messages: fill(fixture.messages, given) };
}

/** Puts the values of a prompt's arguments where its messages name them in braces. */
function fill(messages, given) {
  return JSON.parse(JSON.stringify(messages), (_, value) =>
    typeof value === "string" ? value.replace(/\{(\w+)\}/g, (name, key) => given[key] ?? name) : value,
  );
}

function complete({ argument: { name, value } }) {
  const values = (fixtures.completions[name] ?? []).filter((candidate) => candidate.startsWith(value));
  return { completion: { values, total: values.length, hasMore: false } };
}

function fault({ sdk }, code, message, data) {
  return new sdk.types.McpError(code, message, data);
}
