import { env } from "cloudflare:workers";
import type { Row } from "../../../src/api/openapi/operation.ts";
import { backUp } from "../../support/backup.ts";
import { browser, CONSOLE, COOKIE, signIn } from "../../support/console.ts";
import { lengthOf, pattern } from "../../support/files.ts";
import { startProvider } from "../../support/identity-provider.ts";
import { JOBS } from "../../support/jobs.ts";
import { loginCode, REDIRECT } from "../../support/logins.ts";
import { personSession } from "../../support/person-session.ts";
import { dataKeyOf } from "../../support/sealed-columns.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Reply, type Request_, send } from "../../support/service.ts";
import { newReceiver } from "../../support/webhooks.ts";
import { formOf, newSigningKey, tokenOf } from "../../support/workload-tokens.ts";
import { makeIssuer, makeRule } from "../../support/workloads.ts";

export type { Row };

/** What the requests of test/openapi/statuses.test.ts are about: every operation has a target of its own. */

export interface World {
  readonly vault: string;
  /** A token with every permission in the vault, which may issue others. */
  readonly token: string;
  /** A token that names no vault. */
  readonly outsider: string;
  /** A token whose rate limiter is asked at each request. */
  readonly limited: string;
  /** The id of a vault that does not exist, and a token with every permission in it. */
  readonly unknown: string;
  readonly stranger: string;
}

/** An Idempotency-Key that the token has used for another request. */
export const USED_KEY = "used";

export const REFUSING: RateLimit = { limit: async () => ({ success: false }) };

/** The service asks the limiter once for so many requests of a token or session. */
export const BUNDLE = 50;

export async function startWorld(): Promise<World> {
  const vault = await makeVault();
  const unknown = crypto.randomUUID();
  const scopes = [{ [vault]: "rwd" }, {}, { [vault]: "rwd" }, { [unknown]: "rwd" }] as const;
  const issued = await Promise.all(scopes.map((scope, index) => makeToken(scope, { delegate: index === 0 })));
  const [token = "", outsider = "", limited = "", stranger = ""] = issued.map((one) => one.token);
  const headers = { "Idempotency-Key": USED_KEY };
  await client(token)("POST", `/v1/vaults/${vault}/items`, { headers, body: LOGIN });
  for (let count = 0; count < BUNDLE; count++) await client(limited)("GET", "/v1/token", { env: { TOKEN_RATE: REFUSING } });
  return { vault, token, outsider, limited, unknown, stranger };
}

/** The values of the parameters of a path, and the request that succeeds. */
export interface Target {
  readonly ids: Readonly<Record<string, string>>;
  readonly query: string;
  readonly request: Request_;
}

/** Makes what the path of an operation names. */
export async function prepareTarget(world: World, row: Row): Promise<Target> {
  const ids = await prepare(world, row);
  const { body, query = "", env: bindings } = INPUTS[row.operationId]?.(ids) ?? {};
  return { ids, query, request: { body, env: bindings, headers: body instanceof Uint8Array ? lengthOf(body) : {} } };
}

async function prepare(world: World, row: Row): Promise<Record<string, string>> {
  if (PEOPLE_ONLY.has(row.operationId)) return preparePerson(world, row);
  if (row.operationId === "exchangeToken") return { form: await newForm() };
  if (row.operationId === "beginSignIn") return { provider: (await startProvider()).server.url };
  if (row.access.by === "console") {
    const { code } = (await client(world.token)("POST", "/v1/sign-in-codes")).body;
    return { session: await signIn({ token: world.token }), token: world.token, code };
  }
  if (row.access.by === "admin") return prepareAdmin(row);
  const ids = await prepareItem(world, row);
  return row.access.by === "session" ? { ...ids, session: await signIn({ token: world.token }) } : ids;
}

/** What only the session of a person may do, and what comes after it. */
const PEOPLE_ONLY: ReadonlySet<string> = new Set(["createAuthorization", "createLoginCode", "redeemLogin"]);

async function preparePerson({ vault }: World, { operationId }: Row): Promise<Record<string, string>> {
  const session = await personSession(env, (await addPerson({ [vault]: "rw" })).email);
  return operationId === "redeemLogin" ? { code: await loginCode(browser(session)) } : { session, vault };
}

async function prepareItem({ vault, token }: World, { path }: Row): Promise<Record<string, string>> {
  const call = client(token);
  const items = `/v1/vaults/${vault}/items`;
  const body = { ...LOGIN, fields: [{ purpose: "PASSWORD", value: "secret" }] };
  const { id: item } = (await call("POST", items, { body })).body;
  const below = path.includes("{token}")
    ? (await call("POST", "/v1/tokens", { body: { name: "below", vaults: {} } })).body.id
    : "";
  const file = path.includes("/files") ? await upload(call, `${items}/${item}/files?name=f`) : "";
  if (path.includes("/versions"))
    await call("PATCH", `${items}/${item}`, { body: [{ op: "add", path: "/tags/-", value: "two" }] });
  if (path.includes("/unarchive")) await call("POST", `${items}/${item}/archive`);
  if (path.includes("deleted-items")) await call("DELETE", `${items}/${item}`);
  return { vault, item, file, version: "1", token: below };
}

async function upload(call: ReturnType<typeof client>, path: string): Promise<string> {
  const body = pattern(100);
  return (await call("POST", path, { body, headers: lengthOf(body) })).body.id;
}

/** An object of a backup. */
const OBJECT = `vaults/${crypto.randomUUID()}/00000001.manifest`;

export async function backedUpVault(): Promise<string> {
  const vault = await makeVault();
  await backUp(vault);
  return vault;
}

const addPerson = async (vaults = {}) => (await admin("POST", "/v1/admin/people", { body: { ...newPerson(), vaults } })).body;

/** The form that exchanges a new token of a new workload: other files of the isolate delete the issuers that they find. */
async function newForm(): Promise<string> {
  const key = await newSigningKey("ES256");
  const url = `https://${crypto.randomUUID()}.example.com`;
  await makeRule((await makeIssuer({ issuer: url, jwks: { keys: [key.jwk] } })).id, {});
  return formOf(await tokenOf(url, key));
}

/** A new job, or the one that is under way. */
const endedJob = async (): Promise<string> => {
  const { body, headers } = await admin("POST", JOBS, { body: { kind: "rewrap" } });
  const id = body.id ?? headers.get("Item-Vault-Job");
  await admin("GET", `${JOBS}/${id}?wait=30`);
  return id;
};

const newPerson = () => ({ email: `${crypto.randomUUID()}@example.com`, vaults: {} });

async function prepareAdmin({ path }: Row): Promise<Record<string, string>> {
  const vault = path.includes("{vault}") ? await makeVault() : "";
  const token = path.includes("{token}") ? (await makeToken({})).id : "";
  const person = path.includes("{person}") ? (await addPerson()).id : "";
  const job = path.includes("{job}") ? await endedJob() : "";
  const issuer = path.includes("{issuer}") || path.includes("/rules") ? (await makeIssuer()).id : "";
  const rule = path.includes("{rule}") ? (await makeRule(issuer, {})).id : "";
  const webhook = path.includes("{webhook}")
    ? (await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: newReceiver().url } })).body.id
    : "";
  if (path.endsWith("/object")) await env.BACKUPS.put(OBJECT, "object");
  const dataKey = path.includes("{vault}/keys") ? await dataKeyOf(vault) : "";
  return { vault, token, person, job, webhook, issuer, rule, dataKey };
}

const vaultPath = () => [1, 2, 3].map(() => crypto.randomUUID()).join("/");

interface Input {
  readonly env?: Partial<Env>;
  readonly body?: unknown;
  readonly query?: string;
}

/** What the successful requests have besides their paths. */
const INPUTS: Readonly<Record<string, (ids: Readonly<Record<string, string>>) => Input>> = {
  createItem: () => ({ body: { ...LOGIN, title: "Another" } }),
  replaceItem: ({ vault }) => ({ body: { ...LOGIN, vault: { id: vault }, tags: ["one"] } }),
  patchItem: () => ({ body: [{ op: "add", path: "/tags/-", value: "one" }] }),
  uploadFile: () => ({ body: pattern(200), query: "?name=g" }),
  replaceFileContent: () => ({ body: pattern(300) }),
  resolveReferences: ({ vault, item }) => ({ body: { references: [`op://${vault}/${item}/password`] } }),
  createVault: () => ({ body: { name: "New" } }),
  updateVault: () => ({ body: { name: "Other" } }),
  renewVaultKey: ({ dataKey }) => ({ body: { replaces: dataKey } }),
  createChildToken: ({ vault }) => ({ body: { name: "new", vaults: { [vault!]: "rwd" } } }),
  createToken: () => ({ body: { name: "new", vaults: {} } }),
  createIssuer: () => ({ body: { name: "new", issuer: `https://${crypto.randomUUID()}.example.com` } }),
  createRule: ({ issuer }) => ({ body: { issuer, claims: { job: "deploy" }, vaults: {} } }),
  testRule: ({ issuer }) => ({ body: { issuer, claims: { job: "deploy" }, vaults: {} } }),
  exchangeToken: ({ form }) => ({ body: form }),
  addPerson: () => ({ body: newPerson() }),
  changePerson: () => ({ body: { vaults: {} } }),
  createJob: () => ({ body: { kind: "rewrap" } }),
  createWebhook: () => ({ body: { url: newReceiver().url } }),
  getBackupObject: () => ({ query: `?key=${OBJECT}` }),
  putBackupObject: () => ({ query: `?key=contents/${vaultPath()}`, body: pattern(100) }),
  createAuthorization: () => ({ body: { redirect_uri: REDIRECT, code_challenge: "A".repeat(43) } }),
  createLoginCode: () => ({ body: { vaults: {} } }),
  redeemLogin: ({ code }) => ({ body: { code } }),
  beginSignIn: ({ provider }) => ({ env: { OIDC_ISSUER: provider!, OIDC_CLIENT_ID: "id", OIDC_CLIENT_SECRET: "secret" } }),
  signIn: ({ token }) => ({ body: { token } }),
  updateWebhook: () => ({ body: { rotateSecret: true } }),
};

function authenticationOf({ access }: Row, secret: string | undefined): Record<string, string> {
  if (access.by === "console" || access.by === "session") return { ...CONSOLE, Cookie: `${COOKIE}=${secret}` };
  return secret === undefined ? {} : { Authorization: `Bearer ${secret}` };
}

/** Sends the successful request of an operation, with changes. In: the token or secret; values of the path that are others. */
export function ask(
  row: Row,
  { ids, query, request }: Target,
  secret: string | undefined,
  changes: Request_ & { readonly ids?: Readonly<Record<string, string>>; readonly query?: string } = {},
): Promise<Reply> {
  const { ids: others, query: other = query, headers, env: bindings, ...rest } = changes;
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => others?.[name] ?? ids[name]!);
  const all = {
    ...authenticationOf(row, secret),
    ...(request.headers as Record<string, string>),
    ...(headers as Record<string, string>),
  };
  return send(row.method.toUpperCase(), path + other, {
    ...request,
    ...rest,
    env: { ...request.env, ...bindings },
    headers: all,
  });
}
