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

function curl({ method, path }: Placed, { variable, json, isBytes }: Parts): string {
  const lines = [
    `curl -sS${method === "GET" ? "" : ` -X ${method}`} "$ITEM_VAULT_HOST${inShell(path)}"`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`]),
    ...(json === undefined ? [] : [`-H "Content-Type: ${JSON_TYPE}"`, `-d ${quoted(json)}`]),
    ...(isBytes ? ["--data-binary @FILE"] : []),
  ];
  return lines.join(" \\\n  ");
}

function typescript({ method, path, operation, parameters }: Placed, { variable, json, isBytes }: Parts): string {
  const names = parameters.filter(({ in: place }) => place === "path").map(({ name }) => name);
  const options = [
    ...(names.length === 0 ? [] : [`path: { ${names.join(", ")} }`]),
    ...(json === undefined ? [] : [`body: ${json}`]),
    ...(isBytes ? ["body: bytes"] : []),
  ];
  const argument = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  return [
    'import { createClient } from "@item-vault/client";',
    "",
    `const client = createClient({ host: process.env.ITEM_VAULT_HOST!${variable === undefined ? "" : `, token: process.env.${variable}!`} });`,
    `${"204" in operation.responses ? "" : "const { data } = "}await client.call("${method} ${path}"${argument});`,
  ].join("\n");
}
