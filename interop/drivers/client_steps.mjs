// What a client of the TypeScript SDK does with a server that has the fixtures. Each step answers with what it saw, or throws.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Absent } from "./peer.mjs";

const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
/** How long a message that must not come is waited for. */
const SILENCE_MILLISECONDS = 250;
const WATCHED = "test://watched-resource";

export const steps = {
  initialize,
  ping: async ({ client }) => JSON.stringify(await client.ping()),
  "tools/list": listTools,
  "tools/call": callTools,
  "tools/call error": callFailing,
  "tools/call structured": callStructured,
  progress,
  cancel,
  "resources/list": listResources,
  "resources/read": readResources,
  "resources/templates": useTemplate,
  "resources/subscribe": subscribe,
  "prompts/list": listPrompts,
  "prompts/get": getPrompts,
  completion,
  logging,
  sampling,
  roots,
  elicitation,
  list_changed: listChanged,
};

async function initialize(peer) {
  const { protocolVersion, serverInfo } = await peer.connect();
  assert.equal(protocolVersion, peer.sdk.revision);
  return `negotiated ${protocolVersion} with ${serverInfo.name} ${serverInfo.version}`;
}

async function listTools(peer) {
  const tools = await allTools(peer, (params) => peer.ask("tools/list", params));
  const names = tools.map(({ name }) => name);
  assert.deepEqual((await allTools(peer)).map(({ name }) => name), names);
  assert.equal(new Set(names).size, names.length, "a tool is listed twice");
  for (const name of ["test_simple_text", "test_tool_with_progress", "json_schema_2020_12_tool"]) {
    assert.ok(names.includes(name), `${name} is not listed`);
  }
  assert.ok(!names.includes("test_dynamic"), "test_dynamic is listed before it was added");
  const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  assert.ok(inputSchema.$defs?.address, "the definitions of a tool's schema are lost");
  assert.equal(inputSchema.additionalProperties, false);
  const structured = tools.find(({ name }) => name === "test_structured");
  if (has(peer.sdk, "2025-06-18")) assert.ok(structured?.outputSchema?.properties.celsius, "an output schema is lost");
  peer.tools = names;
  return `${tools.length} tools`;
}

async function callTools(peer) {
  const blocksOf = async (name) => (await peer.client.callTool({ name, arguments: {} })).content;
  const [text] = await blocksOf("test_simple_text");
  assert.equal(text.type, "text");
  assert.ok(text.text.length > 0);
  const [image] = await blocksOf("test_image_content");
  assert.equal(image.mimeType, "image/png");
  assertPng(image.data);
  const [embedded] = await blocksOf("test_embedded_resource");
  assert.equal(embedded.resource.uri, "test://embedded-resource");
  assert.ok(embedded.resource.text.length > 0);
  const kinds = (await blocksOf("test_multiple_content_types")).map(({ type }) => type);
  assert.deepEqual(kinds, ["text", "image", "resource"]);
  if (mayCall(peer, "test_audio_content", "2025-03-26")) {
    const [audio] = await blocksOf("test_audio_content");
    assertAudio(peer.sdk, audio);
    kinds.push(`audio as ${audio.type}`);
  }
  if (mayCall(peer, "test_reconnection", "2025-11-25")) kinds.push(await peer.callForText("test_reconnection"));
  return kinds.join(", ");
}

/** Before there was audio, it has to come as a resource. */
function assertAudio(sdk, block) {
  const { mimeType, data } = has(sdk, "2025-03-26") ? block : { ...block.resource, data: block.resource.blob };
  assert.equal(mimeType, "audio/wav");
  assert.equal(Buffer.from(data, "base64").toString("latin1", 0, 4), "RIFF");
}

async function callFailing({ client }) {
  const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
  assert.equal(failed.isError, true);
  assert.ok(failed.content[0].text.length > 0);
  const unknown = await errorOf(client.callTool({ name: "test_no_such_tool", arguments: {} }));
  assert.equal(unknown.code, INVALID_PARAMS);
  return `isError: ${failed.content[0].text}; unknown tool: ${unknown.message}`;
}

async function callStructured(peer) {
  requires(peer.sdk, "2025-06-18", "structured content");
  // The SDK checks the content by the schema if the tool was on the page that it read last.
  for await (const page of peer.pagesOfTools()) if (page.some(({ name }) => name === "test_structured")) break;
  const { structuredContent, content } = await peer.client.callTool({ name: "test_structured", arguments: {} });
  assert.deepEqual(structuredContent, { celsius: 21.5, city: "Bern" });
  assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  return content[0].text;
}

async function progress(peer) {
  peer.forgetNotifications();
  await peer.callForText("test_tool_with_progress", {}, { onprogress: () => {} });
  const { progressToken } = peer.sent.at(-1).params._meta;
  const reports = peer.told("notifications/progress");
  const expected = [0, 50, 100].map((progress) => ({ progressToken, progress, total: 100 }));
  assert.deepEqual(reports.map(({ message, ...report }) => report), expected);
  return reports.map((report) => `${report.progress} of ${report.total}`).join(", ");
}

async function cancel(peer) {
  const before = Number(await peer.callForText("test_cancelled"));
  const controller = new AbortController();
  const call = peer.callForText("test_slow", {}, { signal: controller.signal });
  const refused = errorOf(call);
  // The server must have begun: over HTTP, a cancellation could overtake what it cancels.
  await sleep(SILENCE_MILLISECONDS);
  controller.abort("no longer wanted");
  await refused;
  const byHand = await cancelByHand(peer);
  await peer.until("the slow call's end", async () => Number(await peer.callForText("test_cancelled")) === before + 1);
  // An answer to what was cancelled would be a complaint of the SDK's.
  await sleep(SILENCE_MILLISECONDS);
  return byHand ? "cancelled; this SDK's own cancellation has a wrong method, so the driver sent it" : "cancelled";
}

/** Cancels the slow call if the SDK has not: the first ones sent a notification that no revision knows. */
async function cancelByHand({ client, sent }) {
  const method = "notifications/cancelled";
  if (sent.some((message) => message.method === method)) return false;
  const slow = sent.find((message) => message.params?.name === "test_slow");
  await client.notification({ method, params: { requestId: slow.id, reason: "no longer wanted" } });
  return true;
}

async function listResources({ client }) {
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  for (const uri of ["test://static-text", "test://static-binary", WATCHED]) assert.ok(uris.includes(uri), `no ${uri}`);
  return uris.join(", ");
}

async function readResources({ client }) {
  const text = await readOne(client, "test://static-text");
  assert.equal(text.mimeType, "text/plain");
  assert.ok(text.text.length > 0);
  const binary = await readOne(client, "test://static-binary");
  assert.equal(binary.mimeType, "image/png");
  assertPng(binary.blob);
  const missing = { uri: "test://no-such-resource" };
  const unknown = await errorOf(client.readResource(missing));
  assert.deepEqual([unknown.code, unknown.data], [RESOURCE_NOT_FOUND, missing]);
  return `${text.text}; unknown resource: ${unknown.message}`;
}

async function useTemplate({ client }) {
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
  assert.ok(templates.includes("test://template/{id}/data"), `only ${templates}`);
  const { text } = await readOne(client, "test://template/4711/data");
  assert.match(text, /4711/);
  return text;
}

async function subscribe(peer) {
  const method = "notifications/resources/updated";
  peer.forgetNotifications();
  await peer.client.subscribeResource({ uri: WATCHED });
  await peer.callForText("test_touch_resource", { uri: WATCHED });
  await peer.until("news of the watched resource", () => peer.told(method).length > 0);
  await peer.client.unsubscribeResource({ uri: WATCHED });
  await peer.callForText("test_touch_resource", { uri: WATCHED });
  await sleep(SILENCE_MILLISECONDS);
  assert.deepEqual(peer.told(method).map(({ uri }) => uri), [WATCHED]);
  return "told once while subscribed, not after";
}

async function listPrompts({ client }) {
  const { prompts } = await client.listPrompts();
  const { arguments: expected } = prompts.find(({ name }) => name === "test_prompt_with_arguments");
  assert.deepEqual(expected.map(({ name, required }) => [name, required]), [["arg1", true], ["arg2", true]]);
  return prompts.map(({ name }) => name).join(", ");
}

async function getPrompts({ client }) {
  const contentOf = async (name, given) => (await client.getPrompt({ name, arguments: given })).messages[0].content;
  const simple = await contentOf("test_simple_prompt");
  assert.ok(simple.text.length > 0);
  const filled = await contentOf("test_prompt_with_arguments", { arg1: "hello", arg2: "world" });
  assert.match(filled.text, /hello.*world/);
  const embedded = await contentOf("test_prompt_with_embedded_resource", { resourceUri: "test://example" });
  assert.equal(embedded.resource.uri, "test://example");
  assertPng((await contentOf("test_prompt_with_image")).data);
  const unknown = await errorOf(client.getPrompt({ name: "test_no_such_prompt" }));
  assert.equal(unknown.code, INVALID_PARAMS);
  return `${filled.text}; unknown prompt: ${unknown.message}`;
}

async function completion({ client }) {
  const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values;
  const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  const all = await complete(prompt, "arg1", "par");
  assert.deepEqual(all, ["paris", "park", "party"]);
  assert.deepEqual(await complete(prompt, "arg1", "part"), ["party"]);
  const ids = await complete({ type: "ref/resource", uri: "test://template/{id}/data" }, "id", "1");
  assert.ok(ids.length > 0 && ids.every((id) => id.startsWith("1")), `ids: ${ids}`);
  return `${all}; ids: ${ids}`;
}

async function logging(peer) {
  const method = "notifications/message";
  peer.forgetNotifications();
  await peer.client.setLoggingLevel("info");
  await peer.callForText("test_tool_with_logging");
  await peer.until("three log messages", () => peer.told(method).length >= 3);
  await peer.client.setLoggingLevel("error");
  await peer.callForText("test_tool_with_logging");
  await sleep(SILENCE_MILLISECONDS);
  const messages = peer.told(method);
  assert.deepEqual(messages.map(({ level }) => level), ["info", "info", "info"]);
  return messages.map(({ data }) => JSON.stringify(data)).join(", ");
}

async function sampling(peer) {
  const text = await peer.callForText("test_sampling", { prompt: "the time in Bern" });
  assert.match(text, /heard: the time in Bern/);
  return text;
}

async function roots(peer) {
  const listed = async () => JSON.parse(await peer.callForText("test_roots"));
  const expected = () => peer.roots.map(({ uri }) => uri);
  assert.deepEqual(await listed(), expected());
  peer.roots.push({ uri: "file:///project/two" });
  await peer.client.sendRootsListChanged();
  assert.deepEqual(await listed(), expected());
  return expected().join(", ");
}

async function elicitation(peer) {
  requires(peer.sdk, "2025-06-18", "elicitation");
  const tools = ["test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"].filter(
    (name, index) => mayCall(peer, name, index === 0 ? "2025-06-18" : "2025-11-25"),
  );
  const texts = [];
  for (const tool of tools) {
    const text = await peer.callForText(tool, tool === "test_elicitation" ? { message: "Who are you?" } : {});
    for (const [name, answer] of Object.entries(peer.answered)) {
      const told = JSON.stringify(answer);
      assert.ok(text.includes(told), `${tool}: ${name} was ${told}, but the server says: ${text}`);
    }
    texts.push(text);
  }
  return texts.join("; ");
}

async function listChanged(peer) {
  const method = "notifications/tools/list_changed";
  const isListed = async () => (await allTools(peer)).some(({ name }) => name === "test_dynamic");
  for (const listed of [true, false]) {
    peer.forgetNotifications();
    await peer.callForText("test_list_changed");
    await peer.until("news of the list", () => peer.told(method).length > 0);
    assert.equal(await isListed(), listed);
  }
  return "test_dynamic came and went";
}

function has({ revision }, since) {
  return revision >= since;
}

/** Whether the server has this tool; a server for an era before `since` need not, but ours translates what it can. */
function mayCall({ sdk, tools }, name, since) {
  const listed = tools.includes(name);
  assert.ok(listed || !has(sdk, since), `${name} is not listed`);
  return listed;
}

function requires(sdk, since, what) {
  if (!has(sdk, since)) throw new Absent(`${what} came with ${since}; SDK ${sdk.version} speaks ${sdk.revision}`);
}

async function allTools(peer, list) {
  const tools = [];
  for await (const page of peer.pagesOfTools(list)) tools.push(...page);
  return tools;
}

async function readOne(client, uri) {
  const { contents } = await client.readResource({ uri });
  assert.deepEqual(contents.map((content) => content.uri), [uri]);
  return contents[0];
}

/** The error that a call must end with. */
async function errorOf(call) {
  const result = await call.then((value) => ({ value }), (error) => ({ error: error ?? new Error("cancelled") }));
  assert.ok(!("value" in result), `should have failed, but answered ${JSON.stringify(result.value)}`);
  return result.error;
}

function assertPng(base64) {
  assert.equal(Buffer.from(base64, "base64").toString("latin1", 1, 4), "PNG");
}
