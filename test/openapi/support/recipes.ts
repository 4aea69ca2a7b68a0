import { env } from "cloudflare:workers";
import { failuresOf } from "../../../src/api/openapi/operation.ts";
import { createConsoleSecret } from "../../../src/crypto/console-secret.ts";
import { formatCursors } from "../../../src/model/cursor.ts";
import { LIMITS } from "../../../src/model/limits.ts";
import { backUp } from "../../support/backup.ts";
import { rebindCoordinator, sizedDatabase, wrapDatabase } from "../../support/bindings.ts";
import { COOKIE, signIn } from "../../support/console.ts";
import { inOperator, JOBS, serviceWith, startJob } from "../../support/jobs.ts";
import { keyringOf } from "../../support/root-keys.ts";
import { admin, freshVault, LOGIN, makeToken, type Reply, type Request_ } from "../../support/service.ts";
import { newReceiver } from "../../support/webhooks.ts";
import { formOf } from "../../support/workload-tokens.ts";
import { ask, backedUpVault, BUNDLE, REFUSING, type Row, type Target, USED_KEY, type World } from "./targets.ts";

/** How an operation is made to answer each status: the successful request with one change. */

interface Case {
  readonly world: World;
  readonly row: Row;
  readonly target: Target;
}

type Recipe = (given: Case) => Promise<Reply>;

/** The secret that opens the operation. */
const secretOf = ({ row: { access }, world, target }: Case): string | undefined =>
  ({
    everybody: undefined,
    metrics: env.METRICS_TOKEN,
    admin: env.ADMIN_TOKEN,
    token: world.token,
    session: target.ids["session"],
    console: target.ids["session"],
  })[access.by];

/** The successful request with other headers, body, query, ids or bindings. */
export const changed =
  (changes: NonNullable<Parameters<typeof ask>[3]>): Recipe =>
  (given) =>
    ask(given.row, given.target, secretOf(given), changes);

const failingD1 = { DB: wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: no answer")) }) };

/** A D1 that has no room for a write. */
function fullD1(): Partial<Env> {
  let writes = false;
  const isWrite = (sql: string) => (writes ||= /^\s*(INSERT|UPDATE|DELETE|WITH)\b/i.test(sql));
  const rewrite = (sql: string) => (isWrite(sql), sql);
  const before = () => (writes ? Promise.reject(new Error("D1_ERROR: database or disk is full: SQLITE_FULL")) : undefined);
  return { DB: wrapDatabase(env.DB, { rewrite, before }) };
}

/** A coordinator has bindings of its own. */
const coordinatorsWith = (bindings: Partial<Env>) =>
  ({
    getByName: (name: string) => ({
      async write(...operation: Parameters<ReturnType<typeof env.COORDINATOR.getByName>["write"]>) {
        await rebindCoordinator(name, bindings);
        return env.COORDINATOR.getByName(name).write(...operation);
      },
    }),
  }) as unknown as Env["COORDINATOR"];

async function whenFull(given: Case): Promise<Reply> {
  if (!given.row.coordinated) return changed({ env: fullD1() })(given);
  const { vault } = given.target.ids;
  await rebindCoordinator(vault!, fullD1());
  const reply = await changed({})(given);
  await rebindCoordinator(vault!, {});
  return reply;
}

/** Sends a request with a key, and then another one with the same key. */
const repeatedWith =
  (first: Request_["body"]): Recipe =>
  async (given) => {
    const headers = { "Idempotency-Key": "repeated" };
    await changed({ headers, body: first })(given);
    return changed({ headers })(given);
  };

/** A service whose jobs get no answer from D1. */
function silentService() {
  const { promise, resolve } = Promise.withResolvers<void>();
  silences.push(resolve);
  return serviceWith({}, { DB: wrapDatabase(env.DB, { before: () => promise }) });
}

const silences: (() => void)[] = [];

/** Lets the databases of all silent services answer. */
export const endSilences = (): void => silences.splice(0).forEach((end) => end());

const withBookmark: Recipe = async ({ row, target }) =>
  ask(row, target, (await makeToken({}, { stale: 1 })).token, { headers: { "Item-Vault-Bookmark": "x" } });

/** How operations with these ids, or with this property, answer a status. */
const SPECIAL: Readonly<Record<string, Recipe>> = {
  "getMetrics 503": changed({ env: failingD1 }),
  "listActors 404": changed({ query: `?item=${crypto.randomUUID()}` }),
  "listActors 429": tooManyOfSession,
  "streamAllEvents 400": changed({ query: "?after=-" }),
  "streamAllEvents 410": (given) => {
    const positions = new Map([[given.world.vault, { sequence: 1, at: 1 }]]);
    return changed({ query: `?after=${formatCursors(positions)}` })(given);
  },
  "createJob 404": changed({ body: { kind: "restore", vault: crypto.randomUUID() } }),
  "createJob 422": async (given) => {
    const vault = await backedUpVault();
    await env.BACKUPS.put(`vaults/${vault}/00000001.manifest`, "damaged");
    return changed({ body: { kind: "restore", vault } })(given);
  },
  "createJob 507": async (given) => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await backUp(vault);
    await env.DB.prepare("DELETE FROM items WHERE vault_id = ?").bind(vault).run();
    return changed({ body: { kind: "restore", vault }, env: { DB: sizedDatabase(() => 1e11) } })(given);
  },
  "createJob 409": async (given) => {
    const service = await silentService();
    const id = await startJob(service, { kind: "rewrap" });
    const refused = await changed({ env: service.bindings })(given);
    await admin("DELETE", `${JOBS}/${id}`, { env: service.bindings });
    return refused;
  },
  "stopJob 409": async (given) => {
    const service = await silentService();
    const job = await startJob(service, { kind: "restore", vault: await backedUpVault() });
    await inOperator(service, (sql) =>
      sql.exec("UPDATE jobs SET data = json_set(data, '$.changes', json('true')) WHERE id = ?", job),
    );
    return changed({ env: service.bindings, ids: { job } })(given);
  },
  "getJob 400": changed({ query: "?wait=31" }),
  "listJobFindings 400": changed({ query: "?cursor=x" }),
  "addPerson 409": repeatedWith({ email: "first@example.com", vaults: {} }),
  "listBackedUpVaults 400": changed({ query: "?after=x" }),
  "listBackupObjects 400": changed({ query: `?after=${"x".repeat(1_025)}` }),
  "getBackupObject 400": changed({ query: "?key=../x" }),
  "putBackupObject 400": changed({ query: "?key=../x" }),
  "putBackupObject 413": changed({ headers: { "Content-Length": "100000000000" } }),
  "putBackupObject 422": changed({ query: `?key=vaults/${crypto.randomUUID()}/parts/${"0".repeat(64)}` }),
  "createVault 507": (given) => changed({ env: { COORDINATOR: coordinatorsWith(fullD1()) } })(given),
  "createIssuer 409": repeatedWith({ name: "first", issuer: "https://first.example.com" }),
  "createRule 409": (given) => repeatedWith({ issuer: given.target.ids["issuer"], claims: { a: "b" }, vaults: {} })(given),
  "exchangeToken 400": changed({ body: "x" }),
  "exchangeToken 401": changed({ body: formOf("x") }),
  "createChildToken 409": repeatedWith({ name: "first", vaults: {} }),
  "createAuthorization 403": tokenSession,
  "createAuthorization 429": tooManyOfSession,
  "createLoginCode 403": tokenSession,
  "createLoginCode 429": tooManyOfSession,
  "redeemLogin 401": changed({ body: { code: "A".repeat(43) } }),
  "signIn 400": changed({ body: { code: "x", token: "x" } }),
  "beginSignIn 401": changed({ env: { OIDC_ISSUER: "", OIDC_CLIENT_ID: "" } }),
  "signOut 429": tooManyEnded,
  "createVault 409": repeatedWith({ name: "First" }),
  "createToken 409": repeatedWith({ name: "first", vaults: {} }),
  "createWebhook 409": (given) => repeatedWith({ url: newReceiver().url })(given),
  "updateVault 409": repeatedWith({ name: "First" }),
  "renewVaultKey 409": repeatedWith({ replaces: crypto.randomUUID() }),
  "deleteVault 409": async (given) => {
    const update = { ...given.row, method: "patch" as const };
    const headers = { "Idempotency-Key": "repeated" };
    await changed({ headers, body: { name: "First" } })({ ...given, row: update });
    return changed({ headers })(given);
  },
};

/** The ids of paths whose form is checked. */
const IDS = ["vault", "person", "issuer", "rule", "job", "token"];

/** The first id of the path, written wrongly; else an empty body, a wrong limit or a bookmark that the service did not give. */
const malformed: Recipe = (given) => {
  const { path, json, parameters = [] } = given.row;
  const id = IDS.find((name) => path.includes(`{${name}}`));
  if (id !== undefined) return changed({ ids: { [id]: "no-id" } })(given);
  if (json) return changed({ body: {} })(given);
  return parameters.some((name) => name.endsWith("Limit")) ? changed({ query: "?limit=0" })(given) : withBookmark(given);
};

const notFound: Recipe = (given) => {
  const { row, target, world } = given;
  const { access } = row;
  if (access.by === "admin") return changed({ env: { ADMIN_TOKEN: "" } })(given);
  if (access.by === "metrics") return changed({ env: { METRICS_TOKEN: "" } })(given);
  return ask(row, target, world.stranger, { ids: { vault: world.unknown } });
};

const tooLarge: Recipe = (given) => {
  if (given.row.json) return changed({ body: "x".repeat(LIMITS.body + 1) })(given);
  if (given.row.body) return changed({ headers: { "Content-Length": String(LIMITS.file + 1) } })(given);
  return changed({ query: "?inline_files=true", env: { MAX_INLINE_FILE_SIZE_KB: 0 } })(given);
};

/** Signing in needs no session: what is wrong is in the body. */
const WRONG_SIGN_IN: Readonly<Record<string, Request_>> = { signIn: { body: { token: "wrong" } } };

const endedCookie = async (): Promise<string> => (await createConsoleSecret(await keyringOf(env), "session")).text;

/** The cookie of a session that has ended, behind an address that has sent too many of them. */
async function tooManyEnded({ row, target }: Case): Promise<Reply> {
  const flood = { headers: { "CF-Connecting-IP": "203.0.113.77" }, env: { SESSION_RATE: REFUSING } };
  await ask(row, target, await endedCookie(), flood);
  return ask(row, target, await endedCookie(), flood);
}

/** A cookie is no failed authentication: its requests are counted by session. */
async function tooManyOfSession(given: Case): Promise<Reply> {
  const asking = changed({ env: { TOKEN_RATE: REFUSING } });
  for (let count = 1; count < BUNDLE; count++) await asking(given);
  return asking(given);
}

/** A session of a token, where only a person may ask. */
async function tokenSession({ row, target, world }: Case): Promise<Reply> {
  return ask(row, target, await signIn({ token: world.token }));
}

const tooMany: Recipe = (given) => (given.row.operationId === "getSession" ? tooManyOfSession : tooManyOfCaller)(given);

const tooManyOfCaller: Recipe = ({ row, target, world }) =>
  row.access.by === "token"
    ? ask(row, target, world.limited, { env: { TOKEN_RATE: REFUSING } })
    : ask(row, target, "wrong", {
        ...WRONG_SIGN_IN[row.operationId],
        env: { FAILURE_RATE: REFUSING },
        headers: { "CF-Connecting-IP": "203.0.113.9" },
      });

/** A token without the permission; where none is needed, a request by cookie that another site has made. */
const outsider: Recipe = (given) => {
  const { row, target, world } = given;
  if (row.access.by === "token" && failuresOf(row).has("out_of_scope")) return ask(row, target, world.outsider);
  return ask(row, target, undefined, { headers: { Cookie: `${COOKIE}=x`, "Sec-Fetch-Site": "cross-site" } });
};

/** A setting whose reading throws. */
const DEFECT = {
  toString() {
    throw new Error("a defect");
  },
} as unknown as number;

const BY_STATUS: Readonly<Record<number, Recipe>> = {
  200: changed({}),
  202: changed({}),
  204: changed({}),
  206: changed({ headers: { Range: "bytes=0-0" } }),
  304: changed({ headers: { "If-None-Match": "*" } }),
  400: malformed,
  401: ({ row, target }) => ask(row, target, "wrong", WRONG_SIGN_IN[row.operationId]),
  403: outsider,
  404: notFound,
  409: changed({ headers: { "Idempotency-Key": USED_KEY } }),
  410: changed({ query: "?after=999-z" }),
  412: changed({ headers: { "If-Match": '"1-0000000000000000"' } }),
  413: tooLarge,
  415: changed({ headers: { "Content-Encoding": "gzip" } }),
  416: changed({ headers: { Range: "bytes=1000-" } }),
  429: tooMany,
  // A defect of the service: it throws where no code expects it.
  500: changed({ env: { VERSIONS_KEPT: DEFECT } }),
  503: changed({ env: { ROOT_KEYS: "" } }),
  507: whenFull,
};

/** Throws for a status that no request of these makes an operation answer. */
export function recipeOf({ operationId }: Row, status: number): Recipe {
  const recipe = SPECIAL[`${operationId} ${status}`] ?? BY_STATUS[status];
  if (!recipe) throw new Error(`No request makes ${operationId} answer ${status}`);
  return recipe;
}
