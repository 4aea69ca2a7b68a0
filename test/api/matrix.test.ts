import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROWS } from "../../openapi/document.ts";
import type { Row } from "../../openapi/operation.ts";
import { PERMISSIONS, type Permission } from "../../src/model/permission.ts";
import { ask, prepareTarget, startWorld, type Target, type World } from "../openapi/support/targets.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { type Case, casesOf, expectedOf, isRefusedOrRead, titleOf } from "../support/matrix.ts";
import { sample } from "../support/runs.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Reply } from "../support/service.ts";
import { addWebhook, newReceiver } from "../support/webhooks.ts";

/** The service answers what test/support/matrix.ts derives from the catalogue: every operation × caller × object. */

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
  const absent = crypto.randomUUID();
  others = {
    vault: { readable, deleted, foreign, absent },
    item: { "of another vault": await makeItem(readable), absent },
    file: { "of another Item": file.body.id, absent },
    version: { absent: "99" },
    webhook: { "of another vault": (await addWebhook(elsewhere, newReceiver().url)).id, absent },
    token: { "that is a vault": readable, absent },
    person: { "that is a token": token.id, absent },
    job: { "that is a vault": readable, absent },
  };
  const revoked = await makeToken({ [world.vault]: "rwd" });
  await admin("DELETE", `/v1/admin/tokens/${revoked.id}`);
  const withPermission = Object.keys(PERMISSIONS).map(async (permission) => {
    const scope = Object.fromEntries([world.vault, readable, deleted].map((vault) => [vault, permission as Permission]));
    return [`a token with ${permission}`, (await makeToken(scope)).token] as const;
  });
  secrets = {
    nobody: undefined,
    "a text that is no token": "no-token",
    "a revoked token": revoked.token,
    "the holder of METRICS_TOKEN": env.METRICS_TOKEN,
    "a token of other vaults": (await makeToken({ [readable]: "rwd", [deleted]: "rwd" })).token,
    "a token of no vault": (await makeToken({})).token,
    ...Object.fromEntries(await Promise.all(withPermission)),
    "the admin": env.ADMIN_TOKEN,
  };
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

function idsOf({ row, change }: Case): Record<string, string> {
  if (!change) return {};
  const { parameter, value } = change;
  const isDeleted = parameter === "item" && value === "deleted";
  const ofDeleted = row.path.includes("/deleted-items/");
  return { [parameter]: isDeleted ? (ofDeleted ? items.live : items.deleted) : others[parameter]![value]! };
}

/** Each request comes from an address of its own, because the service limits the refusals of an address. */
let address = 0;
const send = (one: Case, target: Target): Promise<Reply> => {
  const headers = { "CF-Connecting-IP": `2001:db8:${(++address).toString(16)}::1` };
  return ask(one.row, target, secrets[one.caller], { ids: idsOf(one), headers });
};

const kindOf = ({ status, headers }: Reply): string =>
  headers.get("Item-Vault-Error") ?? (status < 400 ? "success" : String(status));

/** What is wrong, in words: the case, what follows from its operation, and the answer. */
const faultsOf = async (cases: readonly Case[], answer: (one: Case) => Promise<Reply>): Promise<string[]> => {
  const faults: string[] = [];
  for (const one of cases) {
    const [expected, actual] = [expectedOf(one) ?? "success", kindOf(await answer(one))];
    if (actual !== expected) faults.push(`${titleOf(one)}: ${expected}, not ${actual}`);
  }
  return faults;
};

/** The case that succeeds, which may use the target up. */
const SUCCEEDS = { everybody: "nobody", metrics: "the holder of METRICS_TOKEN", admin: "the admin", token: "a token with rwd" };

const CASES = Map.groupBy(casesOf(ROWS), ({ row }) => row);

describe("every caller and every object that is not the target's own", () => {
  it.each([...CASES].map(([row, cases]) => [row.operationId, row, cases] as const))("%s", async (_, row, cases) => {
    const target = await prepareTarget(world, row);
    expect(await faultsOf(sample(cases.filter(isRefusedOrRead), 3), (one) => send(one, target))).toEqual([]);
    const last = { row, caller: SUCCEEDS[row.access.by as keyof typeof SUCCEEDS] };
    expect([expectedOf(last), await faultsOf([last], (one) => send(one, target))]).toEqual([undefined, []]);
  });
});

describe("an operation that is new", () => {
  const like = ROWS.find(({ operationId }) => operationId === "getItem")!;
  const dummy: Row = { ...like, path: `${like.path}/dummy` };

  it("is in the matrix without being added, and fails it where it does not check the token and the objects", async () => {
    const cases = casesOf([dummy]);
    const refused = cases.filter((one) => expectedOf(one) !== undefined);
    const unchecked = await faultsOf(cases, async () => ({ status: 200, headers: new Headers(), text: "", body: {} }));
    expect([unchecked.length, cases.length > refused.length]).toEqual([refused.length, true]);
    console.log(
      `matrix: ${casesOf(ROWS).length} cases; a new operation has ${cases.length}, of which ${refused.length} are refused`,
    );
  });
});
