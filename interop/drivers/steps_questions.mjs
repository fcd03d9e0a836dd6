// The steps in which the server asks the client.

import assert from "node:assert/strict";
import { mayCall, requires } from "./checks.mjs";

export async function sampling(peer) {
  const text = await peer.callForText("test_sampling", { prompt: "the time in Bern" });
  assert.match(text, /heard: the time in Bern/);
  return text;
}

export async function roots(peer) {
  const listed = async () => JSON.parse(await peer.callForText("test_roots"));
  const expected = () => peer.roots.map(({ uri }) => uri);
  assert.deepEqual(await listed(), expected());
  peer.roots.push({ uri: "file:///project/two" });
  if (!peer.sdk.stateless) await peer.client.sendRootsListChanged();
  assert.deepEqual(await listed(), expected());
  return expected().join(", ");
}

export async function elicitation(peer) {
  requires(peer.sdk, "2025-06-18", "elicitation");
  const tools = ["test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"].filter(
    (name, index) => mayCall(peer, name, index === 0 ? "2025-06-18" : "2025-11-25"),
  );
  const texts = [];
  for (const tool of tools) {
    const text = await peer.callForText(tool, tool === "test_elicitation" ? { message: "Who are you?" } : {});
    for (const [name, answer] of Object.entries(peer.answered)) {
      const expected = JSON.stringify(answer);
      assert.ok(text.includes(expected), `${tool}: ${name} was ${expected}, but the server says: ${text}`);
    }
    texts.push(text);
  }
  return texts.join("; ");
}

/** Several questions at once, and one after the other. */
export async function rounds(peer) {
  const together = await rounded(peer, "test_input_required_result_multiple_inputs", 2);
  for (const answer of ["my name", "heard: ", peer.roots[0].uri]) assert.ok(together.includes(answer), together);
  const inTurn = await rounded(peer, "test_input_required_result_multi_round", 3);
  for (const answer of ["my name", "my color"]) assert.ok(inTurn.includes(answer), inTurn);
  return `${together}; ${inTurn}`;
}

/** Calls a tool that must take so many requests, each with an id of its own. */
async function rounded(peer, name, times) {
  const text = await peer.callForText(name);
  const ids = peer.sent.filter(({ params }) => params?.name === name).map(({ id }) => id);
  assert.equal(new Set(ids).size, times, `${name} took the requests ${ids}`);
  return text;
}
