import type { Response } from "../../../src/api/openapi/types.ts";
import type { Placed } from "../document.ts";

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

/** Returns the samples of an operation, or none for one that only the console can send. */
export function samplesOf(placed: Placed): Sample[] {
  const { security, requestBody } = placed.operation;
  const schemes = security.flatMap((one) => Object.keys(one));
  const scheme = schemes.find((name) => name in VARIABLES);
  if (schemes.length > 0 && scheme === undefined) return [];
  const media = requestBody?.content[JSON_TYPE];
  const parts: Parts = {
    variable: scheme && VARIABLES[scheme],
    json: media && JSON.stringify(media.example, undefined, 2),
    isBytes: requestBody !== undefined && media === undefined,
  };
  return [
    { language: "curl", text: curl(placed, parts) },
    { language: "TypeScript", text: typescript(placed, parts) },
  ];
}

interface Parts {
  /** Absent: the operation needs no secret. */
  readonly variable: string | undefined;
  /** The example of a JSON body. */
  readonly json: string | undefined;
  readonly isBytes: boolean;
}

/** `vault` → `$VAULT`. */
const inShell = (path: string): string => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
/** A text in single quotes, which the shell takes as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The file whose content is sent. */
const FILE = "ca.pem";
const STREAM_TYPE = "text/event-stream";
/** True for an operation that only streams. */
const isStream = ({ operation: { responses } }: Placed): boolean => {
  const { 200: answer } = responses as Readonly<Record<number, Response | undefined>>;
  return Object.keys(answer?.content ?? {}).join() === STREAM_TYPE;
};

/** The part of the query without which the request is refused. */
const queryOf = ({ parameters }: Placed, isBytes: boolean): readonly (readonly [name: string, value: string])[] =>
  parameters.flatMap(({ name, in: place, required = isBytes, example }) =>
    place === "query" && required && typeof example === "string" ? [[name, example] as const] : [],
  );

function curl(placed: Placed, { variable, json, isBytes }: Parts): string {
  const { method, path } = placed;
  const query = queryOf(placed, isBytes).map(([name, value], index) => `${index === 0 ? "?" : "&"}${name}=${value}`);
  const lines = [
    `curl -sS${method === "GET" ? "" : ` -X ${method}`} "$ITEM_VAULT_HOST${inShell(path)}${query.join("")}"`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`]),
    ...(json === undefined ? [] : [`-H "Content-Type: ${JSON_TYPE}"`, `-d ${quoted(json)}`]),
    ...(isBytes ? [`--data-binary @${FILE}`] : []),
    ...(isStream(placed) ? [`-N -H "Accept: ${STREAM_TYPE}"`] : []),
  ];
  return lines.join(" \\\n  ");
}

function typescript(placed: Placed, { variable, json, isBytes }: Parts): string {
  const { method, path, operation, parameters } = placed;
  const inPath = parameters
    .filter(({ in: place }) => place === "path")
    .map(({ name, schema }) => {
      const value = `process.env.${name.toUpperCase()}!`;
      return `${name}: ${schema.type === "integer" ? `Number(${value})` : value}`;
    });
  const query = queryOf(placed, isBytes).map(([name, value]) => `${name}: "${value}"`);
  const options = [
    ...(inPath.length === 0 ? [] : [`path: { ${inPath.join(", ")} }`]),
    ...(query.length === 0 ? [] : [`query: { ${query.join(", ")} }`]),
    ...(json === undefined ? [] : [`body: ${json}`]),
    ...(isBytes ? [`body: await readFile("${FILE}")`] : []),
  ];
  const lines = options.map((option) => `  ${option.replaceAll("\n", "\n  ")},\n`);
  const argument = lines.length === 0 ? "" : `, {\n${lines.join("")}}`;
  const call = `await client.call("${method} ${path}"${argument});`;
  return [
    ...(isBytes ? ['import { readFile } from "node:fs/promises";'] : []),
    'import { createClient } from "@item-vault/client";',
    "",
    `const client = createClient({ host: process.env.ITEM_VAULT_HOST!${variable === undefined ? "" : `, token: process.env.${variable}!`} });`,
    isStream(placed)
      ? "for await (const event of client.events()) console.log(event.type, event.item);"
      : `${"204" in operation.responses ? "" : "const { data } = "}${call}`,
  ].join("\n");
}
