#!/usr/bin/env node
// A server with the tool `echo`, written with the TypeScript SDK as in its documentation. It stops when its standard
// input ends.
//
//   node server.mjs (stdio | http)

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const sessions = new Map();
process.stdin.on("end", () => process.exit(0));
if (process.argv[2] === "http") {
  serveHttp();
} else {
  await echo().connect(new StdioServerTransport());
}

function echo() {
  const server = new McpServer({ name: "load", version: "1.0" });
  const tool = { description: "Returns its text", inputSchema: { text: z.string() } };
  server.registerTool("echo", tool, async ({ text }) => ({ content: [{ type: "text", text }] }));
  return server;
}

function serveHttp() {
  process.stdin.resume();
  const server = createServer(async (request, response) => {
    const session = sessions.get(request.headers["mcp-session-id"]) ?? (await openSession());
    await session.handleRequest(request, response);
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

async function openSession() {
  const session = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, session),
  });
  await echo().connect(session);
  return session;
}
