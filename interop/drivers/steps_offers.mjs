// The steps that use what else a server offers: resources, prompts, completion, logs.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { INVALID_PARAMS, RESOURCE_NOT_FOUND, SILENCE_MILLISECONDS, assertPng, errorOf } from "./checks.mjs";

const WATCHED = "test://watched-resource";

export async function listResources({ client }) {
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  for (const uri of ["test://static-text", "test://static-binary", WATCHED]) assert.ok(uris.includes(uri), `no ${uri}`);
  return uris.join(", ");
}

export async function readResources({ client, sdk }) {
  const text = await readOne(client, "test://static-text");
  assert.equal(text.mimeType, "text/plain");
  assert.ok(text.text.length > 0);
  const binary = await readOne(client, "test://static-binary");
  assert.equal(binary.mimeType, "image/png");
  assertPng(binary.blob);
  const missing = { uri: "test://no-such-resource" };
  const unknown = await errorOf(client.readResource(missing));
  // The SDK that was written anew has a class for this error, with the code of a later revision.
  const code = sdk.ResourceNotFoundError ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
  assert.deepEqual([unknown.code, unknown.data], [code, missing]);
  return `${text.text}; unknown resource: ${unknown.message}`;
}

export async function useTemplate({ client }) {
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
  assert.ok(templates.includes("test://template/{id}/data"), `only ${templates}`);
  const { text } = await readOne(client, "test://template/4711/data");
  assert.match(text, /4711/);
  return text;
}

export async function subscribe(peer) {
  const method = "notifications/resources/updated";
  peer.forgetNotifications();
  const end = await peer.watchResource(WATCHED);
  await peer.callForText("test_touch_resource", { uri: WATCHED });
  await peer.until("a notification about the watched resource", () => peer.notificationsOf(method).length > 0);
  await end();
  await peer.callForText("test_touch_resource", { uri: WATCHED });
  await sleep(SILENCE_MILLISECONDS);
  assert.deepEqual(
    peer.notificationsOf(method).map(({ uri }) => uri),
    [WATCHED],
  );
  return "told once while subscribed, not after";
}

export async function listPrompts({ client }) {
  const { prompts } = await client.listPrompts();
  const { arguments: expected } = prompts.find(({ name }) => name === "test_prompt_with_arguments");
  assert.deepEqual(
    expected.map(({ name, required }) => [name, required]),
    [
      ["arg1", true],
      ["arg2", true],
    ],
  );
  return prompts.map(({ name }) => name).join(", ");
}

export async function getPrompts({ client }) {
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

export async function completion({ client }) {
  const complete = async (ref, name, value) =>
    (await client.complete({ ref, argument: { name, value } })).completion.values;
  const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  const all = await complete(prompt, "arg1", "par");
  assert.deepEqual(all, ["paris", "park", "party"]);
  assert.deepEqual(await complete(prompt, "arg1", "part"), ["party"]);
  const ids = await complete({ type: "ref/resource", uri: "test://template/{id}/data" }, "id", "1");
  assert.ok(ids.length > 0 && ids.every((id) => id.startsWith("1")), `ids: ${ids}`);
  return `${all}; ids: ${ids}`;
}

export async function logging(peer) {
  const method = "notifications/message";
  peer.forgetNotifications();
  await peer.wantLogs("info");
  await peer.callForText("test_tool_with_logging");
  await peer.until("three log messages", () => peer.notificationsOf(method).length >= 3);
  await peer.wantLogs("error");
  await peer.callForText("test_tool_with_logging");
  await sleep(SILENCE_MILLISECONDS);
  const messages = peer.notificationsOf(method);
  assert.deepEqual(
    messages.map(({ level }) => level),
    ["info", "info", "info"],
  );
  return messages.map(({ data }) => JSON.stringify(data)).join(", ");
}

export async function caching(peer) {
  const requests = [
    ["tools/list"],
    ["prompts/list"],
    ["resources/list"],
    ["resources/templates/list"],
    ["resources/read", { uri: "test://static-text" }],
  ];
  const hints = [];
  for (const [method, params] of requests) {
    const { ttlMs, cacheScope } = await peer.ask(method, params);
    assert.ok(Number.isInteger(ttlMs) && ttlMs >= 0, `${method}: ttlMs is ${ttlMs}`);
    assert.ok(["public", "private"].includes(cacheScope), `${method}: cacheScope is ${cacheScope}`);
    hints.push(`${method}: ${ttlMs} ms, ${cacheScope}`);
  }
  return hints.join("; ");
}

async function readOne(client, uri) {
  const { contents } = await client.readResource({ uri });
  assert.deepEqual(
    contents.map((content) => content.uri),
    [uri],
  );
  return contents[0];
}
