import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/app.ts";
import { PERMISSIONS } from "../../src/model/permission.ts";
import { countingDatabase } from "../support/bindings.ts";
import { objectsOf, pattern } from "../support/files.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import {
  admin,
  type Client,
  client,
  LOGIN,
  makeToken,
  makeVault,
  type Permission,
  type Reply,
  send,
} from "../support/service.ts";

/** Authorization (contract 4.5 to 4.7, 6.2 and 8.4 to 8.6), besides what the matrix has (matrix.test.ts). */

type Needed = readonly [Permission, 403 | 404];

/** The permission that a request needs, by its method, and the status outside of the scope (contract 8.4), independent of the code. */
const BY_METHOD: Readonly<Record<string, Needed>> = {
  GET: ["r", 403],
  // The answer has the Item.
  POST: ["rw", 403],
  PUT: ["rw", 403],
  PATCH: ["rw", 403],
  DELETE: ["w", 403],
};

/** The routes that differ (contract 1.2, 4.7, 8.4). */
const DIFFERING: Readonly<Record<string, Needed>> = {
  "GET /v1/vaults/:vault": ["l", 403],
  "GET /v1/vaults/:vault/items": ["l", 404],
  "GET /v1/vaults/:vault/items/:item/versions": ["l", 403],
  "GET /v1/vaults/:vault/events": ["l", 403],
  "POST /v1/vaults/:vault/items": ["w", 403],
  "GET /v1/vaults/:vault/items/:item/files": ["r", 404],
  "POST /v1/vaults/:vault/items/:item/files": ["w", 403],
  "GET /v1/vaults/:vault/items/:item/files/:file/content": ["r", 404],
  "DELETE /v1/vaults/:vault/items/:item/versions/:version": ["d", 403],
  "GET /v1/vaults/:vault/deleted-items": ["rw", 403],
  "GET /v1/vaults/:vault/deleted-items/:item": ["rw", 403],
  "DELETE /v1/vaults/:vault/deleted-items/:item": ["d", 403],
  "GET /v1/vaults/:vault/deleted-items/:item/files/:file/content": ["rw", 403],
};

interface Ids {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  /** Of the Item; 1 by default. */
  readonly version?: string;
}

const renameItem = [{ op: "replace", path: "/title", value: "Other" }];

/** The bodies with which a route succeeds. A route that is not listed has none. */
const BODIES: Readonly<Record<string, readonly ((ids: Ids) => unknown)[]>> = {
  "POST /v1/vaults/:vault/items": [() => LOGIN],
  "PUT /v1/vaults/:vault/items/:item": [({ vault }) => ({ ...LOGIN, vault: { id: vault } })],
  "PATCH /v1/vaults/:vault/items/:item": [() => renameItem, () => []],
  "POST /v1/vaults/:vault/items/:item/files": [() => pattern(2)],
  "PUT /v1/vaults/:vault/items/:item/files/:file/content": [() => pattern(2)],
};

interface Endpoint {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: (ids: Ids) => unknown;
}

/** The routes of the table that need a permission. */
const ENDPOINTS = ROUTES.filter(({ access }) => access.by === "token" && access.permission !== undefined).flatMap(
  ({ method, path }): Endpoint[] => {
    const name = `${method} ${path}`;
    return (BODIES[name] ?? [() => undefined]).map((body) => ({ name, method, path, body }));
  },
);

const sendTo = (call: Client, { method, path, body }: Endpoint, ids: Ids, bindings: Partial<Env> = {}): Promise<Reply> => {
  const { vault, item, file, version = "1" } = ids;
  const target = path.replace(":vault", vault).replace(":item", item).replace(":file", file).replace(":version", version);
  const query = method === "POST" && path.endsWith("/files") ? "?name=f" : "";
  return call(method, target + query, { body: body(ids), env: bindings });
};

/** `deleted`: a deleted vault that the token names. `other` and `missing`: vaults that it does not name. */
const VAULTS = ["own", "deleted", "other", "missing"] as const;
const RECORDS = ["own", "other", "missing"] as const;
const ALL_PERMISSIONS = ["", ...(Object.keys(PERMISSIONS) as Permission[])] as const;

let vaults: Record<(typeof VAULTS)[number], string>;
let items: Record<(typeof RECORDS)[number], string>;
let files: Record<(typeof RECORDS)[number], string>;
let owner: Client;
let clients: Record<(typeof ALL_PERMISSIONS)[number], Client>;

const itemsOf = (vault: string) => `/v1/vaults/${vault}/items`;
const makeItem = async (vault: string): Promise<string> => (await owner("POST", itemsOf(vault), { body: LOGIN })).body.id;
const makeFile = async (vault: string, item: string): Promise<string> =>
  (await owner("POST", `${itemsOf(vault)}/${item}/files?name=f`, { body: pattern(1) })).body.id;

/** The vault `own` has two Items: `items.own` with the File `files.own`, and one with the File `files.other`. */
beforeAll(async () => {
  const [own, deleted, other] = [await makeVault("Own"), await makeVault("Deleted"), await makeVault("Other")];
  vaults = { own, deleted, other, missing: crypto.randomUUID() };
  owner = client((await makeToken({ [own]: "rwd", [deleted]: "rwd", [other]: "rwd" })).token);
  items = { own: await makeItem(own), other: await makeItem(other), missing: crypto.randomUUID() };
  files = {
    own: await makeFile(own, items.own),
    other: await makeFile(own, await makeItem(own)),
    missing: crypto.randomUUID(),
  };
  const clientWith = async (permission: Permission) =>
    client((await makeToken({ [own]: permission, [deleted]: permission })).token);
  const none = client((await makeToken({})).token);
  const others = Object.keys(PERMISSIONS) as Permission[];
  const withPermission = await Promise.all(others.map(async (permission) => [permission, await clientWith(permission)]));
  clients = { "": none, ...Object.fromEntries(withPermission) };
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

/** The Items and the File that the refused writes name. */
const readTargets = async () => {
  const { body: item } = await owner("GET", `${itemsOf(vaults.own)}/${items.own}`);
  const { body: other } = await owner("GET", `${itemsOf(vaults.other)}/${items.other}`);
  return { item, other, objects: (await objectsOf(vaults.own)).filter((key) => key.includes(files.own)) };
};

describe("the table of routes", () => {
  it("has the permission and the status outside of the scope that the contract states for each route", () => {
    const table = ROUTES.flatMap(({ method, path, access }) =>
      access.by === "token" && access.permission !== undefined
        ? [[`${method} ${path}`, [access.permission, access.outside === "out_of_scope" ? 403 : 404]] as const]
        : [],
    );
    const needed = table.map(([name]) => [name, DIFFERING[name] ?? BY_METHOD[name.split(" ")[0]!]]);
    expect(Object.fromEntries(table)).toEqual(Object.fromEntries(needed));
    expect(Object.keys(DIFFERING).filter((name) => !table.some(([other]) => other === name))).toEqual([]);
  });

  it("requires the admin's secret for the routes below /v1/admin, and for no other route", () => {
    expect(ROUTES.filter(({ path, access }) => path.startsWith("/v1/admin/") !== (access.by === "admin"))).toEqual([]);
  });
});

describe("a refusal for want of a permission", () => {
  it.each([
    ["w", "GET", "read"],
    ["r", "DELETE", "write to"],
  ] as const)("names it: the token has %s, and %s has to %s the vault (contract 4.12)", async (permission, method, word) => {
    const reply = await clients[permission](method, `${itemsOf(vaults.own)}/${items.own}`);
    expect([reply.status, reply.body.message]).toEqual([403, `the token may not ${word} vault ${vaults.own}`]);
  });

  it("names the right to destroy", async () => {
    const reply = await clients.rw("DELETE", `${itemsOf(vaults.own)}/${items.own}/versions/1`);
    expect([reply.status, reply.body.message]).toEqual([403, `the token may not destroy in vault ${vaults.own}`]);
  });
});

/** Resolves a reference to the title of an Item. Its path has no vault, so the matrix has no objects of it. */
const resolveIn = async (call: Client, vault: string, item: string, bindings: Partial<Env> = {}) => {
  const references = [`op://${vault}/${item}/title`];
  return call("POST", "/v1/resolve", { body: { references }, env: bindings });
};

describe("POST /v1/resolve", () => {
  const cases = ALL_PERMISSIONS.flatMap((permission) =>
    VAULTS.flatMap((vault) => RECORDS.map((item) => ({ permission, vault, item }))),
  );

  it.each(cases)("permission $permission, vault $vault, item $item", async ({ permission, vault, item }) => {
    const { status, body } = await resolveIn(clients[permission], vaults[vault], items[item]);
    const part =
      !permission.includes("r") || vault !== "own"
        ? "vault that the token reads"
        : item === "own"
          ? "field or File of the Item"
          : "Item of the vault";
    expect([status, body.values[0].status, body.values[0].message]).toEqual([200, 404, `The reference names no ${part}`]);
  });

  it("costs the same for a vault that the token does not read, whether it exists or not", async () => {
    const costs = [];
    for (const vault of [vaults.other, vaults.missing, "Other", "Missing"]) {
      const { count, db } = countingDatabase();
      await flushBatch(env); // A request that fills the batch of the log flushes it, with its own D1.
      const { body, headers } = await resolveIn(clients.rw, vault, items.other, { DB: db });
      costs.push([{ ...count }, body.values[0].message, headers.get("Content-Length")]);
    }
    expect(new Set(costs.map((cost) => JSON.stringify(cost))).size).toBe(1);
  });

  it("is a 401 without a token", async () => {
    const reply = await resolveIn(send, vaults.own, items.own);
    expect([reply.status, reply.body.message]).toEqual([401, "Invalid token signature"]);
  });
});

describe("without a vault in the path", () => {
  it.each(ALL_PERMISSIONS)(
    "the permission '%s' shows the vaults that it lists, and the activity of those that it reads",
    async (permission) => {
      const call = clients[permission];
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
  it.each(ENDPOINTS)("gets the same response whether it exists or not, without a storage call: $name", async (endpoint) => {
    const { count, db } = countingDatabase();
    const throwing = new Proxy({} as any, {
      get: (_, name) => {
        throw new Error(`${String(name)} was read`);
      },
    });
    const bindings = { DB: db, COORDINATOR: throwing, FILES: throwing };
    const [existing, missing] = [vaults.other, crypto.randomUUID()];
    const sendToVault = (vault: string) => sendTo(clients.rw, endpoint, { vault, item: items.other, file: files.own }, bindings);
    const [first, second] = [await sendToVault(existing), await sendToVault(missing)];
    expect(withoutIds(first, existing)).toBe(withoutIds(second, missing));
    expect(first.text).toContain(existing);
    expect(count.calls).toBe(0);
  });
});

describe("a request without a token", () => {
  it.each(ENDPOINTS)("is a 401 for every vault, Item and File: $name", async (endpoint) => {
    const [item, file, absent] = [items.own, files.own, crypto.randomUUID()];
    for (const ids of [
      { vault: vaults.own, item, file },
      { vault: vaults.own, item: absent, file: absent },
      { vault: absent, item, file },
      { vault: "nonsense", item: "nonsense", file: "nonsense" },
    ]) {
      const reply = await sendTo(send, endpoint, ids);
      expect([reply.status, reply.body]).toEqual([401, { status: 401, message: "Invalid token signature" }]);
    }
  });
});

describe("an Item of another vault", () => {
  it.each(ENDPOINTS.filter(({ path }) => path.includes(":item")))(
    "is a 404, also for a token with both vaults, and is not changed: $name",
    async (endpoint) => {
      const before = await readTargets();
      const reply = await sendTo(owner, endpoint, { vault: vaults.own, item: items.other, file: files.own });
      expect(reply.body).toEqual({ status: 404, message: `item ${items.other} not found` });
      expect(await readTargets()).toEqual(before);
    },
  );
});

describe("a write without its permission", () => {
  it.each(ENDPOINTS.filter(({ method }) => method !== "GET"))("is a 403 that changes nothing: $name", async (endpoint) => {
    const state = async () => [
      (await owner("GET", `/v1/vaults/${vaults.own}`)).body,
      await readTargets(),
      await objectsOf(vaults.own),
    ];
    const before = await state();
    const ids = { vault: vaults.own, item: items.own, file: files.own };
    for (const call of [clients.r, clients[""]]) expect((await sendTo(call, endpoint, ids)).status).toBe(403);
    expect(await state()).toEqual(before);
    expect((await env.FILES.list({ prefix: `${vaults.own}/${files.own}/` })).objects.length).toBe(1);
  });
});

describe("a token with the permission w", () => {
  it("gets no name and no section of a File from PUT of its content", async () => {
    const path = `${itemsOf(vaults.own)}/${items.own}/files`;
    const { body: file } = await owner("POST", `${path}?name=secret-name&section=secret-section`, { body: pattern(1) });
    const { text } = await clients.w("PUT", `${path}/${file.id}/content`, { body: pattern(2) });
    expect([text.includes("secret-name"), text.includes("secret-section")]).toEqual([false, false]);
  });
});
