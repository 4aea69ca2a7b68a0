import type { Document, MediaType } from "../../../src/api/openapi/types.ts";
import { type Placed, resolve } from "../document.ts";
import type { RequestBody } from "../../../src/api/openapi/types.ts";

/** One request to an operation, as a command line and as a call of @item-vault/client. */

/** The environment variable with the secret of a scheme. */
const VARIABLES: Readonly<Record<string, string>> = {
  token: "ITEM_VAULT_TOKEN",
  admin: "ADMIN_TOKEN",
  metrics: "METRICS_TOKEN",
};

export interface Sample {
  readonly language: string;
  readonly text: string;
}

const JSON_TYPE = "application/json";

/** The body that the document shows first. `undefined`: the operation has none, or its body is bytes. */
function bodyOf(document: Document, body: RequestBody | undefined): { readonly json?: unknown; readonly isBytes: boolean } {
  const media: MediaType | undefined = body && resolve(document, body).content[JSON_TYPE];
  if (!media) return { isBytes: body !== undefined };
  return { json: media.example ?? Object.values(media.examples ?? {})[0]?.value, isBytes: false };
}

/** Returns the samples of an operation, or none for one that only the console can send. */
export function samplesOf(document: Document, placed: Placed): Sample[] {
  const schemes = placed.operation.security.flatMap((one) => Object.keys(one));
  const scheme = schemes.find((name) => name in VARIABLES);
  if (schemes.length > 0 && scheme === undefined) return [];
  const variable = scheme && VARIABLES[scheme]!;
  const { json, isBytes } = bodyOf(document, placed.operation.requestBody);
  const query = placed.parameters.filter(({ in: place, required }) => place === "query" && required).map(({ name }) => name);
  return [
    { language: "curl", text: curl(placed, variable, json, isBytes, query) },
    { language: "TypeScript", text: typescript(placed, variable, json, isBytes, query) },
  ];
}

/** `vault` → `$VAULT`. */
const inShell = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
/** A text in single quotes, which the shell takes as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(
  { method, path }: Placed,
  variable: string | undefined,
  json: unknown,
  isBytes: boolean,
  query: readonly string[],
): string {
  const search = query.length === 0 ? "" : `?${query.map((name) => `${name}=$${name.toUpperCase()}`).join("&")}`;
  const lines = [
    `curl -sS${method === "GET" ? "" : ` -X ${method}`} "$ITEM_VAULT_HOST${inShell(path)}${search}"`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`]),
    ...(json === undefined ? [] : [`-H "Content-Type: ${JSON_TYPE}"`, `-d ${quoted(JSON.stringify(json, undefined, 2))}`]),
    ...(isBytes ? ["--data-binary @FILE"] : []),
  ];
  return lines.join(" \\\n  ");
}

function typescript(
  { method, path, operation }: Placed,
  variable: string | undefined,
  json: unknown,
  isBytes: boolean,
  query: readonly string[],
): string {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const options = [
    ...(names.length === 0 ? [] : [`path: { ${names.join(", ")} }`]),
    ...(query.length === 0 ? [] : [`query: { ${query.join(", ")} }`]),
    ...(json === undefined ? [] : [`body: ${JSON.stringify(json, undefined, 2)}`]),
    ...(isBytes ? ["body: bytes"] : []),
  ];
  const argument = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  const isEmpty = Object.keys(operation.responses).includes("204");
  return [
    'import { createClient } from "@item-vault/client";',
    "",
    `const client = createClient({ host: process.env.ITEM_VAULT_HOST!${variable === undefined ? "" : `, token: process.env.${variable}!`} });`,
    `${isEmpty ? "" : "const { data } = "}await client.call("${method} ${path}"${argument});`,
  ].join("\n");
}
