// Loads the TypeScript SDK that is installed in a directory, whatever its era: what it does not have yet is undefined.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { asFirstSdk } from "./sdk_2.mjs";

/** The parts of the SDK in `packages` that the drivers use, and the revision that it speaks by itself. */
export async function loadSdk(packages) {
  if (existsSync(resolve(packages, "node_modules/@modelcontextprotocol/client"))) return loadSecondSdk(packages);
  const home = resolve(packages, "node_modules/@modelcontextprotocol/sdk");
  // The first releases had modules of one kind only, and so no folder for each kind.
  const dist = [join(home, "dist/esm"), join(home, "dist")].find(existsSync);
  const load = async (part) => {
    const file = join(dist, part);
    return existsSync(file) ? import(pathToFileURL(file)) : {};
  };
  const [types, ...parts] = await Promise.all(
    [
      "types.js",
      "client/index.js",
      "client/stdio.js",
      "client/sse.js",
      "client/streamableHttp.js",
      "server/index.js",
      "server/stdio.js",
      "server/sse.js",
      "server/streamableHttp.js",
    ].map(load),
  );
  provideEventSource(packages);
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  return Object.assign({ types, version, revision: types.LATEST_PROTOCOL_VERSION }, ...parts);
}

/** The SDK that was written anew comes as several packages. */
async function loadSecondSdk(packages) {
  const home = resolve(packages, "node_modules/@modelcontextprotocol");
  const load = (file) => import(pathToFileURL(join(home, file)));
  const parts = await Promise.all(
    [
      "client/dist/index.mjs",
      "client/dist/stdio.mjs",
      "server/dist/index.mjs",
      "server/dist/stdio.mjs",
      "node/dist/index.mjs",
    ].map(load),
  );
  const { version } = JSON.parse(readFileSync(join(home, "client/package.json"), "utf8"));
  return asFirstSdk(Object.assign({}, ...parts), version);
}

/** The first releases take EventSource from the browser; in Node somebody has to put it where a browser has it. */
function provideEventSource(packages) {
  const EventSource = createRequire(resolve(packages, "package.json"))("eventsource");
  if (typeof EventSource === "function") globalThis.EventSource = EventSource;
}

/** Which packages and which transport the command line names: `PACKAGES_DIR (--stdio | --http | --sse) REST…`. */
export function readArguments(usage, [packages, transport, ...rest]) {
  if (!packages || !["--stdio", "--http", "--sse"].includes(transport)) {
    console.error(`usage: ${usage}`);
    process.exit(2);
  }
  return { packages, transport: transport.slice(2), rest };
}
