// Runs the module in Node, and checks its conversions: node run.mjs MODULE.wasm
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]));
const { input, memory, output, run } = instance.exports;

/** Returns the module's result for a job, or the names of the revisions if there is no job. */
function result(job) {
  const bytes = job ? new TextEncoder().encode(JSON.stringify(job)) : [];
  const at = input(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = run();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, output(), length)));
}

const revisions = result();
assert(revisions.length >= 5);
const isAfter = (revision, other) => revisions.indexOf(revision) >= revisions.indexOf(other);

for (const from of revisions) {
  for (const to of revisions) {
    const content = [{ type: 'text', text: '21.5 °C' }];
    // A result with the members that each revision requires and supports.
    const resultOf = (revision) => ({
      content,
      ...(isAfter(revision, '2025-06-18') && { structuredContent: { celsius: 21.5 } }),
      ...(isAfter(revision, '2026-07-28') && { resultType: 'complete' }),
    });
    const converted = result({ from, to, definition: 'CallToolResult', value: resultOf(from) });
    const expected = resultOf(to);
    if (!isAfter(from, '2025-06-18')) delete expected.structuredContent;
    const isLost = isAfter(from, '2025-06-18') && !isAfter(to, '2025-06-18');
    assert.deepEqual(converted, { value: expected, losses: isLost ? ['structuredContent'] : [] }, `${from} to ${to}`);

    const { error } = result({ from, to, definition: 'CallToolResult', value: { ...resultOf(from), content: 'sunny' } });
    assert.match(error, /^`content`: expected an array/, `${from} to ${to}`);
  }
}
console.log(`converted between ${revisions.length} revisions`);
