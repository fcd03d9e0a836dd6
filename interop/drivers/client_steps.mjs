// What a client of the TypeScript SDK does with a server that has the fixtures.
// Each step answers with what it saw, or throws.

import assert from "node:assert/strict";
import * as offers from "./steps_offers.mjs";
import * as questions from "./steps_questions.mjs";
import * as tools from "./steps_tools.mjs";

export const steps = {
  initialize,
  ping: async ({ client }) => JSON.stringify(await client.ping()),
  "tools/list": tools.listTools,
  "tools/call": tools.callTools,
  "tools/call error": tools.callFailing,
  "tools/call structured": tools.callStructured,
  progress: tools.progress,
  cancel: tools.cancel,
  "resources/list": offers.listResources,
  "resources/read": offers.readResources,
  "resources/templates": offers.useTemplate,
  "resources/subscribe": offers.subscribe,
  "prompts/list": offers.listPrompts,
  "prompts/get": offers.getPrompts,
  completion: offers.completion,
  logging: offers.logging,
  sampling: questions.sampling,
  roots: questions.roots,
  elicitation: questions.elicitation,
  list_changed: tools.listChanged,
};

async function initialize(peer) {
  const { protocolVersion, serverInfo } = await peer.connect();
  assert.equal(protocolVersion, peer.sdk.revision);
  return `negotiated ${protocolVersion} with ${serverInfo.name} ${serverInfo.version}`;
}
