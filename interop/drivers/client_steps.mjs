// What a client of the TypeScript SDK does with a server that has the fixtures.
// Each step answers with what it saw, or throws.

import assert from "node:assert/strict";
import * as offers from "./steps_offers.mjs";
import * as questions from "./steps_questions.mjs";
import * as tools from "./steps_tools.mjs";
import { Absent } from "./peer.mjs";

export const steps = {
  initialize,
  ping,
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
  ...(process.env.MCP_MODE === "handshake" ? {} : { rounds: questions.rounds, caching: offers.caching }),
};

async function ping({ client, sdk }) {
  if (sdk.stateless) throw new Absent(`revision ${sdk.revision} has no ping`);
  return JSON.stringify(await client.ping());
}

async function initialize(peer) {
  const { protocolVersion, serverInfo } = await peer.connect();
  assert.equal(protocolVersion, peer.sdk.revision);
  return `negotiated ${protocolVersion} with ${serverInfo?.name} ${serverInfo?.version}`;
}
