#!/usr/bin/env node
// A client written with the TypeScript SDK as in its documentation. It spawns a server, and calls its tool `echo`.
//
//   node client.mjs SERVER
//
// Each line of its standard input is a turn, as in ../src/turn.rs.

import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "load", version: "1.0" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["stdio"] }));

for await (const line of createInterface({ input: process.stdin })) {
  const [milliseconds, window, bytes] = line.split(" ").map(Number);
  const end = performance.now() + milliseconds;
  const text = "x".repeat(bytes);
  const callers = Array.from({ length: window }, async () => {
    let calls = 0;
    while (performance.now() < end) {
      const result = await client.callTool({ name: "echo", arguments: { text } });
      if (result.content.length !== 1) throw new Error(`not an echo: ${JSON.stringify(result)}`);
      calls += 1;
    }
    return calls;
  });
  const calls = await Promise.all(callers);
  console.log(calls.reduce((sum, each) => sum + each, 0));
}
await client.close();
