// A server with the fixtures, written against what the TypeScript SDKs of all eras have: handlers by schema.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const fixtures = JSON.parse(readFileSync(new URL("fixtures.json", import.meta.url), "utf8"));
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const AWAY_MILLISECONDS = 100;
const SLOW_MILLISECONDS = 30_000;

/** What the fixtures remember: of a session, or of the process where there are no sessions. */
export function newMemory() {
  return { level: LEVELS[0], cancelled: 0, dynamic: false, subscribed: new Set() };
}

/** Thrown where the answers to some questions are needed and don't come with the request. */
class InputRequired extends Error {
  constructor(inputRequests, requestState) {
    super("input is required");
    this.result = { inputRequests, requestState };
  }
}

/**
 * A server for one session or one request, with the fixtures that this SDK's revision has. Subscribers are told of changes by
 * `publish`, if that isn't the session's business.
 */
export function buildServer(sdk, memory = newMemory(), publish = undefined) {
  const server = new sdk.Server({ name: "typescript-driver", version: "1.0.0" }, { capabilities: capabilitiesOf(sdk) });
  const session = {
    sdk,
    server,
    tools: fixtures.tools.filter(({ since }) => !since || since <= sdk.revision),
    memory,
    publish: publish ?? ((notification) => server.notification(notification)),
  };
  for (const [name, handle] of Object.entries(handlers)) {
    const schema = sdk.types[`${name}RequestSchema`];
    server.setRequestHandler(schema, ({ params }, extra) => handle(params ?? {}, session, extra));
  }
  if (process.env.MCP_ASKS_EARLY) server.oninitialized = () => askBeforeAnyCall(session);
  return server;
}

/** Asks for roots as servers do that want them before they are used. Nothing waits for the answer. */
async function askBeforeAnyCall({ sdk, server }) {
  try {
    await server.request({ method: "roots/list" }, sdk.types.ListRootsResultSchema);
  } catch (error) {
    console.error(`the early question has no answer: ${error}`);
  }
}

function capabilitiesOf(sdk) {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, logging: {} };
  return sdk.types.ServerCapabilitiesSchema.shape.completions ? { ...capabilities, completions: {} } : capabilities;
}

const handlers = {
  ListTools: (_, session) => ({
    tools: [...session.tools.map(({ tool }) => tool), ...(session.memory.dynamic ? [fixtures.dynamicTool] : [])],
  }),
  CallTool: callTool,
  ListResources: () => ({ resources: fixtures.resources }),
  ReadResource: readResource,
  ListResourceTemplates: () => ({ resourceTemplates: [fixtures.template] }),
  Subscribe: ({ uri }, session) => (session.memory.subscribed.add(uri), {}),
  Unsubscribe: ({ uri }, session) => (session.memory.subscribed.delete(uri), {}),
  ListPrompts: () => ({ prompts: fixtures.prompts.map(({ prompt }) => prompt) }),
  GetPrompt: getPrompt,
  Complete: complete,
  SetLevel: ({ level }, session) => ((session.memory.level = level), {}),
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
  if (extra.isStateless) Object.assign(call, statelessCall(extra));
  try {
    const text = fixture.asks ? await elicit(fixture.asks, call) : await tools[name](call);
    return { content: [{ type: "text", text }] };
  } catch (error) {
    if (error instanceof InputRequired) return session.sdk.inputRequired(error.result);
    throw error;
  }
}

/** How a call asks and logs where servers send no requests, and clients say with each call which messages they want. */
function statelessCall({ inputResponses = {}, requestState, log }) {
  const askAll = async (requests, state) => {
    if (Object.keys(requests).some((key) => !(key in inputResponses))) throw new InputRequired(requests, state);
    return inputResponses;
  };
  const ask = async (request) => (await askAll({ answer: request })).answer;
  return { ask, askAll, requestState, log };
}

const tools = {
  async test_tool_with_logging({ session, log, tell }) {
    if (LEVELS.indexOf(session.memory.level) > LEVELS.indexOf("info")) return "logged nothing";
    for (const data of ["begun", "half done", "done"]) {
      if (log) await log("info", data, "fixtures");
      else await tell({ method: "notifications/message", params: { level: "info", logger: "fixtures", data } });
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
    signal.addEventListener("abort", () => (session.memory.cancelled += 1), { once: true });
    await sleep(SLOW_MILLISECONDS, undefined, { signal });
    return "nobody cancelled";
  },
  test_cancelled: async ({ session }) => String(session.memory.cancelled),
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
  async test_touch_resource({ given: { uri }, session, askAll }) {
    // Without a session, who wants to know is the SDK's business.
    if (askAll || session.memory.subscribed.has(uri)) {
      await session.publish({ method: "notifications/resources/updated", params: { uri } });
    }
    return `touched ${uri}`;
  },
  async test_list_changed({ session }) {
    session.memory.dynamic = !session.memory.dynamic;
    await session.publish({ method: "notifications/tools/list_changed" });
    return session.memory.dynamic ? "added test_dynamic" : "removed test_dynamic";
  },
  async test_input_required_result_multiple_inputs({ askAll }) {
    const messages = [{ role: "user", content: { type: "text", text: "Greet" } }];
    const answers = await askAll({
      user_name: question("What is your name?", "name"),
      greeting: { method: "sampling/createMessage", params: { messages, maxTokens: 50 } },
      client_roots: { method: "roots/list" },
    });
    const { user_name: user, greeting, client_roots: roots } = answers;
    return `${greeting.content.text} ${user.content.name} ${roots.roots.map(({ uri }) => uri)}`;
  },
  async test_input_required_result_multi_round({ askAll, requestState }) {
    const name = requestState ?? (await askAll({ step1: question("What is your name?", "name") })).step1.content.name;
    const { step2 } = await askAll({ step2: question("What is your favorite color?", "color") }, name);
    return `${name} likes ${step2.content.color}`;
  },
};

/** A form with one field. */
function question(message, field) {
  const requestedSchema = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

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
