// Runs the module with the feature `function` in Node, and calls its server: node function.mjs MODULE.wasm
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const host = { random: (at, length) => webcrypto.getRandomValues(new Uint8Array(memory.buffer, at, length)) };
const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), { host });
const { input, memory, output, respond: answer } = instance.exports;

const REVISION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Returns the response to a request, whose headers repeat its method and name. */
function respond(method, params) {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } };
  const headers = [
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
    ['mcp-protocol-version', REVISION],
    ['mcp-method', method],
    ...(params.name ? [['mcp-name', params.name]] : []),
  ];
  const bytes = new TextEncoder().encode(JSON.stringify({ headers, body }));
  const at = input(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = answer();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, output(), length)));
}

const called = respond('tools/call', { name: 'weather', arguments: {} });
assert.equal(called.status, 200, JSON.stringify(called));
assert.equal(called.body.result.content[0].text, 'sunny');
const listed = respond('tools/list', {});
assert.deepEqual(listed.body.result.tools.map(({ name }) => name), ['weather']);
assert.equal(respond('odd/method', {}).status, 404);
console.log(`served ${REVISION} as a function`);
