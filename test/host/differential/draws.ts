import { createHash } from "node:crypto";
import { OPERATIONS, type OperationId } from "../../../src/api/operations.ts";
import { newChildToken, newExchange, newIssuer, newItem, newPatch, newReference, newScope, newToken, TITLES } from "./bodies.ts";
import { SECRETS } from "./pair.ts";
import type { Ids, World } from "./world.ts";

/** What a random request of each operation has besides its path and its caller. */

interface Input {
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

type Draw = (w: World, ids: Ids) => Input;

const query = (parameters: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${name}=${encodeURIComponent(String(value)).replaceAll("%E2%9F%A6", "⟦").replaceAll("%E2%9F%A7", "⟧").replaceAll("%3A", ":")}`,
    )
    .join("&");

const page: Draw = (w) => ({ query: query({ limit: w.pick([undefined, 1, 2, 50, 1000, 0, 1001, "x"]) }) });

const filters = (w: World): string =>
  w.pick([
    `title eq "${w.pick(TITLES)}"`,
    `title co "o"`,
    `tag eq "prod" and category eq "login"`,
    "favorite eq true",
    `id eq "${w.one("item")}" or id eq "${w.one("item")}"`,
    `title eq 'x'`,
    "nothing",
  ]);

const activity: Draw = (w) => ({
  query: w.pick([
    query({ limit: w.pick([undefined, 3, 100, 1000]) }),
    query({ limit: 20, action: w.pick(["READ", "UPDATE", "DELETE", "NOPE"]) }),
    query({ limit: 20, result: "DENY" }),
    query({ limit: 5, vault: w.one("vault") }),
    query({ limit: 5, item: w.one("item") }),
    query({ before: w.pick(["x", w.uuid()]), limit: 5 }),
    query({ limit: w.pick([0, 1001]) }),
    query({ offset: 3, limit: 2 }),
  ]),
});

const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7 + (at >> 8)) & 255));

/** The content of a File. */
const content: Draw = (w) => {
  const body = BYTES.subarray(w.int(100), 100 + w.pick([0, 1, 1_000, 65_536, 69_000]));
  const digest = createHash("sha256")
    .update(w.chance(0.8) ? body : "other")
    .digest("base64");
  return {
    body,
    query: query({ name: w.pick([undefined, "file.txt", "日本", "a/b", ""]), section: w.chance(0.2) ? "s" : undefined }),
    headers: {
      ...(w.chance(0.3) && {
        "Content-Disposition": w.pick(['attachment; filename="x.txt"', "attachment; filename*=UTF-8''%E6%97%A5", "x;;"]),
      }),
      ...(w.chance(0.3) && { "Content-Digest": w.pick([`sha-256=:${digest}:`, "md5=:x:", "x"]) }),
      ...(w.chance(0.05) && { "Content-Type": "multipart/form-data; boundary=x" }),
      ...(w.chance(0.2) && { "Transfer-Encoding": "chunked" }),
    },
  };
};

const download: Draw = (w) => ({
  query: query({ version: w.chance(0.1) ? w.pick([1, 2, 0, "x"]) : undefined }),
  headers: {
    ...(w.chance(0.5) && {
      Range: w.pick(["bytes=0-0", "bytes=10-", "bytes=-5", "bytes=99999999-", "bytes=-0", "bytes=0-1,3-4", "x"]),
    }),
    ...(w.chance(0.1) && { "If-Range": w.pick(['"x"', w.one("tag")]) }),
  },
});

const inline: Draw = (w) => ({ query: query({ inline_files: w.pick([undefined, "true", "T", "0", "maybe"]) }) });

const job: Draw = (w) => ({
  body: w.pick([
    { kind: "rewrap" },
    { kind: "verify", quick: w.chance(0.5) },
    { kind: "verify", vault: w.one("vault"), repair: true },
    { kind: "verify", backup: true },
    { kind: "backup" },
    { kind: "backup", vault: w.one("vault"), full: w.chance(0.3) },
    { kind: "restore", vault: w.one("vault"), dryRun: w.chance(0.6), overwrite: w.chance(0.5) },
    { kind: "restore", ...w.place("item"), overwrite: w.chance(0.5) },
    { kind: "nope" },
    {},
  ]),
});

const rule: Draw = (w) => ({
  body: {
    name: `rule ${w.next()}`,
    issuer: w.one("issuer"),
    claims: w.pick([{ job: "deploy" }, { job: "deploy" }, { job: "deploy", ref: "main" }, { sub: "x" }, {}]),
    vaults: newScope(w),
    ...(w.chance(0.3) && { lifetime: w.pick([60, 3_600, 3_601]) }),
    ...(w.chance(0.2) && { dialect: "connect" }),
  },
});

const STREAM = { headers: { Accept: "text/event-stream" } };

/** Nothing waits for events, because an answer to such a request would depend on time. */
const events: Draw = (w, { vault = "" }) => ({
  query: query({
    after: w.pick(["0", "0", "latest", "x", "999-z", w.one("cursor", { vault })]),
    limit: w.pick([undefined, 1, 1000, 0]),
    wait: 0,
  }),
  ...(w.chance(0.2) && STREAM),
});

const nothing: Draw = () => ({});

type Weighted = readonly [weight: number, draw: Draw];

/** Of an operation without a row: its path alone. */
const PLAIN: Weighted = [3, nothing];

/** How operations are asked. `weight`: how often. */
const ROWS: Readonly<Partial<Record<OperationId, Weighted>>> = {
  createChildToken: [4, (w) => ({ body: w.chance(0.2) ? newToken(w) : newChildToken(w) })],
  resolveReferences: [15, (w) => ({ body: { references: Array.from({ length: w.int(5) }, () => newReference(w)) } })],
  listVaults: [
    5,
    (w) => ({ query: query({ filter: w.pick([undefined, 'name eq "Vault 1"', `title eq "${w.one("vault")}"`, "x"]) }) }),
  ],
  getVault: [8, nothing],
  listActors: [2, (w, { vault = "" }) => ({ query: query({ item: w.pick([undefined, w.one("item", { vault }), "x"]) }) })],
  listActivity: [8, activity],
  listItems: [
    30,
    (w) => ({
      query: query({
        filter: w.chance(0.4) ? filters(w) : undefined,
        limit: w.chance(0.3) ? w.pick([1, 3, 1000, 0, "x"]) : undefined,
        archived: w.chance(0.2) ? w.pick(["true", "true", "0", "maybe"]) : undefined,
        include: w.chance(0.2) ? w.pick(["username", "username", "x"]) : undefined,
        cursor: w.chance(0.03) ? "x" : undefined,
      }),
    }),
  ],
  createItem: [
    40,
    (w, { vault = "" }) => ({
      body: newItem(w, vault),
      headers: w.chance(0.6) ? { "Item-Id": w.chance(0.1) ? w.one("item") : w.uuid() } : {},
    }),
  ],
  getItem: [40, nothing],
  replaceItem: [20, (w, { vault = "" }) => ({ body: newItem(w, vault) })],
  patchItem: [45, (w) => ({ body: newPatch(w) })],
  deleteItem: [8, nothing],
  archiveItem: [5, nothing],
  listFiles: [8, inline],
  uploadFile: [14, content],
  getFile: [6, inline],
  getFileContent: [16, download],
  replaceFileContent: [6, content],
  listVersions: [10, page],
  getVersion: [10, nothing],
  restoreVersion: [6, nothing],
  destroyVersion: [5, nothing],
  listDeletedItems: [6, page],
  getDeletedItem: [6, nothing],
  restoreDeletedItem: [6, nothing],
  getDeletedFileContent: [4, download],
  listEvents: [12, events],
  streamAllEvents: [4, (w) => ({ query: query({ after: w.pick(["0", "latest", "x"]), wait: 0 }), ...(w.chance(0.3) && STREAM) })],
  listAllVaults: [6, nothing],
  createVault: [
    1.5,
    (w) => ({
      body: {
        name: w.chance(0.9) ? `Vault ${w.next()}` : w.pick(["Vault 1", "", "x".repeat(1_025)]),
        ...(w.chance(0.5) && { description: w.pick(["日本", ""]) }),
        ...(w.chance(0.2) && { quota: w.pick([{ items: 6 }, { bytes: 20_000 }, { fileBytes: 100_000 }, { items: -1 }]) }),
      },
    }),
  ],
  updateVault: [
    5,
    (w) => ({ body: w.pick([{ name: `Vault ${w.next()}` }, { description: "other" }, { quota: { items: 50 } }, {}, { x: 1 }]) }),
  ],
  renewVaultKey: [1, (w) => ({ body: w.pick([{ replaces: w.one("dataKey") }, {}]) })],
  deleteVault: [0.3, nothing],
  createToken: [8, (w) => ({ body: w.chance(0.06) ? { name: `copy ${w.next()}`, backupsOnly: true } : newToken(w) })],
  listTokenActivity: [4, activity],
  revokeToken: [1, nothing],
  listAdminActivity: [5, activity],
  // Of one vault: the order of several logs is that of random ids. The end of the test compares all.
  exportActivity: [
    4,
    (w) => ({
      query: query({
        limit: w.pick([undefined, 5, 1000, 0]),
        vault: w.one("vault"),
        since: w.pick([undefined, undefined, "2026-01-01T00:00:00Z", "x"]),
      }),
    }),
  ],
  listJobs: [3, page],
  createJob: [3, job],
  getJob: [3, (w) => ({ query: query({ wait: w.pick([undefined, 0, 31]) }) })],
  stopJob: [1, nothing],
  addPerson: [
    3,
    (w) => ({
      body: {
        email: w.pick([`p${w.next()}@example.com`, "P1@Example.com ", "x"]),
        vaults: newScope(w),
        ...(w.chance(0.2) && { admin: true }),
      },
    }),
  ],
  changePerson: [2, (w) => ({ body: { vaults: newScope(w), ...(w.chance(0.1) && { email: "x@example.com" }) } })],
  removePerson: [0.5, nothing],
  createIssuer: [2, (w) => ({ body: newIssuer(w) })],
  deleteIssuer: [0.3, nothing],
  createRule: [5, rule],
  testRule: [2, rule],
  deleteRule: [0.3, nothing],
  exchangeToken: [
    4,
    (w) => ({
      body: w.chance(0.9) ? newExchange(w) : w.pick(["", "grant_type=x", "a=1&a=2", "%"]),
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    }),
  ],
  createWebhook: [
    3,
    (w) => ({
      body: {
        url: w.chance(0.8) ? `{receiver}/hook/${w.next()}` : w.pick(["https://10.0.0.1/", "x", "https://example.com:444/"]),
        ...(w.chance(0.1) && { enabled: false }),
      },
    }),
  ],
  updateWebhook: [
    4,
    (w) => ({
      body: w.pick([
        { enabled: false },
        { enabled: true },
        { rotateSecret: true },
        { resume: "latest" },
        { enabled: false, resume: "cursor" },
        { x: 1 },
      ]),
    }),
  ],
  listDeliveries: [0, nothing], // background work adds to it at any time: the end of the test compares what was received
  deleteWebhook: [1, nothing],
  listBackedUpVaults: [2, (w) => ({ query: query({ after: w.pick([undefined, undefined, w.uuid(), "x"]) }) })],
  listBackupObjects: [2, (w) => ({ query: query({ after: w.pick([undefined, undefined, "x".repeat(1_025)]) }) })],
  getBackupObject: [
    2,
    (w) => ({ query: query({ key: w.pick([w.one("object"), "../x", `contents/${w.uuid()}/${w.uuid()}/${w.uuid()}`]) }) }),
  ],
  putBackupObject: [
    3,
    (w) => ({
      query: query({
        key: w.pick([
          `contents/${w.uuid()}/${w.uuid()}/${w.uuid()}`,
          `vaults/${w.uuid()}/parts/${"0".repeat(64)}`,
          "../x",
          w.one("object"),
        ]),
      }),
      body: BYTES.subarray(0, 100),
    }),
  ],
  signIn: [
    5,
    (w) => ({
      body: w.pick([
        { token: w.one("bearer") },
        { token: SECRETS.ADMIN_TOKEN },
        { code: w.one("code") },
        { vaults: newScope(w) },
        { token: "x", code: "x" },
        {},
      ]),
    }),
  ],
  beginSignIn: [0, nothing], // without a provider there is one answer, for which the end of the test asks
  signOut: [1, nothing],
  createAuthorization: [1, () => ({ body: { redirect_uri: "http://127.0.0.1:9/x", code_challenge: "A".repeat(43) } })],
  createLoginCode: [1, (w) => ({ body: { vaults: newScope(w) } })],
  redeemLogin: [1, (w) => ({ body: { code: w.pick(["A".repeat(43), "x", w.one("code")]) } })],
  getHeartbeat: [1, nothing],
  getHealth: [1, nothing],
};

export const DRAWS = Object.fromEntries(
  (Object.keys(OPERATIONS) as OperationId[]).map((id) => [id, ROWS[id] ?? PLAIN] as const),
) as Readonly<Record<OperationId, Weighted>>;
