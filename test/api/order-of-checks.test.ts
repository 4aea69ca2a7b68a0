import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { partsOf, type Row } from "../../src/api/openapi/operation.ts";
import { forgetSchemaVersion } from "../../src/store/d1/schema.ts";
import { ask, prepareTarget, REFUSING, startWorld, type Target, type World } from "../openapi/support/targets.ts";
import { UNLIMITED, wrapDatabase } from "../support/bindings.ts";
import { admin, freshVault, LOGIN, makeToken, outcome, type Reply, type Request_, shareVault } from "../support/service.ts";

/**
 * The order of checks (contract 4.5, 4.11). Each operation gets one request for each of its checks, which fails that check and all later ones
 * at once: the answer is that of the first. The checks of an operation follow from its row in the catalogue.
 */

interface Change extends Request_ {
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** The bearer token; undefined for a request without one. */
  readonly secret?: string | undefined;
}

interface Check {
  readonly name: string;
  /** The answer, as `shown` has it; undefined for an operation without this check. */
  readonly answer: (row: Row) => unknown;
  readonly fail: (world: World) => Change | Promise<Change>;
}

const missing = crypto.randomUUID();
const withOldSchema = wrapDatabase(env.DB, {
  rewrite: (sql) => (sql.includes("FROM d1_migrations") ? "SELECT version FROM no_such_table" : sql),
});

async function revokedToken({ unknown }: World): Promise<string> {
  const { id, token } = await makeToken({ [unknown]: "rwd" }, { delegate: true });
  await admin("DELETE", `/v1/admin/tokens/${id}`);
  return token;
}

const isByToken = ({ access }: Row) => access.by === "token";
const has = (row: Row, part: string) => partsOf(row.path).some((one) => one === part);
/** The admin may know which objects exist: only a token is told of a missing one before its request is parsed. */
const ofToken = (part: string, kind: string) => (row: Row) => (isByToken(row) && has(row, part) ? kind : undefined);

/** The ids whose form is checked first. Those of a File and of a version have no form of an id. */
const formOf = ({ path }: Row) => partsOf(path).find((part) => !["item", "file", "version"].includes(part));
const outsideOf = ({ access }: Row) =>
  access.by !== "token" ? undefined : access.permission === undefined ? access.delegates && "out_of_scope" : access.outside;
const readsMore = ({ json, body, conditional, idempotent, parameters = [] }: Row) =>
  json ?? body ?? conditional ?? idempotent ?? parameters.some((name) => /Limit$|Filter$|^InlineFiles$/.test(name));

const CHECKS: readonly Check[] = [
  { name: "the configuration", answer: () => "misconfigured", fail: () => ({ env: { ROOT_KEYS: "" } }) },
  {
    name: "the origin",
    answer: ({ access }) => (access.direct ? undefined : "cross_site"),
    fail: () => ({ secret: undefined, headers: { Cookie: "__Host-item-vault-session=x", "Sec-Fetch-Site": "cross-site" } }),
  },
  { name: "the token", answer: () => "unauthorized", fail: () => ({ secret: "wrong" }) },
  {
    name: "the rate",
    answer: (row) => (isByToken(row) ? "rate" : undefined),
    fail: ({ limited }) => ({ secret: limited, env: { TOKEN_RATE: REFUSING } }),
  },
  { name: "the schema", answer: () => "schema", fail: () => ({ env: { DB: withOldSchema } }) },
  {
    name: "the form of the vault's id, or of another one of the admin",
    answer: (row) => formOf(row) && `${formOf(row)}_id`,
    fail: () => ({ ids: Object.fromEntries(ROWS.map((row) => [formOf(row) ?? "", "no-id"])) }),
  },
  { name: "the scope", answer: outsideOf, fail: ({ outsider, unknown }) => ({ secret: outsider, ids: { vault: unknown } }) },
  {
    name: "the revocation",
    answer: (row) => (isByToken(row) ? "unauthorized" : undefined),
    fail: async (world) => ({ secret: await revokedToken(world), ids: { vault: world.unknown } }),
  },
  {
    name: "the vault",
    answer: ofToken("vault", "vault_not_found"),
    fail: ({ stranger, unknown }) => ({ secret: stranger, ids: { vault: unknown } }),
  },
  { name: "the form of the Item's id", answer: ofToken("item", "item_id"), fail: () => ({ ids: { item: "no-id" } }) },
  { name: "the Item", answer: ofToken("item", "item_not_found"), fail: () => ({ ids: { item: missing } }) },
  { name: "the form of the version", answer: ofToken("version", "invalid version"), fail: () => ({ ids: { version: "x" } }) },
  { name: "the version", answer: ofToken("version", "version_not_found"), fail: () => ({ ids: { version: "99" } }) },
  { name: "the File", answer: ofToken("file", "file_not_found"), fail: () => ({ ids: { file: missing } }) },
  {
    name: "the rest of the request",
    answer: (row) => (readsMore(row) ? expect.stringMatching(/^(invalid|encoding|filter)/) : undefined),
    fail: () => ({
      query: "?inline_files=nonsense&filter=nonsense&limit=0",
      headers: { "If-Match": "nonsense", "Idempotency-Key": "a b", "Content-Encoding": "gzip" },
    }),
  },
];

const shown = ({ kind, body }: Reply) => (kind === "invalid" ? `invalid ${body.message.split(":", 1)[0]}` : kind);

/** Sends the request of an operation with the faults of some checks. Where two change one thing, the first one wins. */
async function sendFailing(world: World, row: Row, target: Target, checks: readonly Check[]): Promise<Reply> {
  let [secret, query]: [string | undefined, string] = [row.access.by === "admin" ? env.ADMIN_TOKEN : world.token, target.query];
  const [ids, bindings, headers] = [{}, { FAILURE_RATE: UNLIMITED }, {}];
  for (const { fail } of checks.toReversed()) {
    const change = await fail(world);
    if ("secret" in change) ({ secret } = change);
    query = change.query ?? query;
    Object.assign(ids, change.ids);
    Object.assign(bindings, change.env);
    Object.assign(headers, change.headers);
  }
  forgetSchemaVersion();
  return ask(row, target, secret, { ids, query, env: bindings, headers });
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});

const GUARDED = ROWS.filter(({ access }) => access.by === "token" || access.by === "admin");

describe("a request that fails several checks is answered for the first one", () => {
  it.each(GUARDED.map((row) => [row.operationId, row] as const))("%s", async (_, row) => {
    const target = await prepareTarget(world, row);
    const checks = CHECKS.filter(({ answer }) => answer(row) !== undefined);
    const answers: unknown[] = [];
    for (const [index, { name }] of checks.entries())
      answers.push([name, shown(await sendFailing(world, row, target, checks.slice(index)))]);
    expect(answers).toEqual(checks.map(({ name, answer }) => [name, answer(row)]));
  });
});

const WITHOUT_PASSWORD = { category: "PASSWORD" };

/** A vault at its quota, and its only Item. */
async function fullVault() {
  const fresh = await freshVault();
  const { id } = (await fresh.call("POST", fresh.items, { body: LOGIN })).body;
  await admin("PATCH", `/v1/admin/vaults/${fresh.vault}`, { body: { quota: { items: 1, bytes: 0 } } });
  return { ...fresh, id: id as string };
}

describe("the body, then If-Match or Item-Id, then the rules of the Item as a whole, then the quota", () => {
  it("of a PUT", async () => {
    const { call, items, id, vault } = await fullVault();
    const put = async (body: unknown, tag: string) =>
      outcome(await call("PUT", `${items}/${id}`, { body, headers: { "If-Match": tag } }));
    const named = (body: object) => ({ ...body, vault: { id: vault } });
    expect(await put("{", '"9"')).toEqual([400, "invalid"]);
    expect(await put(named(WITHOUT_PASSWORD), '"9"')).toEqual([412, "precondition"]);
    expect(await put(named(WITHOUT_PASSWORD), "*")).toEqual([400, "missing_field"]);
    expect(await put(named({ ...LOGIN, title: "x".repeat(500) }), "*")).toEqual([507, "quota"]);
  });

  it("of a POST", async () => {
    const { call, items, id } = await fullVault();
    const post = async (body: unknown, headers = {}) => outcome(await call("POST", items, { body, headers }));
    expect(await post("{", { "Item-Id": id })).toEqual([400, "invalid"]);
    expect(await post(WITHOUT_PASSWORD, { "Item-Id": id })).toEqual([409, "item_exists"]);
    expect(await post(WITHOUT_PASSWORD)).toEqual([400, "missing_field"]);
    expect(await post(LOGIN)).toEqual([507, "quota"]);
  });
});

const sharedVault = shareVault();

describe("a used Idempotency-Key before the Item", () => {
  it.each([
    ["PUT", (vault: string, title: string) => ({ ...LOGIN, title, vault: { id: vault } })],
    ["PATCH", (_: string, value: string) => [{ op: "replace", path: "/title", value }]],
  ] as const)("%s", async (method, bodyOfTitle) => {
    const { vault, items, call } = await sharedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const write = (title: string) =>
      call(method, `${items}/${id}`, { body: bodyOfTitle(vault, title), headers: { "Idempotency-Key": id } });
    const first = await write("one");
    await call("DELETE", `${items}/${id}`);
    expect(await write("one")).toMatchObject({ status: 200, text: first.text });
    expect((await write("two")).kind).toBe("idempotency");
  });
});
