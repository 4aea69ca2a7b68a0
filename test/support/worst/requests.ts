import type { Operation } from "../../../src/api/operation.ts";
import { type OperationId, OPERATIONS } from "../../../src/api/operations.ts";
import { KEYS_MAX } from "../../../src/crypto/key-list.ts";
import { NOWHERE } from "../../../src/crypto/seal.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { personSession } from "../person-session.ts";
import { seedFiles } from "../seed-files.ts";
import { seedPeople } from "../seed-people.ts";
import { login, seedItems } from "../seed.ts";
import { formOf } from "../workload-tokens.ts";
import { emptyItem, largeItem, manyFields, manyOperations, times } from "./bodies.ts";
import { cookieOf, sessionsOf } from "./sessions.ts";
import { largestIssuer } from "./workloads.ts";
import * as worlds from "./world.ts";
import type { Sent, World } from "./world.ts";

/**
 * The worst legal requests of every operation: those that cost the service most. docs/limits.md shows what they cost. Method, path,
 * credential and Idempotency-Key follow from the row of the operation in src/api/operations.ts.
 */

/** Why a list reads every row: it is sent while it is read. */
export const STREAMED = "streamed";

interface Bounds {
  /** Why the rows that it reads in D1 are not bounded. Without `STREAMED`, the state of the tests is so small that the bound holds. */
  readonly reads?: string;
  /** Why it stores more than 4 × its body and 4 KiB. */
  readonly stores?: string;
}

export interface WorstRequest extends Bounds {
  /** Method and path, as in the table of routes. */
  readonly endpoint: string;
  /** What makes it expensive. */
  readonly why: string;
  /** Creates the state. Returns the request. */
  readonly prepare: (world: World) => Promise<Sent>;
}

/** What a request has that does not follow from its operation and its state. */
interface Rest extends Partial<Omit<Sent, "path">> {
  /** Values of the parameters in its path. Those that are absent are attributes of the state. */
  readonly in?: Readonly<Record<string, string | number>>;
  readonly query?: string;
}

/** A request of an operation. The state has the parameters of the path, and the token of who may send it. */
interface Worst extends Bounds {
  readonly why: string;
  readonly prepare: (world: World) => Promise<{ readonly state: { readonly token?: string }; readonly rest: Rest }>;
}

function worst<State>(
  why: string,
  make: (world: World) => Promise<State>,
  rest: Rest | ((state: State, world: World) => Rest | Promise<Rest>) = {},
  bounds: Bounds = {},
): Worst {
  const prepare = async (world: World) => {
    const state = await make(world);
    return { state: { ...(state as object) }, rest: await (typeof rest === "function" ? rest(state, world) : rest) };
  };
  return { why, prepare, ...bounds };
}

const nothing = async (): Promise<object> => ({});

/** For requests that only read the state, or that come last. */
const shared =
  <State>(make: (world: World) => Promise<State>) =>
  (world: World): Promise<State> =>
    worlds.shareIn(world, make);

const filter = (text: string) => `filter=${encodeURIComponent(text)}`;
const contentIn = ({ sizes }: World) => new Uint8Array(sizes.content).fill(7);

const withLargeItem = (world: World) => worlds.vaultWithItem(world, largeItem());
const withContents = (sizes: readonly number[]) => (world: World) => worlds.vaultWithContents(world, sizes);
const withLargestContent = (world: World) => worlds.vaultWithContents(world, [world.sizes.content]);

const NAMES = times(10, (index) => `Item ${index}`);

/** `tokenOfManyVaults`, each with an Item of the title `Same`, and with one of each of the names. */
async function tokenOfNamedItems(world: World) {
  const made = await worlds.shareIn(world, worlds.tokenOfManyVaults);
  for (const vault of made.vaults)
    await seedItems(
      world.env,
      vault,
      ["Same", ...NAMES].map((name) => login(vault, name)),
    );
  return made;
}

const referring = (references: readonly string[]): Rest => ({ body: { references } });

/** A vault with Items, and the references to a part of each. */
async function vaultWithReferences(world: World, count: number, body: object, refer: (path: string) => string[]) {
  const own = await worlds.ownVault(world);
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push((await world.ask("POST", own.items, own.token, body)).id);
  return { ...own, ids, references: ids.flatMap((id) => refer(`op://${own.vault}/${id}`)) };
}

async function vaultWithReferredFiles(world: World) {
  const names = times(50, (index) => `file ${index}?attribute=label`);
  const made = await vaultWithReferences(world, 2, { title: "Files", category: "DOCUMENT" }, (path) =>
    names.map((name) => `${path}/${name}`),
  );
  const files = times(1_000, (index) => ({ name: `file ${index}` }));
  for (const id of made.ids) await seedFiles(world.env, made.vault, id, files);
  return made;
}

const wideScope = () => Object.fromEntries(times(LIMITS.tokenVaults, () => [crypto.randomUUID(), "rw" as const]));
const wideBody = () => ({ name: "x".repeat(LIMITS.title), vaults: wideScope() });

const wideToken = ({ ask, env }: World): Promise<{ id: string; token: string }> =>
  ask("POST", worlds.ADMIN_TOKENS, env.ADMIN_TOKEN, wideBody());

/** A token of 100 vaults with as many tokens below it as there may be, but one, and the last of them. All have its vaults. */
async function wideFamily({ ask, env }: World) {
  const body = { ...wideBody(), delegate: true };
  const { id, token } = await ask("POST", worlds.ADMIN_TOKENS, env.ADMIN_TOKEN, body);
  let last = "";
  for (let count = 1; count < LIMITS.tokenDescendants; count++) last = (await ask("POST", "/v1/tokens", token, body)).id;
  return { id: id as string, token: token as string, last, body };
}

const PEOPLE = "/v1/admin/people";

/** As many people as there may be, but one. */
async function allPeople({ ask, env }: World): Promise<{ person: string; vaults: object }> {
  const vaults = wideScope();
  // `npm run limits` makes them anew for each request.
  await env.DB.prepare("DELETE FROM tokens WHERE kind = 'person'").run();
  await seedPeople(env, LIMITS.people - 2, vaults);
  const { id } = await ask("POST", PEOPLE, env.ADMIN_TOKEN, { email: `${"x".repeat(242)}@example.com`, vaults });
  return { person: id, vaults };
}

const JOBS = "/v1/admin/jobs";

async function endedJob({ ask, env }: World, job: object = { kind: "rewrap" }): Promise<{ job: string }> {
  // One that an earlier request has started may exclude it.
  const jobs = (await ask("GET", JOBS, env.ADMIN_TOKEN)) as readonly { id: string; endedAt?: string }[];
  for (const { id, endedAt } of jobs) if (endedAt === undefined) await ask("GET", `${JOBS}/${id}?wait=30`, env.ADMIN_TOKEN);
  const { id } = await ask("POST", JOBS, env.ADMIN_TOKEN, job);
  await ask("GET", `${JOBS}/${id}?wait=30`, env.ADMIN_TOKEN);
  return { job: id };
}

const anEndedJob = (world: World) => endedJob(world);

async function backedUpVault(world: World) {
  const own = await worlds.ownVault(world);
  await endedJob(world, { kind: "backup", vault: own.vault });
  return own;
}

async function repeat(count: number, make: () => Promise<unknown>): Promise<object> {
  for (let made = 0; made < count; made++) await make();
  return {};
}

/** A vault with as many keys as it may have, but one. */
async function vaultWithKeys(world: World) {
  const own = await worlds.ownVault(world);
  const path = `${worlds.ADMIN_VAULTS}/${own.vault}/keys`;
  const vaults: { id: string; dataKey: { id: string } }[] = await world.ask("GET", worlds.ADMIN_VAULTS, world.env.ADMIN_TOKEN);
  let replaces = vaults.find(({ id }) => id === own.vault)!.dataKey.id;
  for (let n = 2; n < KEYS_MAX; n++) replaces = (await world.ask("POST", path, world.env.ADMIN_TOKEN, { replaces })).dataKey.id;
  return { ...own, replaces };
}

const longestUrl = (origin: string): string => `${origin}/${"x".repeat(LIMITS.webhookUrl)}`.slice(0, LIMITS.webhookUrl);
const LONGEST_URL = longestUrl("https://hooks.example.com");

/** A vault with so many webhooks, and the last of them. */
async function vaultWithWebhooks(world: World, count: number, url = LONGEST_URL) {
  const { vault } = await worlds.ownVault(world);
  const path = `${worlds.ADMIN_VAULTS}/${vault}/webhooks`;
  let webhook = "";
  for (let n = 0; n < count; n++)
    webhook = (await world.ask("POST", path, world.env.ADMIN_TOKEN, { url, enabled: false })).id as string;
  return { vault, webhook, path: `${path}/${webhook}` };
}

const fullWebhooks = (world: World) => vaultWithWebhooks(world, LIMITS.webhooks);

/** A vault with a webhook whose receiver is there, where the world has one. */
const reachableWebhook = (world: World) => {
  const { WEBHOOK_TEST_ORIGIN: origin } = world.env;
  return vaultWithWebhooks(world, 1, origin ? longestUrl(origin) : LONGEST_URL);
};

/** The headers of a session of a token. */
const sessionOf = async (world: World, token: string) => cookieOf((await sessionsOf(world, token, 1))[0]!);
const wideSession = async (world: World) => sessionOf(world, (await wideToken(world)).token);

/** The headers of a session of a person with 100 vaults. */
async function personHeaders({ ask, env }: World): Promise<{ headers: Record<string, string> }> {
  const email = `${crypto.randomUUID()}@example.com`;
  await env.DB.prepare("DELETE FROM tokens WHERE kind = 'person'").run();
  await ask("POST", PEOPLE, env.ADMIN_TOKEN, { email, vaults: wideScope() });
  return { headers: cookieOf(await personSession(env, email)) };
}

const VERIFIER = "A".repeat(43);
const CHALLENGE = "DwBzhbb51LfusnSGBa_hqYSgo7-j8BTQnip4TOnlzRo";
const AUTHORIZATION = { redirect_uri: "http://127.0.0.1:49152/", code_challenge: CHALLENGE };

const KEPT: Bounds = { stores: "the version before it is kept" };
const CLAIMS: Bounds = { stores: "the claims of the token are sealed in the row, and the index by token gets an entry" };
const OF_PERSON: Bounds = { stores: "the claims of the person are sealed in the row" };

const tokenIn = ({ id }: { readonly id: string }): Rest => ({ in: { token: id } });
const withMetricsToken = (_: object, { env }: World): Rest => ({ token: env.METRICS_TOKEN });
const adminEntries = (world: World) => worlds.fillLogs(world, [NOWHERE], [1_200]);

/** In the order in which they are sent: what destroys a state that others read comes after them. */
const WORST: Partial<Readonly<Record<OperationId, readonly Worst[]>>> = {
  listItems: [
    worst("a whole large vault", shared(worlds.largeVault), {}, { reads: STREAMED }),
    worst("a page with a filter that no Item matches", shared(worlds.largeVault), {
      query: `limit=1000&${filter('title co "nothing"')}`,
    }),
  ],
  getItem: [worst("an Item of 512 KiB", withLargeItem), worst("an Item with 1,000 Files", shared(worlds.vaultWithFiles))],
  listFiles: [
    worst("contents of 1 MiB together", withContents(times(16, () => LIMITS.inlined / 16)), { query: "inline_files=true" }),
    worst("1,000 Files", shared(worlds.vaultWithFiles)),
  ],
  getFile: [worst("a content of 100 KiB", withContents([100 * 1024]), { query: "inline_files=true" })],
  getFileContent: [worst("the largest content", withLargestContent)],
  listVaults: [worst("a token of 100 vaults", shared(worlds.tokenOfManyVaults))],
  getOwnToken: [worst("a token of 100 vaults", shared(wideToken))],
  listEvents: [worst("1,000 events", worlds.vaultWithEvents, { query: "limit=1000" })],
  streamAllEvents: [worst("the oldest events of 100 vaults", shared(worlds.tokenOfManyVaults), { query: "after=0" })],
  listActivity: [
    worst("1,000 entries of 100 vaults, whose reads of 100 Items came alone", shared(worlds.tokenOfFullLogs), {
      query: "limit=1000",
    }),
    worst("1,000 entries of 100 vaults, whose reads came one by one", shared(worlds.tokenOfShortSegments), {
      query: "limit=1000",
    }),
    worst("a filter that no entry of 100 vaults matches", shared(worlds.tokenOfFullLogs), { query: "limit=1&action=DELETE" }),
    worst("the same, and the reads in these logs came one by one", shared(worlds.tokenOfShortSegments), {
      query: "limit=1&action=DELETE",
    }),
  ],

  resolveReferences: [
    worst("100 references by name to 100 vaults", shared(tokenOfNamedItems), ({ vaults }) =>
      referring(vaults.map((_, index) => `op://VAULT ${index}/same/x`)),
    ),
    worst(
      "10 references by name to each of 100 vaults that have such an Item",
      shared(tokenOfNamedItems),
      async ({ token }, { ask }) => {
        await ask("POST", "/v1/resolve", token, { references: ["op://vault 0/item 0/x"] });
        return referring(NAMES.map((name) => `op://vault 99/${name}/x`));
      },
    ),
    worst(
      "100 Items of 512 KiB",
      (world) => vaultWithReferences(world, world.sizes.references, largeItem(), (path) => [`${path}/f999`]),
      ({ references }) => referring(references),
    ),
    worst("the Files of Items with 2,000 Files together", vaultWithReferredFiles, ({ references }) => referring(references)),
  ],

  createItem: [
    worst("an Item of 512 KiB with 1,000 fields, 64 of them generated", worlds.ownVault, () => ({ body: largeItem() })),
    worst(
      "1,000 fields without any attribute",
      worlds.ownVault,
      { body: { ...emptyItem, fields: times(LIMITS.list, () => ({})) } },
      { stores: "each field gets an id of 26 characters" },
    ),
  ],
  replaceItem: [
    worst(
      "an Item of 512 KiB with 1,000 fields, 64 of them generated",
      (world) => worlds.vaultWithItem(world, emptyItem),
      ({ vault }) => ({ body: largeItem(vault) }),
    ),
  ],
  patchItem: [
    worst("1,000 operations on 1,000 fields, 64 of which generate a value", (world) => worlds.vaultWithItem(world, manyFields), {
      body: manyOperations,
    }),
    worst(
      "50 bytes on an Item of 512 KiB, with an Idempotency-Key",
      withLargeItem,
      { body: [{ op: "replace", path: "/favorite", value: true }] },
      KEPT,
    ),
  ],
  deleteItem: [worst("an Item with 1,000 Files", worlds.vaultWithFiles)],
  uploadFile: [
    worst("the largest content, of an Item with 998 Files", worlds.vaultWithFiles, async ({ path, token }, world) => {
      const files = (await world.ask("GET", `${path}/files`, token)) as { id: string }[];
      for (const { id } of files.slice(0, 2)) await world.ask("DELETE", `${path}/files/${id}`, token);
      return { query: "name=f", body: contentIn(world) };
    }),
  ],
  replaceFileContent: [worst("the largest content", withContents([10]), (_, world) => ({ body: contentIn(world) }))],
  deleteFile: [
    worst("one of 1,000 Files", worlds.vaultWithFiles, async ({ path, token }, { ask }) => {
      const [first] = (await ask("GET", `${path}/files`, token)) as { id: string }[];
      return { in: { file: first!.id } };
    }),
  ],

  archiveItem: [worst("an Item of 512 KiB", withLargeItem, {}, KEPT)],
  unarchiveItem: [
    worst(
      "an Item of 512 KiB",
      withLargeItem,
      async ({ path, token }, { ask }) => {
        await ask("POST", `${path}/archive`, token);
        return {};
      },
      KEPT,
    ),
  ],
  listVersions: [worst("100 earlier versions with large tags", worlds.vaultWithVersions)],
  getVersion: [worst("1,000 Files that only this version has", shared(worlds.vaultWithEndedFiles), { in: { version: 1 } })],
  restoreVersion: [
    worst(
      "1,000 Files that only this version has",
      worlds.vaultWithEndedFiles,
      { in: { version: 1 } },
      { stores: "each File gets a row again" },
    ),
  ],
  destroyVersion: [worst("1,000 Files that only this version has", shared(worlds.vaultWithEndedFiles), { in: { version: 1 } })],
  listDeletedItems: [worst("1,000 deleted Items", worlds.vaultWithDeleted, { query: "limit=1000" })],
  getDeletedItem: [worst("1,000 Files", shared(worlds.vaultWithDeletedFiles))],
  getDeletedFileContent: [
    worst("the largest content", (world) => worlds.vaultWithDeletedFiles(world, () => withLargestContent(world))),
  ],
  restoreDeletedItem: [worst("1,000 Files", worlds.vaultWithDeletedFiles)],
  destroyDeletedItem: [worst("1,000 Files", shared(worlds.vaultWithDeletedFiles))],

  putBackupObject: [
    worst("the largest content", nothing, (_, { sizes }) => ({
      query: `key=${["contents", ...times(3, () => crypto.randomUUID())].join("/")}`,
      body: new Uint8Array(sizes.content),
    })),
  ],
  listAllVaults: [worst("all vaults", (world) => worlds.manyVaults(world, world.sizes.vaults))],
  createVault: [worst("the longest description", nothing, { body: { name: "v", description: "x".repeat(LIMITS.string) } })],
  updateVault: [worst("the longest description", worlds.ownVault, { body: { description: "x".repeat(LIMITS.string) } })],
  renewVaultKey: [worst("the longest list of keys", vaultWithKeys, ({ replaces }) => ({ body: { replaces } }))],
  listTokens: [worst("all tokens", nothing)],
  createToken: [worst("100 vaults and the longest name", nothing, () => ({ body: wideBody(), headers: {} }))],
  getToken: [worst("a token of 100 vaults", shared(wideToken), tokenIn)],
  revokeToken: [
    worst("a token of 100 vaults, with 99 below it", wideFamily, tokenIn, {
      stores: "the names of the tokens, which stay, and an entry of the log for each",
    }),
  ],
  listChildTokens: [worst("99 tokens of 100 vaults", shared(wideFamily))],
  createChildToken: [worst("100 vaults and the longest name, beside 99 tokens", wideFamily, ({ body }) => ({ body }))],
  revokeChildToken: [worst("one of 99 tokens", wideFamily, ({ last }) => ({ in: { token: last } }))],
  listWebhooks: [worst("10 webhooks with the longest URLs", shared(fullWebhooks))],
  createWebhook: [
    worst("the tenth one, with the longest URL", (world) => vaultWithWebhooks(world, LIMITS.webhooks - 1), {
      body: { url: LONGEST_URL },
    }),
  ],
  getWebhook: [worst("one of 10 with the longest URLs", shared(fullWebhooks))],
  updateWebhook: [
    worst("another URL and another secret", shared(fullWebhooks), {
      body: { url: `${LONGEST_URL.slice(0, -1)}y`, rotateSecret: true },
    }),
  ],
  testWebhook: [worst("one with the longest URL", reachableWebhook)],
  listDeliveries: [
    worst("20 attempts", reachableWebhook, ({ path }, { ask, env }) =>
      repeat(20, () => ask("POST", `${path}/test`, env.ADMIN_TOKEN)),
    ),
  ],
  deleteWebhook: [worst("one of 10 with the longest URLs", shared(fullWebhooks))],
  listPeople: [worst("1,000 people with 100 vaults each", shared(allPeople))],
  addPerson: [
    worst("100 vaults, beside 999 people", shared(allPeople), ({ vaults }) => ({
      body: { email: `${"y".repeat(242)}@example.com`, vaults },
    })),
  ],
  getPerson: [worst("100 vaults", shared(allPeople))],
  changePerson: [worst("100 vaults", shared(allPeople), ({ vaults }) => ({ body: { vaults } }))],
  removePerson: [worst("one of 1,000 people", shared(allPeople))],
  listIssuers: [worst("an issuer with 100 keys", shared(largestIssuer))],
  createIssuer: [
    worst(
      "100 keys",
      shared(largestIssuer),
      ({ jwks }) => ({ body: { name: "x".repeat(LIMITS.title), issuer: `https://${crypto.randomUUID()}.example.com`, jwks } }),
      { stores: "the keys are kept sealed, in base64, and the index and the entry of the log beside them" },
    ),
  ],
  getIssuer: [worst("100 keys", shared(largestIssuer))],
  deleteIssuer: [
    worst("99 rules", largestIssuer, {}, { stores: "the names of the rules, which stay, and an entry of the log for each" }),
  ],
  listRules: [worst("99 rules of 100 vaults with 32 claims", shared(largestIssuer))],
  createRule: [worst("100 vaults and 32 claims, beside 99 rules", largestIssuer, ({ body }) => ({ body }))],
  testRule: [
    worst("50 tokens of 16 KiB, with 32 claims", largestIssuer, async ({ body, signed }, { ask }) => {
      await repeat(LIMITS.pastExchanges, async () =>
        ask("POST", "/v1/token-exchange", "", formOf(await signed())).catch(() => undefined),
      );
      return { body };
    }),
  ],
  getRule: [worst("100 vaults and 32 claims", shared(largestIssuer))],
  deleteRule: [worst("one of 99 rules", largestIssuer)],
  getAdminHealth: [worst("", nothing)],
  listKeys: [worst("the only root key", nothing)],
  listJobs: [worst("a page of 50 jobs", (world) => repeat(50, () => endedJob(world)))],
  createJob: [
    worst("nothing is under another root key", nothing, { body: { kind: "rewrap" } }),
    worst(
      "a restore, with its checks",
      (world) => worlds.largeVault(world, 100),
      async ({ vault }, { ask, env }) => {
        const { id } = await ask("POST", JOBS, env.ADMIN_TOKEN, { kind: "backup", vault });
        await ask("GET", `${JOBS}/${id}?wait=30`, env.ADMIN_TOKEN);
        return { body: { kind: "restore", vault, dryRun: true }, headers: { "Idempotency-Key": vault } };
      },
    ),
  ],
  getJob: [worst("one that has ended", anEndedJob, { query: "wait=30" })],
  stopJob: [worst("one that has ended", anEndedJob)],
  listJobFindings: [worst("one without findings", anEndedJob)],
  listBackups: [worst("one registry", nothing)],
  listBackedUpVaults: [worst("a page of 20 vaults", (world) => repeat(20, () => backedUpVault(world)))],
  listVaultBackups: [worst("one snapshot", shared(worlds.largeVault))],
  listBackupObjects: [worst("the objects of a vault", nothing)],
  getBackupObject: [worst("a manifest", backedUpVault, ({ vault }) => ({ query: `key=vaults/${vault}/00000001.manifest` }))],
  listTokenActivity: [
    worst("a token of 100 vaults without an entry in their logs", shared(worlds.tokenOfFullLogs), (made) => ({
      ...tokenIn(made),
      query: "limit=1000",
    })),
    worst("the same, and the reads in these logs came one by one", shared(worlds.tokenOfShortSegments), (made) => ({
      ...tokenIn(made),
      query: "limit=1",
    })),
  ],
  listAdminActivity: [worst("1,000 entries", adminEntries, { query: "limit=1000" })],
  exportActivity: [worst("1,000 entries", adminEntries, { query: "limit=1000" }, { reads: "3 for each log" })],

  listActors: [
    worst("2,500 writes", worlds.vaultWithEvents, async ({ token }, world) => ({ headers: await sessionOf(world, token) })),
    worst("an Item with 100 earlier versions with large tags", worlds.vaultWithVersions, async ({ item, token }, world) => ({
      query: `item=${item}`,
      headers: await sessionOf(world, token),
    })),
  ],
  createSignInCode: [worst("a token of 100 vaults", wideToken, {}, CLAIMS)],
  createAdminSignInCode: [worst("", nothing)],
  getSession: [worst("a token of 100 vaults", nothing, async (_, world) => ({ headers: await wideSession(world) }))],
  signIn: [
    worst(
      "the admin signs in, with the session of a token of 100 vaults",
      nothing,
      async (_, world) => ({ headers: await wideSession(world), body: { token: world.env.ADMIN_TOKEN } }),
      CLAIMS,
    ),
  ],
  signOut: [worst("a token of 100 vaults", nothing, async (_, world) => ({ headers: await wideSession(world) }))],

  createAuthorization: [
    worst("a person with 100 vaults", personHeaders, ({ headers }) => ({ headers, body: AUTHORIZATION }), OF_PERSON),
  ],
  createLoginCode: [
    worst("a person with 100 vaults", personHeaders, ({ headers }) => ({ headers, body: { vaults: {} } }), OF_PERSON),
  ],
  redeemLogin: [
    worst(
      "the code of a person with 100 vaults",
      personHeaders,
      async ({ headers }, { ask }) => {
        const { code } = await ask("POST", "/console/authorizations", "", AUTHORIZATION, headers);
        return { body: { code, code_verifier: VERIFIER } };
      },
      OF_PERSON,
    ),
  ],

  getHeartbeat: [worst("", nothing, withMetricsToken)],
  getHealth: [worst("", nothing, withMetricsToken)],
  getMetrics: [worst("", nothing, withMetricsToken)],
  exchangeToken: [
    worst(
      "one of 99 rules of 100 vaults with 32 claims",
      shared(largestIssuer),
      async ({ signed }) => ({ body: formOf(await signed({ claim0: "rule 7" })) }),
      { stores: "the row of a token of 100 vaults, and the claims of the workload's token" },
    ),
  ],

  // The last one, because the alarm of the coordinator deletes the rows of the vault after the answer.
  deleteVault: [worst("a large vault", shared(worlds.largeVault), { headers: {} })],
};

const endpointOf = ({ method, path }: Operation) => `${method} ${path}`;

function requestOf(operation: Operation, { prepare, ...rest }: Worst): WorstRequest {
  const isAdmin = operation.access.by === "admin";
  return {
    ...rest,
    endpoint: endpointOf(operation),
    prepare: async (world) => {
      const made = await prepare(world);
      const { in: given, query, ...sent } = made.rest;
      const values = { ...made.state, ...given } as Readonly<Record<string, string>>;
      const path = operation.path.replaceAll(/:(\w+)/g, (_, name: string) => String(values[name]));
      const token = isAdmin ? world.env.ADMIN_TOKEN : operation.access.by === "token" ? made.state.token : undefined;
      const headers = "idempotent" in operation ? { "Idempotency-Key": "worst" } : undefined;
      return { token, headers, ...sent, path: query === undefined ? path : `${path}?${query}` };
    },
  };
}

/** The other operations that read one vault and nothing but its path. */
const isPlainRead = ([id, { method, path, access }]: readonly [string, Operation]): boolean =>
  method === "GET" && access.by === "token" && /^[^:]*:vault[^:]*$/.test(path) && !(id in WORST);

export const WORST_REQUESTS: readonly WorstRequest[] = [
  ...(Object.entries(WORST) as [OperationId, readonly Worst[]][]).flatMap(([id, all]) =>
    all.map((one) => requestOf(OPERATIONS[id], one)),
  ),
  ...Object.entries(OPERATIONS)
    .filter(isPlainRead)
    .map(([, operation]) =>
      requestOf(
        operation,
        worst("a large vault", (world) => worlds.largeVault(world, 100)),
      ),
    ),
];
