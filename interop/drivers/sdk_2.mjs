// The TypeScript SDK that was written anew, under the names that the drivers know from the one before: it takes methods where
// that one took schemas, and tells a handler about its call in another shape. It knows both eras of the protocol; the
// environment variable MCP_MODE says how its client begins: auto, stateless, handshake.

const METHODS = {
  CallToolRequestSchema: "tools/call",
  CompleteRequestSchema: "completion/complete",
  CreateMessageRequestSchema: "sampling/createMessage",
  ElicitRequestSchema: "elicitation/create",
  GetPromptRequestSchema: "prompts/get",
  ListPromptsRequestSchema: "prompts/list",
  ListResourceTemplatesRequestSchema: "resources/templates/list",
  ListResourcesRequestSchema: "resources/list",
  ListRootsRequestSchema: "roots/list",
  ListToolsRequestSchema: "tools/list",
  ReadResourceRequestSchema: "resources/read",
  SetLevelRequestSchema: "logging/setLevel",
  SubscribeRequestSchema: "resources/subscribe",
  UnsubscribeRequestSchema: "resources/unsubscribe",
  LoggingMessageNotificationSchema: "notifications/message",
  ProgressNotificationSchema: "notifications/progress",
  ResourceUpdatedNotificationSchema: "notifications/resources/updated",
  ToolListChangedNotificationSchema: "notifications/tools/list_changed",
};

const STATELESS_REVISION = "2026-07-28";

/** The SDK, as the drivers want it. */
export function asFirstSdk(sdk, version) {
  const mode = process.env.MCP_MODE;
  const stateless = mode !== "handshake";
  const negotiation = { auto: "auto", stateless: { pin: STATELESS_REVISION } }[mode] ?? "legacy";
  return {
    ...sdk,
    version,
    stateless,
    revision: stateless ? STATELESS_REVISION : sdk.LATEST_PROTOCOL_VERSION,
    clientOptions: { versionNegotiation: { mode: negotiation } },
    types: { ...METHODS, ServerCapabilitiesSchema: { shape: { completions: true } }, McpError: sdk.ProtocolError },
    StreamableHTTPServerTransport: sdk.NodeStreamableHTTPServerTransport,
    Client: class extends sdk.Client {
      // It looks up the schemas of results by itself.
      callTool(params, _schema, options) {
        return super.callTool(params, options);
      }
      request(message, schema, options) {
        return super.request(message, schema ?? options);
      }
    },
    Server: class extends sdk.Server {
      setRequestHandler(method, handle) {
        super.setRequestHandler(method, (request, { http, mcpReq }) =>
          handle(request, {
            isStateless: mcpReq.envelope !== undefined,
            inputResponses: mcpReq.inputResponses,
            requestState: mcpReq.requestState?.(),
            log: mcpReq.log,
            signal: mcpReq.signal,
            closeSSEStream: http?.closeSSE,
            sendNotification: mcpReq.notify,
            sendRequest: (message) => mcpReq.send(message),
          }),
        );
      }
    },
  };
}
