import type { Content } from "./operation.ts";
import { arrayOf, ref } from "./schemas/shapes.ts";
import type { RequestBody } from "./types.ts";

/** The bodies of requests and answers. */

const shown = (example: unknown) => (example === undefined ? {} : { example });

/** Returns a JSON body with this schema. */
export const json = (schema: string, example?: unknown): Content => ({
  "application/json": { schema: ref(schema), ...shown(example) },
});

/** Returns a JSON array of values with this schema. */
export const listOf = (schema: string, example?: unknown): Content => ({
  "application/json": { schema: arrayOf(ref(schema)), ...shown(example) },
});

/** Returns a JSON array of values with one of these schemas. */
export const listOfEither = (schemas: readonly string[], example?: unknown): Content => ({
  "application/json": { schema: arrayOf({ oneOf: schemas.map((schema) => ref(schema)) }), ...shown(example) },
});

export const plainText = (description: string, example: string): Content => ({
  "text/plain": { schema: { type: "string", description }, example },
});

export const BYTES: Content = {
  "application/octet-stream": { schema: { type: "string", contentMediaType: "application/octet-stream" } },
};

/** Returns server-sent events (WHATWG HTML, section 9.2). `data` is the schema of `data`, `description` describes the stream. */
export const eventStream = (data: string, description: string): Content => ({
  "text/event-stream": {
    schema: {
      type: "string",
      contentMediaType: "text/event-stream",
      contentSchema: { anyOf: [ref(data), ref("VaultNotice")] },
      description: `${description} \`data\` of an event is the object ${data}, and that of \`vault.deleted\` and \`reset\` VaultNotice.`,
    },
  },
});

export const required = (content: Content): RequestBody => ({ required: true, content });
