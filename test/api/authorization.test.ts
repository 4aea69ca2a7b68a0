import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/routes.ts";
import { countingDatabase } from "../support/bindings.ts";
import { objectsOf, pattern } from "../support/files.ts";
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

/** Who may do what (contract 4 and 8): every route of the table × permission × vault × Item × File. */

/** The permission that each route needs, and the status outside of the scope: contract 1 and 8, as a list of its own. */
const CONTRACT: Readonly<Record<string, readonly [Permission, 403 | 404]>> = {
  "GET /v1/vaults/:vault": ["r", 403],
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
};

interface Ids {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
}

const rename = [{ op: "replace", path: "/title", value: "Other" }];

/** The bodies with which a route succeeds. A route that is not listed has none. */
const BODIES: Readonly<Record<string, readonly ((ids: Ids) => unknown)[]>> = {
  "POST /v1/vaults/:vault/items": [() => LOGIN],
  "PUT /v1/vaults/:vault/items/:item": [({ vault }) => ({ ...LOGIN, vault: { id: vault } })],
  "PATCH /v1/vaults/:vault/items/:item": [() => rename, () => []],
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

const ask = (call: Client, { method, path, body }: Endpoint, ids: Ids, bindings: Partial<Env> = {}): Promise<Reply> => {
  const named = path.replace(":vault", ids.vault).replace(":item", ids.item).replace(":file", ids.file);
  const query = method === "POST" && path.endsWith("/files") ? "?name=f" : "";
  return call(method, named + query, { body: body(ids), env: bindings });
};

/** `deleted`: a vault that the token names and that was deleted. `other` and `missing`: vaults that it does not name. */
const VAULTS = ["own", "deleted", "other", "missing"] as const;
const PLACES = ["own", "other", "missing"] as const;
const PERMISSIONS = ["", "r", "w", "rw"] as const;

interface Case {
  readonly endpoint: Endpoint;
  readonly permission: Permission | "";
  readonly vault: (typeof VAULTS)[number];
  readonly item: (typeof PLACES)[number];
  readonly file: (typeof PLACES)[number];
}

/** The places that a path can name: one where it has no such parameter. */
const placesIn = ({ path }: Endpoint, parameter: string) => (path.includes(parameter) ? PLACES : PLACES.slice(0, 1));

const CASES = ENDPOINTS.flatMap((endpoint) =>
  PERMISSIONS.flatMap((permission) =>
    VAULTS.flatMap((vault) =>
      placesIn(endpoint, ":item").flatMap((item) =>
        placesIn(endpoint, ":file").map((file): Case => ({ endpoint, permission, vault, item, file })),
      ),
    ),
  ),
);

/** Out: the status, and the message of a refusal. */
function expected({ endpoint, permission, vault, item, file }: Case, ids: Ids): [number, string?] {
  const [needed, outside] = CONTRACT[endpoint.name]!;
  const named = vault === "own" || vault === "deleted";
  const allowed = named && [...needed].every((one) => permission.includes(one));
  if (!allowed) return outside === 404 ? [404, `vault ${ids.vault} not found`] : [403, `vault ${ids.vault} is not in scope`];
  if (vault === "deleted") return [404, `vault ${ids.vault} not found`];
  if (item !== "own") return [404, `item ${ids.item} not found`];
  if (file !== "own") return [404, `file ${ids.file} not found`];
  return [endpoint.method === "DELETE" ? 204 : 200];
}

let vaults: Record<Case["vault"], string>;
let items: Record<Case["item"], string>;
let files: Record<Case["file"], string>;
let owner: Client;
let clients: Record<Case["permission"], Client>;

const itemsOf = (vault: string) => `/v1/vaults/${vault}/items`;
const makeItem = async (vault: string): Promise<string> => (await owner("POST", itemsOf(vault), { body: LOGIN })).body.id;
const makeFile = async (vault: string, item: string): Promise<string> =>
  (await owner("POST", `${itemsOf(vault)}/${item}/files?name=f`, { body: pattern(1) })).body.id;

/** The first vault has an Item with a File, and a second Item, whose File is the `other` one. */
beforeAll(async () => {
  const [own, deleted, other] = [await makeVault("Own"), await makeVault("Deleted"), await makeVault("Other")];
  vaults = { own, deleted, other, missing: crypto.randomUUID() };
  owner = client((await makeToken({ [own]: "rw", [deleted]: "rw", [other]: "rw" })).token);
  items = { own: await makeItem(own), other: await makeItem(other), missing: crypto.randomUUID() };
  files = {
    own: await makeFile(own, items.own),
    other: await makeFile(own, await makeItem(own)),
    missing: crypto.randomUUID(),
  };
  const clientWith = async (permission: Permission) =>
    client((await makeToken({ [own]: permission, [deleted]: permission })).token);
  const none = client((await makeToken({})).token);
  clients = { "": none, r: await clientWith("r"), w: await clientWith("w"), rw: await clientWith("rw") };
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

/** The ids of a case. A write that succeeds gets an Item and a File of its own. */
async function idsOf(c: Case): Promise<Ids> {
  const ids = { vault: vaults[c.vault], item: items[c.item], file: files[c.file] };
  const writes = c.endpoint.method !== "GET" && expected(c, ids)[0] < 400;
  if (!writes || !c.endpoint.path.includes(":item")) return ids;
  const item = await makeItem(vaults.own);
  return { ...ids, item, file: c.endpoint.path.includes(":file") ? await makeFile(vaults.own, item) : ids.file };
}

const titleOf = ({ endpoint, permission, vault, item, file }: Case) =>
  `${endpoint.name}, permission "${permission}", vault ${vault}, item ${item}, file ${file}`;

/** The state of the Item and the File that the refused writes named. */
const shared = async () => {
  const { body: item } = await owner("GET", `${itemsOf(vaults.own)}/${items.own}`);
  const { body: other } = await owner("GET", `${itemsOf(vaults.other)}/${items.other}`);
  return { item, other, objects: (await objectsOf(vaults.own)).filter((key) => key.includes(files.own)) };
};

describe("the table of routes", () => {
  it("gives each route the permission and the refusal of the contract", () => {
    const table = ROUTES.flatMap(({ method, path, access }) =>
      access.by === "token" && access.permission !== undefined
        ? [[`${method} ${path}`, [access.permission, access.outside === "out_of_scope" ? 403 : 404]] as const]
        : [],
    );
    expect(Object.fromEntries(table)).toEqual(CONTRACT);
  });

  it("guards every route below /v1 with a token or the admin's secret", () => {
    expect(ROUTES.filter(({ path, access }) => path.startsWith("/v1/admin/") !== (access.by === "admin"))).toEqual([]);
  });
});

describe("the authorization matrix", () => {
  it.each(CASES.map((c) => [titleOf(c), c] as const))("%s", async (_, c) => {
    const ids = await idsOf(c);
    const reply = await ask(clients[c.permission], c.endpoint, ids);
    const [status, message] = expected(c, ids);
    const refusal = message === undefined ? undefined : { status, message };
    expect([reply.status, reply.status < 400 ? undefined : reply.body]).toEqual([status, refusal]);
  });

  it("leaves the Items and the File that refused writes name as they were", async () => {
    const { item, other, objects } = await shared();
    expect([item.version, other.version, objects.length]).toEqual([2, 1, 1]);
  });
});

/** Everything of an answer but its Request-Id, with `ID` for the vault's id. */
const plain = ({ status, text, headers }: Reply, id: string) =>
  [status, text.replaceAll(id, "ID"), ...[...headers].filter(([name]) => name !== "request-id")].join("\n");

describe("a vault that is not in the token", () => {
  it.each(ENDPOINTS)("gets the same answer whether it exists or not, without any I/O: $name", async (endpoint) => {
    const { count, db } = countingDatabase();
    const untouchable = new Proxy({} as any, {
      get: (_, name) => {
        throw new Error(`${String(name)} was read`);
      },
    });
    const bindings = { DB: db, COORDINATOR: untouchable, FILES: untouchable };
    const [there, absent] = [vaults.other, crypto.randomUUID()];
    const to = (vault: string) => ask(clients.rw, endpoint, { vault, item: items.other, file: files.own }, bindings);
    const [first, second] = [await to(there), await to(absent)];
    expect(plain(first, there)).toBe(plain(second, absent));
    expect(first.text).toContain(there);
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
      const reply = await ask(send, endpoint, ids);
      expect([reply.status, reply.body]).toEqual([401, { status: 401, message: "Invalid token signature" }]);
    }
  });
});

describe("an Item of another vault", () => {
  it.each(ENDPOINTS.filter(({ path }) => path.includes(":item")))(
    "does not exist, not even for a token with both vaults, and stays as it was: $name",
    async (endpoint) => {
      const before = await shared();
      const reply = await ask(owner, endpoint, { vault: vaults.own, item: items.other, file: files.own });
      expect(reply.body).toEqual({ status: 404, message: `item ${items.other} not found` });
      expect(await shared()).toEqual(before);
    },
  );
});

describe("a write that is refused", () => {
  it.each(ENDPOINTS.filter(({ method }) => method !== "GET"))("changes nothing: $name", async (endpoint) => {
    const state = async () => [
      (await owner("GET", `/v1/vaults/${vaults.own}`)).body,
      await shared(),
      await objectsOf(vaults.own),
    ];
    const before = await state();
    const ids = { vault: vaults.own, item: items.own, file: files.own };
    for (const call of [clients.r, clients[""]]) expect((await ask(call, endpoint, ids)).status).toBe(403);
    expect(await state()).toEqual(before);
    expect((await env.FILES.list({ prefix: `${vaults.own}/${files.own}/` })).objects.length).toBe(1);
  });
});

describe("a token that only writes", () => {
  it("reads nothing: PUT of a content does not send it the name and the section of the File", async () => {
    const path = `${itemsOf(vaults.own)}/${items.own}/files`;
    const { body: file } = await owner("POST", `${path}?name=secret-name&section=secret-section`, { body: pattern(1) });
    const { text } = await clients.w("PUT", `${path}/${file.id}/content`, { body: pattern(2) });
    expect([text.includes("secret-name"), text.includes("secret-section")]).toEqual([false, false]);
  });
});
