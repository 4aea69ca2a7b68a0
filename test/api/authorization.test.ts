import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/routes.ts";
import { PERMISSIONS } from "../../src/model/permission.ts";
import { countingDatabase } from "../support/bindings.ts";
import { objectsOf, pattern } from "../support/files.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { isLong, sample } from "../support/runs.ts";
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

/** Authorization (contract 4.5 to 4.7, 8.4 and 8.5): every route × permission × vault × Item × File. */

/** The permission that each route needs and the status outside of the scope (contract 1.2 and 4.7), independent of the code. */
const CONTRACT: Readonly<Record<string, readonly [Permission, 403 | 404]>> = {
  "GET /v1/vaults/:vault": ["r", 403],
  "GET /v1/vaults/:vault/events": ["r", 403],
  "GET /v1/vaults/:vault/items": ["r", 404],
  "POST /v1/vaults/:vault/items": ["w", 403],
  "GET /v1/vaults/:vault/items/:item": ["r", 403],
  "PUT /v1/vaults/:vault/items/:item": ["rw", 403],
  "PATCH /v1/vaults/:vault/items/:item": ["rw", 403],
  "DELETE /v1/vaults/:vault/items/:item": ["w", 403],
  "GET /v1/vaults/:vault/items/:item/files": ["r", 404],
  "POST /v1/vaults/:vault/items/:item/files": ["w", 403],
  "GET /v1/vaults/:vault/items/:item/files/:file": ["r", 403],
  "DELETE /v1/vaults/:vault/items/:item/files/:file": ["w", 403],
  "GET /v1/vaults/:vault/items/:item/files/:file/content": ["r", 404],
  "PUT /v1/vaults/:vault/items/:item/files/:file/content": ["rw", 403],
  "POST /v1/vaults/:vault/items/:item/archive": ["rw", 403],
  "POST /v1/vaults/:vault/items/:item/unarchive": ["rw", 403],
  "GET /v1/vaults/:vault/items/:item/versions": ["r", 403],
  "GET /v1/vaults/:vault/items/:item/versions/:version": ["r", 403],
  "POST /v1/vaults/:vault/items/:item/versions/:version/restore": ["rw", 403],
  "DELETE /v1/vaults/:vault/items/:item/versions/:version": ["d", 403],
  "GET /v1/vaults/:vault/deleted-items": ["rw", 403],
  "GET /v1/vaults/:vault/deleted-items/:item": ["rw", 403],
  "POST /v1/vaults/:vault/deleted-items/:item/restore": ["rw", 403],
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

interface Case {
  readonly endpoint: Endpoint;
  readonly permission: Permission | "";
  readonly vault: (typeof VAULTS)[number];
  readonly item: (typeof RECORDS)[number];
  readonly file: (typeof RECORDS)[number];
}

/** The values of a path parameter that the matrix tries: one if the path does not have the parameter. */
const valuesOf = ({ path }: Endpoint, parameter: string) => (path.includes(parameter) ? RECORDS : RECORDS.slice(0, 1));

/**
 * The permissions with `d` are tried with the vault, Item and File of their own only: the others are the same for them. In
 * other vaults the Item and the File both exist, are both of another place, or are both missing; the permissions other than
 * `rw` are tried there with existing ones only, because a token's letters and the vault decide before the Item is read.
 */
function isTried({ permission, vault, item, file, endpoint }: Case): boolean {
  if (permission.includes("d")) return [vault, item, file].every((value) => value === "own");
  if (isLong || vault === "own") return true;
  if (permission !== "rw") return item === "own" && file === "own";
  return item === file || !endpoint.path.includes(":file");
}

const CASES = ENDPOINTS.flatMap((endpoint) =>
  ALL_PERMISSIONS.flatMap((permission) =>
    VAULTS.flatMap((vault) =>
      valuesOf(endpoint, ":item").flatMap((item) =>
        valuesOf(endpoint, ":file").map((file): Case => ({ endpoint, permission, vault, item, file })),
      ),
    ),
  ),
).filter(isTried);

/** How the refusal names each permission (contract 4.12). */
const WORDS: Readonly<Record<string, string>> = { r: "read", w: "write to", d: "destroy in" };

/** Returns the expected status, and the expected message if the request is refused. */
function expected({ endpoint, permission, vault, item, file }: Case, ids: Ids): [number, string?] {
  const [needed, statusOutside] = CONTRACT[endpoint.name]!;
  const isNamed = vault === "own" || vault === "deleted";
  const allowed = isNamed && [...needed].every((letter) => permission.includes(letter));
  if (!allowed && statusOutside === 404) return [404, `vault ${ids.vault} not found`];
  if (!allowed && (!isNamed || permission === "")) return [403, `vault ${ids.vault} is not in scope`];
  const lacks = [...needed].find((letter) => !permission.includes(letter));
  if (!allowed) return [403, `the token may not ${WORDS[lacks!]} vault ${ids.vault}`];
  if (vault === "deleted") return [404, `vault ${ids.vault} not found`];
  if (item !== "own") return [404, `item ${ids.item} not found`];
  if (file !== "own") return [404, `file ${ids.file} not found`];
  return [endpoint.method === "DELETE" ? 204 : 200];
}

let vaults: Record<Case["vault"], string>;
let items: Record<Case["item"], string>;
let files: Record<Case["file"], string>;
/** A deleted Item of the vault `own` with a File, and one of the vault `other`. */
let deletedItems: Record<Case["item"], string>;
let deletedFiles: Record<Case["file"], string>;
let owner: Client;
let clients: Record<Case["permission"], Client>;

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
  deletedItems = { own: await makeItem(own), other: await makeItem(other), missing: crypto.randomUUID() };
  deletedFiles = { ...files, own: await makeFile(own, deletedItems.own) };
  await owner("DELETE", `${itemsOf(own)}/${deletedItems.own}`);
  await owner("DELETE", `${itemsOf(other)}/${deletedItems.other}`);
  const clientWith = async (permission: Permission) =>
    client((await makeToken({ [own]: permission, [deleted]: permission })).token);
  const none = client((await makeToken({})).token);
  const others = Object.keys(PERMISSIONS) as Permission[];
  const withPermission = await Promise.all(others.map(async (permission) => [permission, await clientWith(permission)]));
  clients = { "": none, ...Object.fromEntries(withPermission) };
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

/** The ids of a case. A write that succeeds gets a new Item and File, so that the cases do not depend on each other. */
async function idsOf(c: Case): Promise<Ids> {
  const { path, method } = c.endpoint;
  const ofDeleted = path.includes("/deleted-items");
  const [item, file] = ofDeleted ? [deletedItems[c.item], deletedFiles[c.file]] : [items[c.item], files[c.file]];
  const ids = { vault: vaults[c.vault], item, file };
  const writes = method !== "GET" && expected(c, ids)[0] < 400;
  if (!writes || !path.includes(":item")) return ids;
  const made = await makeItem(vaults.own);
  // The File also makes version 2, so that version 1 is an earlier one.
  const withFile = { ...ids, item: made, file: /:file|:version/.test(path) ? await makeFile(vaults.own, made) : ids.file };
  if (ofDeleted) await owner("DELETE", `${itemsOf(vaults.own)}/${made}`);
  return withFile;
}

const titleOf = ({ endpoint, permission, vault, item, file }: Case) =>
  `${endpoint.name}, permission "${permission}", vault ${vault}, item ${item}, file ${file}`;

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
    expect(Object.fromEntries(table)).toEqual(CONTRACT);
  });

  it("requires the admin's secret for the routes below /v1/admin, and for no other route", () => {
    expect(ROUTES.filter(({ path, access }) => path.startsWith("/v1/admin/") !== (access.by === "admin"))).toEqual([]);
  });
});

describe("the authorization matrix", () => {
  // Five shares no factor with the numbers of vaults, Items and Files, so that a short run has each of them with each route.
  it.each(sample(CASES, 5).map((c) => [titleOf(c), c] as const))("%s", async (_, c) => {
    const ids = await idsOf(c);
    const reply = await sendTo(clients[c.permission], c.endpoint, ids);
    const [status, message] = expected(c, ids);
    const refusal = message === undefined ? undefined : { status, message };
    expect([reply.status, reply.status < 400 ? undefined : reply.body]).toEqual([status, refusal]);
  });

  it("leaves the Items and the File of refused writes unchanged", async () => {
    const { item, other, objects } = await readTargets();
    expect([item.version, other.version, objects.length]).toEqual([2, 1, 1]);
  });
});

/** Resolves a reference to the title of an Item. Its path has no vault, so the matrix above does not have this route. */
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
