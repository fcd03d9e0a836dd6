// Prints a schema with what releases usually add: a request like each that can ask for input, a variant of each union
// that has tags, and an optional member and a capability.
import { readFileSync } from "node:fs";

const schema = JSON.parse(readFileSync(process.argv[2], "utf8"));
const definitions = schema.$defs;
const reference = (name) => ({ $ref: `#/$defs/${name}` });
const nameOf = (schema) => schema.$ref?.split("/").pop();
const copy = (name) => structuredClone(definitions[name]);

for (const variant of [...definitions.ClientRequest.anyOf]) {
  const request = nameOf(variant);
  const result = request.replace(/Request$/, "Result");
  const response = definitions[`${result}Response`];
  if (!response?.properties.result.anyOf) continue;
  definitions[`Added${request}`] = copy(request);
  definitions[`Added${request}`].properties.method.const += "/added";
  definitions[`Added${result}`] = copy(result);
  const added = JSON.stringify(response).replaceAll(`/${result}"`, `/Added${result}"`);
  definitions[`Added${result}Response`] = JSON.parse(added);
  definitions.ClientRequest.anyOf.push(reference(`Added${request}`));
  definitions.ServerResult.anyOf.push(reference(`Added${result}`));
}

for (const union of Object.values(definitions)) {
  const first = nameOf(union.anyOf?.[0] ?? {});
  if (!definitions[first]?.properties?.type?.const) continue;
  const added = `Added${first}`;
  definitions[added] = copy(first);
  definitions[added].properties.type.const += "-added";
  union.anyOf.push(reference(added));
}

definitions.Tool.properties.added = { type: "string" };
definitions.ServerCapabilities.properties.added = { type: "object" };
console.log(JSON.stringify(schema, null, 2));
