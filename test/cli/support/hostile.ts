import { document } from "../../../src/api/openapi/document.ts";
import type { MediaType, Schema } from "../../../src/api/openapi/types.ts";
import { startServer } from "./api.ts";

/** A service that answers each request in the shape of the API's document, with a text for terminals in every text. */

/** Begins a line of its own, sets the title of a terminal, clears it, and turns the direction of the text around. */
export const HOSTILE = "x\nforged\u001B]0;owned\u0007\u001B[2J\u009B31m\u202Ey";

/** What a terminal obeys or hides, but for line feeds and tabs. */
export const OBEYED = /[^\P{C}\n\t\u200D]/u;

/** Attributes that ask for another request, so that no command goes on for ever. */
const CONTINUING = new Set(["next", "cursor", "waiting", "rewrapping"]);
const ENDS: ReadonlySet<unknown> = new Set(["done", "planned"]);

const resolved = ({ $ref, ...schema }: Schema): Schema => ($ref === undefined ? schema : schemaNamed($ref));

function schemaNamed(reference: string): Schema {
  const name = reference.split("/").at(-1)!;
  return resolved(document.components.schemas[name]!);
}

const choicesOf = ({ oneOf = [], anyOf = [] }: Schema): Schema[] => [...oneOf, ...anyOf];

/** An entry of each kind that the list may have: also one that does not open. */
const hostileEntries = (schema: Schema): unknown[] => {
  const choices = choicesOf(resolved(schema));
  return (choices.length === 0 ? [schema] : choices).map(hostileValue);
};

/** A value of a schema with all attributes; what does not open has only those that it always has. */
export function hostileValue(from: Schema): unknown {
  const schema = resolved(from);
  const [choice] = choicesOf(schema);
  if (choice) return hostileValue(choice);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.find((value) => ENDS.has(value)) ?? schema.enum[0];
  const type = [schema.type].flat()[0];
  if (type === "string") return HOSTILE;
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return 1;
  if (type === "array") return hostileEntries(schema.items ?? {});
  if (type !== "object") return null;
  const { properties = {}, additionalProperties: more, required = [] } = schema;
  const given = (name: string) => !CONTINUING.has(name) && (!("broken" in properties) || required.includes(name));
  const entries = Object.entries(properties).filter(([name]) => given(name));
  const others = typeof more === "object" ? [[HOSTILE, hostileValue(more)]] : [];
  return Object.fromEntries([...entries.map(([name, value]) => [name, hostileValue(value)]), ...others]);
}

function bodyOf(type: string, { schema }: MediaType): string {
  const value = hostileValue(schema);
  if (type === "text/event-stream")
    return `event: ${HOSTILE.replace("\n", "")}\nid: 1\ndata: ${JSON.stringify({ type: HOSTILE, item: HOSTILE, actor: HOSTILE, at: HOSTILE })}\n\n`;
  return type.includes("json") ? JSON.stringify(value) : String(value);
}

/** Starts the service. `refuses`: it answers the requests with these methods, for example `POST`, with an error whose message is hostile. */
export function startHostileService(refuses?: { readonly status: number; readonly methods: RegExp }): Promise<string> {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ template, name: `${method.toUpperCase()} ${template}`, operation })),
  );
  return startServer((incoming, answer) => {
    incoming.resume();
    answer.setHeader("Request-Id", HOSTILE.replaceAll(/[^ -~]/g, ""));
    if (refuses?.methods.test(incoming.method!)) {
      const { status } = refuses;
      return answer.writeHead(status).end(JSON.stringify({ status, message: HOSTILE }));
    }
    const { pathname } = new URL(incoming.url!, "http://host");
    const found = operations.find(
      ({ template, name }) =>
        name.startsWith(`${incoming.method} `) && new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
    );
    if (!found) return answer.writeHead(404).end();
    const { responses } = found.operation as { responses: Record<string, { content?: Record<string, MediaType> }> };
    const [status, { content = {} }] = Object.entries(responses).find(([code]) => code.startsWith("2"))!;
    const wanted = incoming.headers.accept ?? "";
    const type = Object.keys(content).find((one) => wanted.includes(one)) ?? Object.keys(content)[0];
    if (type === undefined) return answer.writeHead(Number(status)).end();
    return answer.writeHead(Number(status), { "Content-Type": type }).end(bodyOf(type, content[type]!));
  });
}
