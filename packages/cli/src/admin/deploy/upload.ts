import { readFile } from "node:fs/promises";
import { printable } from "../../frame/printable.ts";
import { type Deployment, type Made, withConfig } from "./deployment.ts";
import { type Found, variablesOf } from "./found.ts";
import { OPTIONAL_SECRETS } from "./generate.ts";
import type { Project } from "./project.ts";
import { withFile } from "./wrangler.ts";

/** The step that uploads the Worker. */

/** A deployment gives every variable the value of wrangler.toml, also where it was set in the dashboard. */
export const changedVariables = ({ config: { variables } }: Project, { worker }: Found): string[] =>
  [...variablesOf(worker)]
    .map(([name, value]) => [name, JSON.stringify(value), JSON.stringify(variables[name])] as const)
    .filter(([name, value, next]) => value !== next && !OPTIONAL_SECRETS.includes(name)) // a secret from now on
    .map(([name, value, next]) =>
      next === undefined ? `remove the variable ${name}: ${value}` : `change the variable ${name}: ${value} to ${next}`,
    )
    .map(printable);

/** Uploads the Worker with the secrets that it does not have. wrangler creates missing buckets and queues. Out: its address. */
export async function uploadWorker(deployment: Deployment, made: Made): Promise<string | undefined> {
  const secrets = made.values ?? {};
  const some = Object.keys(secrets).length > 0;
  return withConfig(deployment, made, (config) =>
    withFile("secrets.json", JSON.stringify(secrets), (secretsPath) =>
      withFile("output", "", async (output) => {
        const args = ["deploy", ...config, ...(some ? ["--secrets-file", secretsPath] : [])];
        await deployment.wrangler.run(args, { WRANGLER_OUTPUT_FILE_PATH: output });
        return addressIn(await readFile(output, "utf8"));
      }),
    ),
  );
}

/** A host name, alone or before a path or a remark; other targets are schedules and queues. */
const HOST = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]+)(?=$|[/ ])/i;

/** The first address in the output file of wrangler: lines of JSON, of which that of the type `deploy` has the addresses. */
function addressIn(output: string): string | undefined {
  const lines = output.split("\n").filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as { type: string; targets?: string[] });
  const targets = entries.find(({ type }) => type === "deploy")?.targets ?? [];
  const host = targets.map((target) => HOST.exec(target)?.[1]).find((found) => found !== undefined);
  return host === undefined ? undefined : `https://${host}`;
}
