import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import type { Row } from "../../src/api/openapi/operation.ts";
import { PERMISSIONS, type Permission } from "../../src/model/permission.ts";
import { NARROW_ADMIN_NAMES, type NarrowAdmin } from "../../src/model/token-kind.ts";
import { ask, prepareTarget, startWorld, type Target, type World } from "../openapi/support/targets.ts";
import { changedTables, rowsByTable } from "../support/canary.ts";
import { lengthOf, objectsOf, pattern } from "../support/files.ts";
import { type Case, casesOf, expectedOf, titleOf, TOKENS, usesUp } from "../support/matrix.ts";
import { sample } from "../support/runs.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Reply } from "../support/service.ts";
import { addWebhook, newReceiver } from "../support/webhooks.ts";
import { makeIssuer } from "../support/workloads.ts";

/**
 * The service answers what test/support/matrix.ts derives from the catalogue: every operation × caller × object. A refused request changes
 * no table of D1 but those of the log, and no object of the vault in R2.
 */

let world: World;
/** The bearer tokens of the callers. */
let secrets: Readonly<Record<string, string | undefined>>;
/** The ids in place of the target's own, by parameter and value. */
let others: Readonly<Record<string, Readonly<Record<string, string>>>>;
/** The Item of `others` that is deleted, and the one that is not: the first one is on the paths of live Items. */
let items: { readonly deleted: string; readonly live: string };

beforeAll(async () => {
  world = await startWorld();
  const [readable, deleted, foreign, elsewhere] = [await makeVault(), await makeVault(), await makeVault(), await makeVault()];
  const owner = client((await makeToken({ [world.vault]: "rw", [readable]: "rw" })).token);
  const makeItem = async (vault: string): Promise<string> =>
    (await owner("POST", `/v1/vaults/${vault}/items`, { body: LOGIN })).body.id;
  items = { deleted: await makeItem(world.vault), live: await makeItem(world.vault) };
  await owner("DELETE", `/v1/vaults/${world.vault}/items/${items.deleted}`);
  const file = await owner("POST", `/v1/vaults/${world.vault}/items/${items.live}/files?name=f`, {
    body: pattern(10),
    headers: lengthOf(pattern(10)),
  });
  const token = await makeToken({});
  const issuing = client((await makeToken({}, { delegate: true })).token);
  const issued = { name: "issued", vaults: { [world.vault]: "rwd" } };
  const absent = crypto.randomUUID();
  others = {
    vault: { readable, deleted, foreign, absent },
    item: { "of another vault": await makeItem(readable), absent },
    file: { "of another Item": file.body.id, absent },
    version: { absent: "99" },
    webhook: { "of another vault": (await addWebhook(elsewhere, newReceiver().url)).id, absent },
    token: {
      "that is a vault": readable,
      "below another token": (await issuing("POST", "/v1/tokens", { body: { name: "issued", vaults: {} } })).body.id,
      absent,
    },
    person: { "that is a token": token.id, absent },
    issuer: { "that is a token": token.id, absent },
    rule: { "that is an issuer": (await makeIssuer()).id, absent },
    job: { "that is a vault": readable, absent },
  };
  const withPermission = Object.keys(PERMISSIONS).map(async (permission) => {
    const scope = Object.fromEntries([world.vault, readable, deleted].map((vault) => [vault, permission as Permission]));
    return [`a token with ${permission}`, (await makeToken(scope)).token] as const;
  });
  secrets = {
    nobody: undefined,
    "a text that is no token": "no-token",
    "the holder of METRICS_TOKEN": env.METRICS_TOKEN,
    "a token of other vaults": (await makeToken({ [readable]: "rwd", [deleted]: "rwd" })).token,
    "a token of no vault": (await makeToken({})).token,
    "a token that issues tokens": world.token,
    "a token below it": (await client(world.token)("POST", "/v1/tokens", { body: issued })).body.token,
    ...Object.fromEntries(await Promise.all(withPermission)),
    ...Object.fromEntries(await Promise.all(NARROW_ADMIN_NAMES.map(makeNarrow))),
    "the admin": env.ADMIN_TOKEN,
  };
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

async function makeNarrow(name: NarrowAdmin) {
  const { body } = await admin("POST", "/v1/admin/tokens", { body: { name, [name]: true } });
  return [`a token with ${name}`, body.token as string] as const;
}

function idsOf({ row, change }: Case): Record<string, string> {
  if (!change) return {};
  const { parameter, value } = change;
  const isDeleted = parameter === "item" && value === "deleted";
  const ofDeleted = row.path.includes("/deleted-items/");
  return { [parameter]: isDeleted ? (ofDeleted ? items.live : items.deleted) : others[parameter]![value]! };
}

/** The tokens with some Items of the vault in their scope, by the caller and the Item. */
const narrow = new Map<string, string>();

async function narrowToken(caller: string, own: string | undefined): Promise<string> {
  const item = (TOKENS[caller]!.items === "own" && own) || items.live;
  const known = narrow.get(item);
  if (known !== undefined) return known;
  const whole = Object.fromEntries(["readable", "deleted"].map((name) => [others["vault"]![name]!, "rwd" as const]));
  const { token } = await makeToken({ ...whole, [world.vault]: { permissions: "rwd", items: [item] } });
  narrow.set(item, token);
  return token;
}

/** The isolate remembers a token that D1 has refused, so each case of a revoked one has a token of its own. */
async function secretOf({ caller }: Case, { ids }: Target): Promise<string | undefined> {
  if (caller === "a revoked token") return makeRevoked();
  return TOKENS[caller]?.items ? narrowToken(caller, ids["item"]) : secrets[caller];
}

/** Each request comes from an address of its own, because the service limits the refusals of an address. */
let address = 0;
async function send(one: Case, target: Target, known?: string): Promise<Reply> {
  const secret = known ?? (await secretOf(one, target));
  const headers = { "CF-Connecting-IP": `2001:db8:${(++address).toString(16)}::1` };
  return ask(one.row, target, secret, { ids: idsOf(one), headers });
}

async function makeRevoked(): Promise<string> {
  const { id, token } = await makeToken({ [world.vault]: "rwd" });
  await admin("DELETE", `/v1/admin/tokens/${id}`);
  return token;
}

const kindOf = ({ status, headers }: Reply): string =>
  headers.get("Item-Vault-Error") ?? (status < 400 ? "success" : String(status));

/** What is wrong, in words: the case, what follows from its operation, and the answer. */
const faultsOf = async (cases: readonly Case[], answer: (one: Case, index: number) => Promise<Reply>): Promise<string[]> => {
  const faults: string[] = [];
  for (const [index, one] of cases.entries()) {
    const [expected, actual] = [expectedOf(one) ?? "success", kindOf(await answer(one, index))];
    if (actual !== expected) faults.push(`${titleOf(one)}: ${expected}, not ${actual}`);
  }
  return faults;
};

const CASES = Map.groupBy(casesOf(ROWS), ({ row }) => row);

describe("every caller and every object that is not the target's own", () => {
  it.each([...CASES].map(([row, cases]) => [row.operationId, row, cases] as const))("%s", async (_, row, cases) => {
    const target = await prepareTarget(world, row);
    const chosen = sample(cases, 6);
    const refused = chosen.filter((one) => expectedOf(one) !== undefined);
    const refusedSecrets: (string | undefined)[] = [];
    for (const one of refused) refusedSecrets.push(await secretOf(one, target));
    const state = async () => ({ ...(await rowsByTable()), objects: String(await objectsOf(world.vault)) });
    const before = await state();
    expect(await faultsOf(refused, (one, index) => send(one, target, refusedSecrets[index]))).toEqual([]);
    expect(changedTables(before, await state())).toEqual([]);
    const served = chosen.filter((one) => expectedOf(one) === undefined);
    expect(await faultsOf(served, async (one) => send(one, usesUp(one) ? await prepareTarget(world, row) : target))).toEqual([]);
    // The operation succeeds with the target, also after the refusals. A second job would be refused while the first one runs.
    const last = cases.find((one) => one.change === undefined && expectedOf(one) === undefined)!;
    const hasRun = usesUp(last) && chosen.includes(last);
    expect(hasRun ? [] : await faultsOf([last], (one) => send(one, target))).toEqual([]);
  });
});

describe("an operation that is new", () => {
  const like = ROWS.find(({ operationId }) => operationId === "getItem")!;
  const added: Row = { ...like, path: `${like.path}/new` };
  const expected = new Map(casesOf([added]).map((one) => [titleOf(one), expectedOf(one)]));

  it.each([
    ["nobody", "unauthorized"],
    ["a revoked token", "unauthorized"],
    ["the admin", "unauthorized"],
    ["a token with w", "out_of_scope"],
    ["a token of other vaults", "out_of_scope"],
    ["a token with rwd, vault foreign", "out_of_scope"],
    ["a token with rwd, vault deleted", "vault_not_found"],
    ["a token with r, vault readable", "item_not_found"],
    ["a token with r, item of another vault", "item_not_found"],
    ["a token with r, item deleted", "item_not_found"],
    ["a token with r", undefined],
  ] as const)("is in the matrix without being added: %s is answered %s", (title, kind) => {
    expect([expected.has(title), expected.get(title)]).toEqual([true, kind]);
  });

  it("has more than a hundred cases", () => {
    console.log(`matrix: ${casesOf(ROWS).length} cases of ${CASES.size} operations; a new one like getItem has ${expected.size}`);
    expect(expected.size).toBeGreaterThan(100);
  });
});
