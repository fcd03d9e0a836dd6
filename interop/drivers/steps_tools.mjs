// The steps that call tools.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  INVALID_PARAMS,
  SILENCE_MILLISECONDS,
  allTools,
  assertPng,
  errorOf,
  has,
  mayCall,
  requires,
} from "./checks.mjs";

const HEAD_START_MILLISECONDS = 500;

export async function listTools(peer) {
  const tools = await allTools(peer, (params) => peer.ask("tools/list", params));
  const names = tools.map(({ name }) => name);
  assert.deepEqual(
    (await allTools(peer)).map(({ name }) => name),
    names,
  );
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

export async function callTools(peer) {
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

export async function callFailing({ client, sdk }) {
  const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
  assert.equal(failed.isError, true);
  assert.ok(failed.content[0].text.length > 0);
  const unknown = await errorOf(client.callTool({ name: "test_no_such_tool", arguments: {} }));
  assert.equal(unknown.code, INVALID_PARAMS);
  const invalid = await invalidArguments(client, sdk);
  return `isError: ${failed.content[0].text}; unknown tool: ${unknown.message}; invalid arguments: ${invalid}`;
}

/** A model reads what is wrong with its arguments; before it could, they were an error. */
async function invalidArguments(client, sdk) {
  const call = client.callTool({ name: "test_touch_resource", arguments: { uri: 5 } });
  if (has(sdk, "2025-11-25")) {
    const result = await call;
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /uri/);
    return result.content[0].text;
  }
  const error = await errorOf(call);
  assert.equal(error.code, INVALID_PARAMS);
  return error.message;
}

export async function callStructured(peer) {
  requires(peer.sdk, "2025-06-18", "structured content");
  // The SDK checks the content by the schema if the tool was on the page that it read last.
  for await (const page of peer.pagesOfTools()) if (page.some(({ name }) => name === "test_structured")) break;
  const { structuredContent, content } = await peer.client.callTool({ name: "test_structured", arguments: {} });
  assert.deepEqual(structuredContent, { celsius: 21.5, city: "Bern" });
  assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  return content[0].text;
}

export async function progress(peer) {
  peer.forgetNotifications();
  await peer.callForText("test_tool_with_progress", {}, { onprogress: () => {} });
  const { progressToken } = peer.sent.findLast(({ params }) => params?.name === "test_tool_with_progress").params._meta;
  const reports = peer.notificationsOf("notifications/progress");
  const expected = [0, 50, 100].map((progress) => ({ progressToken, progress, total: 100 }));
  assert.deepEqual(
    reports.map(({ message, ...report }) => report),
    expected,
  );
  return reports.map((report) => `${report.progress} of ${report.total}`).join(", ");
}

export async function cancel(peer) {
  const before = Number(await peer.callForText("test_cancelled"));
  const controller = new AbortController();
  const call = peer.callForText("test_slow", {}, { signal: controller.signal });
  const refused = errorOf(call);
  // The server must have begun: over HTTP, a cancellation could overtake what it cancels.
  await sleep(HEAD_START_MILLISECONDS);
  controller.abort("no longer wanted");
  await refused;
  const byHand = await cancelByHand(peer);
  await peer.until("the slow call's end", async () => Number(await peer.callForText("test_cancelled")) === before + 1);
  // An answer to what was cancelled would be a complaint of the SDK's.
  await sleep(SILENCE_MILLISECONDS);
  return byHand ? "cancelled; this SDK's own cancellation has a wrong method, so the driver sent it" : "cancelled";
}

export async function listChanged(peer) {
  const end = await peer.watchTools();
  const method = "notifications/tools/list_changed";
  const isListed = async () => (await allTools(peer)).some(({ name }) => name === "test_dynamic");
  for (const listed of [true, false]) {
    peer.forgetNotifications();
    await peer.callForText("test_list_changed");
    await peer.until("a notification about the list", () => peer.notificationsOf(method).length > 0);
    assert.equal(await isListed(), listed);
  }
  await end();
  // A client that is sent away when it wants the rest of a stream opens new ones, without end.
  assert.ok(peer.opened.filter((event) => event === null).length <= 1, `streams opened from: ${peer.opened}`);
  return "test_dynamic came and went";
}

/** Before there was audio, it has to come as a resource. */
function assertAudio(sdk, block) {
  const { mimeType, data } = has(sdk, "2025-03-26") ? block : { ...block.resource, data: block.resource.blob };
  assert.equal(mimeType, "audio/wav");
  assert.equal(Buffer.from(data, "base64").toString("latin1", 0, 4), "RIFF");
}

/** Cancels the slow call if the SDK has not: the first ones sent a notification that no revision knows. */
async function cancelByHand({ client, sdk, sent }) {
  const method = "notifications/cancelled";
  // Without sessions it closes the stream of the answer, over HTTP.
  if (sdk.stateless || sent.some((message) => message.method === method)) return false;
  const slow = sent.find((message) => message.params?.name === "test_slow");
  await client.notification({ method, params: { requestId: slow.id, reason: "no longer wanted" } });
  return true;
}
