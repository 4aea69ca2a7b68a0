import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countingDatabase } from "../support/bindings.ts";
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

/** Who may do what: every endpoint × permission × vault × Item, against the rule of the contract (1.4 and 2.5). */

interface Endpoint {
  readonly name: string;
  readonly method: string;
  /** The permissions that it needs, all of them. */
  readonly needs: string;
  readonly success: number;
  readonly path: (vault: string, item: string) => string;
  readonly body?: (vault: string) => unknown;
}

const list = (vault: string) => `/v1/vaults/${vault}/items`;
const one = (vault: string, item: string) => `${list(vault)}/${item}`;
const rename = [{ op: "replace", path: "/title", value: "Other" }];

const ENDPOINTS: readonly Endpoint[] = [
  { name: "GET Items", method: "GET", needs: "r", success: 200, path: list },
  { name: "POST Item", method: "POST", needs: "w", success: 200, path: list, body: () => LOGIN },
  { name: "GET Item", method: "GET", needs: "r", success: 200, path: one },
  { name: "PUT Item", method: "PUT", needs: "rw", success: 200, path: one, body: (id) => ({ ...LOGIN, vault: { id } }) },
  { name: "PATCH Item", method: "PATCH", needs: "rw", success: 200, path: one, body: () => rename },
  { name: "PATCH Item with []", method: "PATCH", needs: "rw", success: 200, path: one, body: () => [] },
  { name: "DELETE Item", method: "DELETE", needs: "w", success: 204, path: one },
  { name: "GET Vault", method: "GET", needs: "r", success: 200, path: (vault) => `/v1/vaults/${vault}` },
];

/** `deleted`: a vault that the token names and that is gone. `other` and `missing`: vaults that it does not name. */
const VAULTS = ["own", "deleted", "other", "missing"] as const;
const ITEMS = ["own", "other", "missing"] as const;

interface Case {
  readonly endpoint: Endpoint;
  readonly permission: Permission | "";
  readonly vault: (typeof VAULTS)[number];
  readonly item: (typeof ITEMS)[number];
}

const CASES = ENDPOINTS.flatMap((endpoint) =>
  (["", "r", "w", "rw"] as const).flatMap((permission) =>
    VAULTS.flatMap((vault) =>
      (endpoint.path === one ? ITEMS : ITEMS.slice(0, 1)).map((item): Case => ({ endpoint, permission, vault, item })),
    ),
  ),
);

/** The contract. Out: the status, and the message of a refusal. */
function expected({ endpoint, permission, vault, item }: Case, ids: { vault: string; item: string }): [number, string?] {
  const named = vault === "own" || vault === "deleted";
  const allowed = named && [...endpoint.needs].every((need) => permission.includes(need));
  if (!allowed && endpoint.name === "GET Items") return [404, `vault ${ids.vault} not found`];
  if (!allowed) return [403, `vault ${ids.vault} is not in scope`];
  if (vault === "deleted") return [404, `vault ${ids.vault} not found`];
  if (endpoint.path === one && item !== "own") return [404, `item ${ids.item} not found`];
  return [endpoint.success];
}

async function makeItem(vault: string): Promise<string> {
  const { token } = await makeToken({ [vault]: "w" });
  return (await client(token)("POST", list(vault), { body: LOGIN })).body.id;
}

/** The ids that a case names, by what it calls them. */
let vaults: Record<Case["vault"], string>;
let items: Record<Case["item"], string>;
let deletedItem: string;
let clients: Record<Case["permission"], Client>;

/** Three vaults with an Item each, one of them deleted, and a token for each permission on the first and the deleted one. */
beforeAll(async () => {
  const [own, deleted, other] = [await makeVault("Own"), await makeVault("Deleted"), await makeVault("Other")];
  vaults = { own, deleted, other, missing: crypto.randomUUID() };
  items = { own: await makeItem(own), other: await makeItem(other), missing: crypto.randomUUID() };
  deletedItem = await makeItem(deleted);
  const clientWith = async (permission: Permission) =>
    client((await makeToken({ [own]: permission, [deleted]: permission })).token);
  const none = client((await makeToken({})).token);
  clients = { "": none, r: await clientWith("r"), w: await clientWith("w"), rw: await clientWith("rw") };
  await admin("DELETE", `/v1/admin/vaults/${deleted}`);
});

/** The id of the Item of a case. A write that is to succeed gets an Item of its own; all others share one, which must stay. */
async function itemOf({ endpoint, vault, item }: Case, status: number): Promise<string> {
  if (item !== "own") return items[item];
  if (vault === "deleted") return deletedItem;
  return status < 400 && endpoint.path === one && endpoint.method !== "GET" ? makeItem(vaults.own) : items.own;
}

describe("the authorization matrix", () => {
  it.each(CASES.map((c) => [`${c.endpoint.name}, permission "${c.permission}", vault ${c.vault}, item ${c.item}`, c] as const))(
    "%s",
    async (_, c) => {
      const { method, path, body } = c.endpoint;
      const vault = vaults[c.vault];
      const item = await itemOf(c, expected(c, { vault, item: "" })[0]);
      const reply = await clients[c.permission](method, path(vault, item), { body: body?.(vault) });
      const [status, message] = expected(c, { vault, item });
      const refusal = message === undefined ? undefined : { status, message };
      expect([reply.status, reply.status < 400 ? undefined : reply.body]).toEqual([status, refusal]);
    },
  );

  it("left the Item that refused writes named, and the one of the other vault, as they were", async () => {
    const reader = client((await makeToken({ [vaults.own]: "r", [vaults.other]: "r" })).token);
    for (const [vault, item] of [
      [vaults.own, items.own],
      [vaults.other, items.other],
    ] as const) {
      expect((await reader("GET", one(vault, item))).body).toMatchObject({ ...LOGIN, version: 1 });
    }
  });
});

const plain = ({ status, text, headers }: Reply, id: string) =>
  [status, text.replaceAll(id, "ID"), ...[...headers].map((header) => header.join(": "))].join("\n");

describe("a vault that is not in the token", () => {
  it.each(ENDPOINTS)("answers $name the same, byte for byte, whether it exists or not, without any I/O", async (endpoint) => {
    const { count, db } = countingDatabase();
    const COORDINATOR = new Proxy(env.COORDINATOR, {
      get: (_, name) => {
        throw new Error(`the coordinator's ${String(name)} was asked for`);
      },
    });
    const there = await makeVault();
    const item = await makeItem(there);
    const absent = crypto.randomUUID();
    const { token } = await makeToken({ [await makeVault()]: "rw" });
    const ask = (vault: string) =>
      client(token)(endpoint.method, endpoint.path(vault, item), {
        body: endpoint.body?.(vault),
        env: { DB: db, COORDINATOR },
      });
    const [first, second] = [await ask(there), await ask(absent)];
    expect(plain(first, there)).toBe(plain(second, absent));
    expect(first.text).toContain(there);
    expect(count.calls).toBe(0);
  });
});

describe("no token, no answer", () => {
  it.each(ENDPOINTS)("$name is a 401 for every vault and Item without a token", async ({ method, path, body }) => {
    const vault = await makeVault();
    const item = await makeItem(vault);
    for (const [v, i] of [
      [vault, item],
      [vault, crypto.randomUUID()],
      [crypto.randomUUID(), item],
      ["nonsense", "nonsense"],
    ] as const) {
      const { status, body: answer } = await send(method, path(v, i), { body: body?.(v) });
      expect(status).toBe(401);
      expect(answer).toEqual({ status: 401, message: "Invalid token signature" });
    }
  });
});

describe("an Item of another vault", () => {
  it.each(ENDPOINTS.filter(({ path }) => path === one))(
    "is not there for $name, not even with a token for both vaults, and stays as it was",
    async ({ method, body }) => {
      const [first, second] = [await makeVault(), await makeVault()];
      const item = await makeItem(second);
      const call = client((await makeToken({ [first]: "rw", [second]: "rw" })).token);
      const before = await call("GET", one(second, item));
      const reply = await call(method, one(first, item), { body: body?.(first) });
      expect(reply.body).toEqual({ status: 404, message: `item ${item} not found` });
      expect((await call("GET", one(second, item))).body).toEqual(before.body);
    },
  );
});

describe("a write that is refused", () => {
  it.each(ENDPOINTS.filter(({ method }) => method !== "GET"))("leaves no trace: $name", async ({ method, path, body }) => {
    const vault = await makeVault();
    const item = await makeItem(vault);
    const [reader, other] = [await makeToken({ [vault]: "r" }), await makeToken({})];
    const state = async () => [
      (await client(reader.token)("GET", `/v1/vaults/${vault}`)).body,
      (await client(reader.token)("GET", one(vault, item))).body,
    ];
    const before = await state();
    for (const { token } of [reader, other]) {
      expect((await client(token)(method, path(vault, item), { body: body?.(vault) })).status).toBe(403);
    }
    expect(await state()).toEqual(before);
  });
});
