import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { PERMISSIONS } from "../../src/model/permission.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { ask, prepareTarget, startWorld, type World } from "../openapi/support/targets.ts";
import { countingDatabase } from "../support/bindings.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Permission, type Reply } from "../support/service.ts";

/** Authorization (contract 1.2, 4.6, 4.7, 8.4 to 8.6), besides what the matrix has (matrix.test.ts). */

type Needed = readonly [Permission, 403 | 404];

/** The permission that a request needs, by its method, and the status outside of the scope (contract 8.4), independent of the code. */
const BY_METHOD: Readonly<Record<string, Needed>> = {
  get: ["r", 403],
  // The answer has the Item.
  post: ["rw", 403],
  put: ["rw", 403],
  patch: ["rw", 403],
  delete: ["w", 403],
};

/** The operations that differ (contract 1.2, 4.7, 8.4). */
const DIFFERING: Readonly<Record<string, Needed>> = {
  getVault: ["l", 403],
  listItems: ["l", 404],
  listVersions: ["l", 403],
  listEvents: ["l", 403],
  createItem: ["w", 403],
  listFiles: ["r", 404],
  uploadFile: ["w", 403],
  getFileContent: ["r", 404],
  destroyVersion: ["d", 403],
  listDeletedItems: ["rw", 403],
  getDeletedItem: ["rw", 403],
  destroyDeletedItem: ["d", 403],
  getDeletedFileContent: ["rw", 403],
};

/** The operations that need a permission. */
const SCOPED = ROWS.flatMap((row) =>
  row.access.by === "token" && row.access.permission !== undefined ? [{ row, ...row.access, id: row.operationId }] : [],
);

describe("the catalogue of operations", () => {
  it("has the permission and the status outside of the scope that the contract states for each operation", () => {
    const found = SCOPED.map(({ id, permission, outside }) => [id, [permission, outside === "out_of_scope" ? 403 : 404]]);
    expect(found).toEqual(SCOPED.map(({ id, row }) => [id, DIFFERING[id] ?? BY_METHOD[row.method]]));
    expect(Object.keys(DIFFERING).filter((name) => !SCOPED.some(({ id }) => id === name))).toEqual([]);
  });

  it("requires the admin's secret for the paths below /v1/admin, and for no other path", () => {
    expect(ROWS.filter(({ path, access }) => path.startsWith("/v1/admin/") !== (access.by === "admin"))).toEqual([]);
  });
});

/** `deleted`: a deleted vault that the token names. `other` and `missing`: vaults that it does not name. */
const VAULTS = ["own", "deleted", "other", "missing"] as const;
const RECORDS = ["own", "other", "missing"] as const;
const ALL_PERMISSIONS = ["", ...(Object.keys(PERMISSIONS) as Permission[])] as const;

let world: World;
let vaults: Record<(typeof VAULTS)[number], string>;
let items: Record<(typeof RECORDS)[number], string>;
let tokens: Record<(typeof ALL_PERMISSIONS)[number], string>;

const itemsOf = (vault: string) => `/v1/vaults/${vault}/items`;

beforeAll(async () => {
  world = await startWorld();
  const [own, deleted, other] = [await makeVault("Own"), await makeVault("Deleted"), await makeVault("Other")];
  vaults = { own, deleted, other, missing: crypto.randomUUID() };
  const owner = client((await makeToken({ [own]: "rwd", [other]: "rwd" })).token);
  const makeItem = async (vault: string): Promise<string> => (await owner("POST", itemsOf(vault), { body: LOGIN })).body.id;
  items = { own: await makeItem(own), other: await makeItem(other), missing: crypto.randomUUID() };
  const withPermission = ALL_PERMISSIONS.map(async (permission) => {
    const scope = permission === "" ? {} : { [own]: permission, [deleted]: permission };
    return [permission, (await makeToken(scope)).token] as const;
  });
  tokens = Object.fromEntries(await Promise.all(withPermission)) as typeof tokens;
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

describe("a refusal for want of a permission", () => {
  it.each([
    ["w", "GET", "", "read"],
    ["r", "DELETE", "", "write to"],
    ["rw", "DELETE", "/versions/1", "destroy in"],
  ] as const)("names it: the token has %s, and %s %s has to %s the vault (contract 4.12)", async (own, method, rest, word) => {
    const reply = await client(tokens[own])(method, `${itemsOf(vaults.own)}/${items.own}${rest}`);
    expect(reply.body).toEqual({ status: 403, message: `the token may not ${word} vault ${vaults.own}` });
  });
});

/** Resolves a reference to the title of an Item. Its path has no vault, so the matrix has no objects of it. */
const resolveIn = (permission: Permission | "", vault: string, item: string, bindings: Partial<Env> = {}) =>
  client(tokens[permission])("POST", "/v1/resolve", { body: { references: [`op://${vault}/${item}/title`] }, env: bindings });

describe("POST /v1/resolve", () => {
  const cases = ALL_PERMISSIONS.flatMap((permission) =>
    VAULTS.flatMap((vault) => RECORDS.map((item) => ({ permission, vault, item }))),
  );

  it.each(cases)("permission $permission, vault $vault, item $item", async ({ permission, vault, item }) => {
    const { status, body } = await resolveIn(permission, vaults[vault], items[item]);
    const isRead = permission.includes("r") && vault === "own";
    const part = isRead ? (item === "own" ? "field or File of the Item" : "Item of the vault") : "vault that the token reads";
    expect([status, body.values[0].status, body.values[0].message]).toEqual([200, 404, `The reference names no ${part}`]);
  });

  it("costs the same for a vault that the token does not read, whether it exists or not", async () => {
    const costs = new Set<string>();
    for (const vault of [vaults.other, vaults.missing, "Other", "Missing"]) {
      const { count, db } = countingDatabase();
      await flushBatch(env); // A request that fills the batch of the log flushes it, with its own D1.
      const { body, headers } = await resolveIn("rw", vault, items.other, { DB: db });
      costs.add(JSON.stringify([count, body.values[0].message, headers.get("Content-Length")]));
    }
    expect(costs.size).toBe(1);
  });
});

describe("without a vault in the path", () => {
  it.each(ALL_PERMISSIONS)(
    "the permission '%s' shows the vaults that it lists, and the activity of those that it reads",
    async (permission) => {
      const call = client(tokens[permission]);
      const shown = (await call("GET", "/v1/vaults")).body.map(({ id }: { id: string }) => id);
      expect(shown).toEqual(/[lr]/.test(permission) ? [vaults.own] : []);
      const { body: entries } = await call("GET", `/v1/activity?vault=${vaults.own}`);
      expect(entries.length > 0).toBe(permission.includes("r"));
    },
  );
});

/** Status, body and headers of a response without its Request-Id; `ID` stands for the vault's id. */
const withoutIds = ({ status, text, headers }: Reply, id: string) =>
  [status, text.replaceAll(id, "ID"), ...[...headers].filter(([name]) => name !== "request-id")].join("\n");

describe("a vault that is not in the token", () => {
  it.each(SCOPED)("gets the same response whether it exists or not, without a storage call: $id", async ({ row }) => {
    const target = await prepareTarget(world, row);
    const { count, db } = countingDatabase();
    const throwing = new Proxy({} as any, {
      get: (_, name) => {
        throw new Error(`${String(name)} was read`);
      },
    });
    const request = { env: { DB: db, COORDINATOR: throwing, FILES: throwing } };
    const sendTo = (vault: string) => ask(row, target, tokens.rw, { ...request, ids: { vault } });
    const [first, second] = [await sendTo(vaults.other), await sendTo(vaults.missing)];
    expect(withoutIds(first, vaults.other)).toBe(withoutIds(second, vaults.missing));
    expect(first.text).toContain(vaults.other);
    expect(count.calls).toBe(0);
  });
});
