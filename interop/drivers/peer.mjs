// A client of the TypeScript SDK, connected to a server, that remembers everything the steps judge.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 20;
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

/** Thrown by a step that this SDK of this era cannot do. */
export class Absent extends Error {}

export class Peer {
  constructor(sdk, transport, opened) {
    this.sdk = sdk;
    /** The event from which each stream was taken up, null for a new one, as far as the SDK lets one see that. */
    this.opened = opened;
    /** The names of the server's tools, once they were listed. */
    this.tools = [];
    this.roots = [{ uri: "file:///project/one", name: "one" }];
    /** The notifications from the server, in order. */
    this.notifications = [];
    /** What we sent, in order. */
    this.sent = [];
    /** What the SDK found wrong with what it was sent. */
    this.errors = [];
    this.transport = transport;
    this.client = this.#buildClient();
    this.#watchTransport();
  }

  async connect() {
    const { client } = this;
    const request = client.request.bind(client);
    // The SDK keeps the negotiated revision to itself.
    client.request = async (message, ...rest) => {
      const result = await request(message, ...rest);
      if (message.method === "initialize") this.initialized = result;
      return result;
    };
    await client.connect(this.transport);
    // The SDK that was written anew tells it, and has other ways to ask.
    this.initialized ??= {
      protocolVersion: client.getNegotiatedProtocolVersion?.(),
      serverInfo: client.getServerVersion(),
    };
    return this.initialized;
  }

  async close() {
    await this.transport.terminateSession?.();
    await this.client.close();
  }

  /** Calls a tool that must succeed, and answers with the texts of its result. */
  async callForText(name, given = {}, options = undefined) {
    const result = await this.client.callTool({ name, arguments: given, _meta: this.meta }, undefined, options);
    const text = result.content.map((block) => block.text ?? "").join("\n");
    if (result.isError) throw new Error(`${name} answered with an error: ${text}`);
    return text;
  }

  /** Wants the log messages of this level and above: from now on, or with each call. */
  async wantLogs(level) {
    if (this.sdk.stateless) this.meta = { [LOG_LEVEL]: level };
    else await this.client.setLoggingLevel(level);
  }

  /** Wants to be told of the changes to a resource, and answers with what ends that. */
  async watchResource(uri) {
    if (this.sdk.stateless) return this.#listen({ resourceSubscriptions: [uri] });
    await this.client.subscribeResource({ uri });
    return () => this.client.unsubscribeResource({ uri });
  }

  /** Wants to be told of the changes to the list of tools, as every client with a session is. */
  async watchTools() {
    return this.sdk.stateless ? this.#listen({ toolsListChanged: true }) : () => {};
  }

  async #listen(filter) {
    const subscription = await this.client.listen(filter);
    assert.deepEqual(subscription.honoredFilter, filter);
    return () => subscription.close();
  }

  /** What the server answers to a request, with the members that this SDK would drop. */
  async ask(method, params = {}) {
    return this.client.request({ method, params }, this.sdk.types.ResultSchema);
  }

  /** The pages of the list of tools, each as `list` makes it. */
  async *pagesOfTools(list = (params) => this.client.listTools(params)) {
    let cursor;
    do {
      const { tools, nextCursor } = await list(cursor === undefined ? {} : { cursor });
      yield tools;
      cursor = nextCursor;
    } while (cursor !== undefined);
  }

  /** The parameters of the notifications of this method so far. */
  notificationsOf(method) {
    return this.notifications.filter((notification) => notification.method === method).map(({ params }) => params);
  }

  forgetNotifications() {
    this.notifications.length = 0;
  }

  /** Waits until `enough()` is true: over HTTP, notifications may come after the answer. */
  async until(what, enough) {
    for (let waited = 0; !(await enough()); waited += POLL_MILLISECONDS) {
      if (waited > PATIENCE_MILLISECONDS) throw new Error(`waited in vain for ${what}`);
      await sleep(POLL_MILLISECONDS);
    }
  }

  #buildClient() {
    const { types, Client } = this.sdk;
    const capabilities = { sampling: {}, roots: { listChanged: true } };
    if (types.ElicitRequestSchema) capabilities.elicitation = {};
    const options = { capabilities, ...this.sdk.clientOptions };
    const client = new Client({ name: "typescript-driver", version: "1.0.0" }, options);
    client.onerror = (error) => this.errors.push(error.message);
    // The SDK itself drops the progress that arrives together with the answer.
    for (const kind of ["LoggingMessage", "ResourceUpdated", "ToolListChanged", "Progress"]) {
      const schema = types[`${kind}NotificationSchema`];
      client.setNotificationHandler(schema, (notification) => void this.notifications.push(notification));
    }
    client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => answerSampling(params));
    client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: this.roots }));
    if (types.ElicitRequestSchema) {
      client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => this.#answerElicitation(params));
    }
    return client;
  }

  #answerElicitation({ requestedSchema }) {
    const properties = Object.entries(requestedSchema.properties);
    this.answered = Object.fromEntries(properties.map(([name, schema]) => [name, answerQuestion(name, schema)]));
    return { action: "accept", content: this.answered };
  }

  #watchTransport() {
    const send = this.transport.send.bind(this.transport);
    this.transport.send = (message, ...rest) => {
      this.sent.push(message);
      return send(message, ...rest);
    };
  }
}

function answerSampling({ messages }) {
  const content = { type: "text", text: `heard: ${messages.at(-1).content.text}` };
  return { role: "assistant", model: "none", stopReason: "endTurn", content };
}

/** An answer that the schema allows and that is not its default. */
function answerQuestion(name, schema) {
  const choices = schema.enum ?? schema.oneOf?.map((choice) => choice.const);
  if (choices) return choices.at(-1);
  switch (schema.type) {
    case "boolean":
      return schema.default === false;
    case "integer":
      return 7;
    case "number":
      return 2.5;
    case "array":
      return (schema.items.enum ?? schema.items.anyOf.map((choice) => choice.const)).slice(-1);
    default:
      return schema.format === "email" ? "ada@localhost.localdomain" : `my ${name}`;
  }
}
