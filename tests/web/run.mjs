// Runs the module in Node: its client calls a server on a port, and its server as a function, which elicits:
// node run.mjs FOLDER SERVER
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const [folder, program] = process.argv.slice(2);
const { abandon, change, failure, progress, respond, visit } = createRequire(import.meta.url)(resolve(folder, 'web.js'));

/** Starts a server on a local port, and returns it with its URL. */
async function listen(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${server.address().port}/mcp` };
}

const REVISION = '2026-07-28';

const native = spawn(program, { stdio: ['ignore', 'pipe', 'inherit'] });
process.on('exit', () => native.kill());
const [line] = await once(native.stdout, 'data');
const url = line.toString().trim();

const visited = JSON.parse(await visit(url));
assert.deepEqual(visited, {
  revision: REVISION,
  tools: ['change', 'greet', 'last', 'status', 'weather'],
  weather: 'sunny in Zürich',
  greeting: 'Hello, Ada',
});
assert.equal(await progress(url), 0.5);
assert.equal(await change(url), 'Some(ToolList)');
await abandon(url);
assert.match(await failure(url), /HTTP status 403/);
const closed = await listen(createServer());
closed.server.close();
assert.match(await failure(closed.url), /^the HTTP request failed: TypeError: fetch failed: Error: .*ECONNREFUSED/);
native.kill();
console.log('called a server on a port');

// Sends both requests of an elicitation by hand. The sealed state of the first includes the time, which comes from
// JavaScript.
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

/** Returns the function's response to a call of `greet`. */
async function greet(more) {
  const params = { name: 'greet', arguments: {}, ...more, _meta: META };
  const headers = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream'];
  headers.push('mcp-protocol-version', REVISION, 'mcp-method', 'tools/call', 'mcp-name', 'greet');
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { status, body } = JSON.parse(await respond(headers, JSON.stringify(message)));
  return { status, ...JSON.parse(body) };
}

const asked = await greet({});
assert.equal(asked.result.resultType, 'input_required', JSON.stringify(asked));
const [[name, question]] = Object.entries(asked.result.inputRequests);
assert.equal(question.params.message, 'Who are you?');
const { requestState } = asked.result;
const inputResponses = { [name]: { action: 'accept', content: { name: 'Grace' } } };
const answered = await greet({ inputResponses, requestState });
assert.equal(answered.result.content[0].text, 'Hello, Grace', JSON.stringify(answered));

// The state is valid for ten minutes.
const now = Date.now;
Date.now = () => now() + 11 * 60 * 1000;
const late = await greet({ inputResponses, requestState });
assert.equal(late.error.code, -32602, JSON.stringify(late));
Date.now = now;

// The client calls the function of the same module.
const own = await listen(
  createServer(async (request, response) => {
    const { status, body } = JSON.parse(await respond(request.rawHeaders, await text(request)));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }),
);
assert.deepEqual(JSON.parse(await visit(own.url)), visited);
own.server.close();
console.log('served as a function that asks');
