// What the steps have in common.

import assert from "node:assert/strict";
import { Absent } from "./peer.mjs";

export const INVALID_PARAMS = -32602;
export const RESOURCE_NOT_FOUND = -32002;
/** How long a message that must not come is waited for. */
export const SILENCE_MILLISECONDS = 250;

/** The revision of the server's fixtures, where that is earlier than the client's. */
const FIXTURES = process.env.MCP_FIXTURES;

export function has({ revision }, since) {
  return revision >= since && (FIXTURES ?? revision) >= since;
}

export function requires(sdk, since, what) {
  if (!has(sdk, since)) throw new Absent(`${what} came with ${since}; SDK ${sdk.version} speaks ${sdk.revision}`);
}

/** Whether the server has this tool: before `since` it need not, but ours translates what it can. */
export function mayCall({ sdk, tools }, name, since) {
  const listed = tools.includes(name);
  assert.ok(listed || !has(sdk, since), `${name} is not listed`);
  return listed;
}

export async function allTools(peer, list) {
  const tools = [];
  for await (const page of peer.pagesOfTools(list)) tools.push(...page);
  return tools;
}

/** The error that a call must end with. */
export async function errorOf(call) {
  const result = await call.then(
    (value) => ({ value }),
    (error) => ({ error: error ?? new Error("cancelled") }),
  );
  assert.ok(!("value" in result), `should have failed, but answered ${JSON.stringify(result.value)}`);
  return result.error;
}

export function assertPng(base64) {
  assert.equal(Buffer.from(base64, "base64").toString("latin1", 1, 4), "PNG");
}
