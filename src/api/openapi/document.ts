import packageJson from "../../../package.json" with { type: "json" };
import { errorResponses } from "./errors.ts";
import { headers } from "./headers.ts";
import { operationOf, type Row, rowsOf } from "./operation.ts";
import { parameterComponents } from "./parameters.ts";
import { adminActivityDescriptions } from "./paths/admin-activity.ts";
import { adminDescriptions } from "./paths/admin.ts";
import { backupDescriptions } from "./paths/backups.ts";
import { eventDescriptions } from "./paths/events.ts";
import { fileDescriptions } from "./paths/files.ts";
import { historyDescriptions } from "./paths/history.ts";
import { itemDescriptions } from "./paths/items.ts";
import { jobDescriptions } from "./paths/jobs.ts";
import { keyDescriptions } from "./paths/keys.ts";
import { loginDescriptions } from "./paths/logins.ts";
import { peopleDescriptions } from "./paths/people.ts";
import { serviceDescriptions } from "./paths/service.ts";
import { sessionDescriptions } from "./paths/sessions.ts";
import { tokenDescriptions } from "./paths/tokens.ts";
import { webhookMessages, webhookDescriptions } from "./paths/webhooks.ts";
import { workloadDescriptions } from "./paths/workloads.ts";
import { activitySchemas } from "./schemas/activity.ts";
import { backupSchemas } from "./schemas/backups.ts";
import { findingSchemas } from "./schemas/findings.ts";
import { healthSchemas } from "./schemas/health.ts";
import { itemInputSchemas } from "./schemas/item-inputs.ts";
import { itemSchemas } from "./schemas/items.ts";
import { jobSchemas } from "./schemas/jobs.ts";
import { keySchemas } from "./schemas/keys.ts";
import { loginSchemas } from "./schemas/logins.ts";
import { personSchemas } from "./schemas/people.ts";
import { resolveSchemas } from "./schemas/resolve.ts";
import { sessionSchemas } from "./schemas/sessions.ts";
import { tokenSchemas } from "./schemas/tokens.ts";
import { valueSchemas } from "./schemas/values.ts";
import { vaultSchemas } from "./schemas/vaults.ts";
import { webhookSchemas } from "./schemas/webhooks.ts";
import { workloadSchemas } from "./schemas/workloads.ts";
import type { Document, PathItem } from "./types.ts";

/** The OpenAPI document of the service (contract 19). Its tests are in test/openapi/. */

/** Every operation. */
export const ROWS: readonly Row[] = rowsOf({
  ...tokenDescriptions,
  ...itemDescriptions,
  ...fileDescriptions,
  ...historyDescriptions,
  ...eventDescriptions,
  ...adminDescriptions,
  ...adminActivityDescriptions,
  ...keyDescriptions,
  ...jobDescriptions,
  ...peopleDescriptions,
  ...workloadDescriptions,
  ...webhookDescriptions,
  ...backupDescriptions,
  ...sessionDescriptions,
  ...loginDescriptions,
  ...serviceDescriptions,
});

const paths = Object.fromEntries(
  [...Map.groupBy(ROWS, ({ path }) => path)].map(([path, rows]): [string, PathItem] => [
    path,
    Object.fromEntries(rows.map((row) => [row.method, operationOf(row)])),
  ]),
);

const DESCRIPTION = `A service for secrets on Cloudflare Workers: vaults hold Items, Items hold fields and Files. It speaks the API of
1Password Connect, so the clients of Connect work with it.

The rules of the API are in the contract (docs/contract.md), which the descriptions cite by number.

- A path that is not listed is a 404 \`route_not_found\`, and a method that a path does not list a 405 \`method_not_allowed\` (contract 1.6).
  HEAD is served wherever GET is (contract 1.5). A trailing slash and a doubled \`//\` are ignored (contract 1.4).
- A JSON body has at most 1 MiB and 32 levels, and a list in it at most 1,000 entries unless its description says otherwise. Its \`Content-Type\` is ignored (contract 1.9, 12.1).
- An error has the schema Error and the header \`Item-Vault-Error\` with its kind (contract 4.2).
- Schemas of answers list every attribute. Schemas of Items in requests are open, because unknown attributes of an Item are dropped. Other schemas of requests are closed (contract 2.16).
- More attributes, types of events and services of \`/health\` may be added in a later release.`;

export const document: Document = {
  openapi: "3.1.1",
  info: {
    title: "Item Vault",
    version: packageJson.version,
    summary: "Secrets on your own Cloudflare account.",
    description: DESCRIPTION,
    contact: { name: "The operator of this deployment" },
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "/", description: "The host that serves this document." }],
  tags: [
    { name: "Items", description: "Items of a vault (contract 2, 6, 11)." },
    { name: "Files", description: "Files of Items (contract 9)." },
    { name: "Versions", description: "Earlier versions of Items (contract 14)." },
    { name: "Deleted Items", description: "Deleted Items, which can be restored (contract 14)." },
    { name: "References", description: "Secret references, `op://vault/item/field` (contract 16)." },
    { name: "Vaults", description: "The vaults of a token (contract 2.5)." },
    { name: "Tokens", description: "The token of the request (contract 8)." },
    { name: "Events", description: "The writes to vaults, as they happen (contract 15)." },
    { name: "Activity", description: "The activity logs (contract 13)." },
    { name: "Admin: vaults", description: "Makes and deletes vaults (contract 13)." },
    { name: "Admin: tokens", description: "Issues and revokes tokens (contract 13)." },
    { name: "Admin: people", description: "Who signs in with Cloudflare Access (contract 25)." },
    { name: "Admin: workloads", description: "Whose tokens are exchanged, and for what (contract 27)." },
    { name: "Admin: keys", description: "The root keys and their rotation (contract 20)." },
    { name: "Admin: jobs", description: "Long jobs, which go on by themselves (contract 26)." },
    { name: "Admin: webhooks", description: "Receivers of the events of a vault (contract 17)." },
    { name: "Admin: backups", description: "Backups, and restores from them (contract 21)." },
    { name: "Sessions", description: "Sessions of the console (contract 24)." },
    { name: "Logins", description: "Logins of people from a terminal (contract 28)." },
    { name: "Service", description: "The state of the service (contract 13)." },
  ],
  paths,
  webhooks: webhookMessages,
  components: {
    schemas: {
      ...itemSchemas,
      ...itemInputSchemas,
      ...vaultSchemas,
      ...tokenSchemas,
      ...personSchemas,
      ...workloadSchemas,
      ...sessionSchemas,
      ...loginSchemas,
      ...activitySchemas,
      ...keySchemas,
      ...jobSchemas,
      ...resolveSchemas,
      ...webhookSchemas,
      ...findingSchemas,
      ...backupSchemas,
      ...healthSchemas,
      ...valueSchemas,
    },
    parameters: parameterComponents,
    headers,
    responses: errorResponses,
    securitySchemes: {
      token: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "JWT",
        description: "A token of this service. Clients treat it as opaque text (contract 8.1, 8.2).",
      },
      admin: { type: "http", scheme: "bearer", description: "The secret `ADMIN_TOKEN` of the operator (contract 8.9)." },
      session: {
        type: "apiKey",
        in: "cookie",
        name: "__Host-item-vault-session",
        description: "A session of the console, for requests of its own origin only (contract 24.1, 24.2).",
      },
      metrics: { type: "http", scheme: "bearer", description: "The secret `METRICS_TOKEN` of the operator (contract 13.4)." },
    },
  },
};
