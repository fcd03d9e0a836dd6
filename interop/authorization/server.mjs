// A server of the TypeScript SDK that takes the tokens of the issuer in its argument. It prints its URL.
import { createServer } from "node:http";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";

const [issuer] = process.argv.slice(2);
const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));
const app = express();
const server = createServer(app).listen(0, "127.0.0.1", () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  const place = "/.well-known/oauth-protected-resource/mcp";
  const verifier = {
    async verifyAccessToken(token) {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: `${origin}/mcp` }).catch((error) => {
        throw new InvalidTokenError(error.message);
      });
      const scopes = (payload.scope ?? "").split(" ");
      return { token, clientId: payload.client_id, scopes, expiresAt: payload.exp };
    },
  };
  app.get(place, (request, response) => response.json({
    resource: `${origin}/mcp`,
    authorization_servers: [issuer],
    scopes_supported: ["basic"],
  }));
  const auth = requireBearerAuth({ verifier, requiredScopes: ["basic"], resourceMetadataUrl: `${origin}${place}` });
  app.post("/mcp", auth, express.json(), async (request, response) => {
    const mcp = new McpServer({ name: "protected", version: "1.0.0" });
    mcp.registerTool("hello", { description: "Greets" }, () => ({ content: [{ type: "text", text: "hello" }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await mcp.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  console.log(`${origin}/mcp`);
});
process.stdin.on("end", () => process.exit()).resume();
