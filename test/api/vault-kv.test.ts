import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { KV_OPERATIONS } from "../../src/api/doors.ts";
import { countingDatabase, limiterOf } from "../support/bindings.ts";
import { CONSOLE, COOKIE, signIn } from "../support/console.ts";
import { kv } from "../support/kv.ts";
import { CALLERS, TOKENS } from "../support/matrix.ts";
import { createReplicatedDatabase } from "../support/replica.ts";
import { login as seededItem, seedItems } from "../support/seed.ts";
import { admin, type Client, client, makeToken, makeVault, type Reply, send } from "../support/service.ts";
import { QUEUED } from "../support/waits.ts";

/** The read API of Vault KV v2 (contract 29.1 to 29.9). The requests of real clients are in test/clients/vault-kv.test.ts. */

const OTP = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const SECRET = "canary-7c1f";

let vault: string;
let other: string;
let call: Client;
let token: string;
const ids: Record<string, string> = {};

async function makeItem(as: Client, of: string, title: string, attributes: object = {}): Promise<string> {
  const fields = [{ id: "p", label: "password", type: "CONCEALED", value: SECRET }];
  const { body } = await as("POST", `/v1/vaults/${of}/items`, { body: { title, category: "LOGIN", fields, ...attributes } });
  return (ids[title] = body.id);
}

const read = (path: string, as = token): Promise<Reply> => kv("GET", path, { token: as });
const valuesAt = async (path: string): Promise<unknown> => (await read(path)).body.data?.data;
const keysAt = async (path: string, as = token): Promise<unknown> => (await read(`${path}?list=true`, as)).body.data?.keys;
const narrowToken = async (permissions: "l" | "r", ...titles: readonly string[]): Promise<string> =>
  (await makeToken({ [vault]: { permissions, items: titles.map((title) => ids[title]!) } })).token;

/** All that a client has of an answer, but for the id of the request. */
const shown = ({ status, text, headers }: Reply) =>
  JSON.stringify([status, text, ...[...headers].filter(([name]) => name !== "request-id")]);

const DATABASE = {
  sections: [
    { id: "s1", label: "Admin" },
    { id: "s2", label: "" },
  ],
  fields: [
    ["f1", "user", "app"],
    ["f2", "Email", "m1"],
    ["f3", "email", "m2", "s1"],
    ["f4", "Code", OTP, "s1"],
    ["f5", "", "unlabelled"],
    ["f6", "Twice", "1"],
    ["f7", "TWICE", "2"],
    ["f8", "part", "3", "s2"],
    ["f9", "Admin.Code", "dotted"],
    ["user", "login", "by its id"],
    ["f10", "__proto__", "own"],
  ].map(([id, label, value, section]) => {
    return { id, label, value, type: value === OTP ? "OTP" : "STRING", section: section && { id: section } };
  }),
};
/** Titles that appear in lists as ids. */
const UNNAMED = ["Same", "SAME", "a//b", "dir/", "../up", "a/./b", "..", "0f0e0d0c-0b0a-4908-8706-050403020100"];

beforeAll(async () => {
  [vault, other] = [await makeVault("Production"), await makeVault("Other")];
  token = (await makeToken({ [vault]: "rwd" })).token;
  call = client(token);
  await makeItem(client((await makeToken({ [other]: "rw" })).token), other, "Hidden");
  await makeItem(call, vault, "Database", DATABASE);
  for (const title of ["prod/db", "prod/cache", "50% off?", "Put away", ...UNNAMED]) await makeItem(call, vault, title);
  await call("POST", `/v1/vaults/${vault}/items/${ids["Put away"]}/archive`);
});

describe("the setting DOORS", () => {
  it.each(["", " , "])("that names no API leaves each path below /vault as an unknown one: %j", async (DOORS) => {
    for (const path of ["/vault/v1/sys/health", `/vault/v1/${vault}/data/Database`, "/vault"]) {
      const { status, body } = await call("GET", path, { env: { DOORS } });
      expect([path, status, body]).toEqual([path, 404, { status: 404, message: "Not found" }]);
    }
  });

  it("that names an unknown API is a 503, which /health explains", async () => {
    const bindings = { env: { DOORS: "vault,other" } };
    const refused = await kv("GET", "Production/data/Database", { token, ...bindings });
    expect([refused.status, refused.body]).toEqual([503, { errors: [expect.any(String)] }]);
    expect((await call("GET", "/v1/vaults", bindings)).status).toBe(503);
    expect((await send("GET", "/health", bindings)).text).toContain("DOORS names another API than vault");
  });
});

/** Contract 29.2. */
describe("a path or a method that is not served", () => {
  it.each([
    ["GET", "sys/seal-status", 404, "Not found"],
    ["GET", "Production/config", 404, "Not found"],
    ["POST", "Production/data/Database", 405, "read only"],
    ["DELETE", "Production/metadata/Database", 405, "read only"],
    ["PUT", "auth/token/create", 405, "read only"],
    ["PUT", "auth/token/renew-self", 400, "lease is not renewable"],
  ])("is refused: %s %s is a %d", async (method, path, status, message) => {
    const reply = await kv(method, path, { token });
    expect([reply.status, reply.body]).toEqual([status, { errors: [message] }]);
  });

  it("is not sys/health, which needs no token", async () => {
    expect((await kv("GET", "sys/health")).body).toMatchObject({ initialized: true, sealed: false });
  });
});

/** Contract 29.3. */
describe("the headers of a request", () => {
  it.each<[number, (own: string, another: string) => Record<string, string>]>([
    [200, (own) => ({ Authorization: `Bearer ${own}` })],
    [200, (own) => ({ Authorization: `Bearer ${own}`, "X-Vault-Token": own })],
    [200, (own) => ({ Authorization: `Bearer ${own}`, "X-Vault-Token": "" })],
    [403, (own, another) => ({ Authorization: `Bearer ${own}`, "X-Vault-Token": another })],
    [403, (own) => ({ Authorization: "Basic eA==", "X-Vault-Token": own })],
    [200, (own) => ({ "X-Vault-Token": own, "X-Vault-Namespace": "root", "X-Vault-Request": "true", "X-Vault-Index": "x" })],
    [400, (own) => ({ "X-Vault-Token": own, "X-Vault-Namespace": "team/" })],
    [400, (own) => ({ "X-Vault-Token": own, "X-Vault-Wrap-TTL": "60s" })],
  ])("have one token, no namespace and no wrapping, else it is refused: %d for %s", async (status, headersOf) => {
    const headers = headersOf(token, (await makeToken({ [vault]: "rw" })).token);
    expect((await kv("GET", "Production/data/Database", { headers })).status).toBe(status);
  });

  it("have no session of the console: its cookie is none", async () => {
    const headers = { ...CONSOLE, Cookie: `${COOKIE}=${await signIn({ token })}` };
    expect((await kv("GET", "Production/data/Database", { headers })).status).toBe(403);
  });
});

/** Contract 29.4. */
describe("a refusal", () => {
  it("is the same 403 for every fault of a token and every vault that it does not read", async () => {
    const refusals = [
      await kv("GET", "Production/data/Database"),
      await read("Production/data/Database", "no-token"),
      await read("Production/data/Database", (await makeToken({ [vault]: "w" })).token),
      ...(await Promise.all(["Nowhere", "Other", other, crypto.randomUUID()].map((mount) => read(`${mount}/data/Hidden`)))),
      await read(`sys/internal/ui/mounts/${other}`),
      await read("Other/metadata?list=true"),
      await read("Other/metadata"),
      await read("Nowhere/metadata"),
    ];
    expect(new Set(refusals.map(shown)).size).toBe(1);
    expect([refusals[0]!.status, refusals[0]!.body]).toEqual([403, { errors: ["permission denied"] }]);
  });

  it("is the same 404 for an Item that is missing, outside of the scope or deleted, and for an empty list", async () => {
    const narrow = await narrowToken("r", "prod/db");
    await call("DELETE", `/v1/vaults/${vault}/items/${await makeItem(call, vault, "Gone")}`);
    const refusals = [
      ...(await Promise.all(["data/Database", `data/${ids["Database"]}`].map((path) => read(`Production/${path}`, narrow)))),
      ...(await Promise.all(
        ["data/Nothing", "data/Gone", "data/Database?version=99", "metadata/nothing?list=true", "metadata"].map((path) =>
          read(`Production/${path}`),
        ),
      )),
    ];
    expect(new Set(refusals.map(shown)).size).toBe(1);
    expect([refusals[0]!.status, refusals[0]!.body]).toEqual([404, { errors: [] }]);
  });

  it("is a 409 where a name is that of several vaults or Items", async () => {
    const [one, another] = [await makeVault("Both"), await makeVault("BOTH")];
    const both = (await makeToken({ [one]: "r", [another]: "r" })).token;
    expect((await read("both/data/x", both)).body).toEqual({ errors: ["The reference names several vaults: use an id"] });
    expect((await read("Production/data/same")).status).toBe(409);
  });

  it("quotes no value, no token and no title", async () => {
    const paths = [`Production/data/${SECRET}`, `${SECRET}/data/x`, `Production/data/Database?version=${SECRET}`];
    const replies = [...paths.map((path) => read(path)), ...paths.map((path) => read(path, SECRET))];
    const login = kv("POST", `auth/${SECRET}/login`, { body: { jwt: SECRET, role: [SECRET] } });
    const texts = (await Promise.all([...replies, login])).map(({ status, text }) => `${status} ${text}`);
    expect(texts.join("\n")).not.toMatch(new RegExp(`${SECRET}|^2`, "m"));
  });

  it("has Retry-After beyond the rate of the token", async () => {
    const request = { token: (await makeToken({ [vault]: "r" })).token, env: { TOKEN_RATE: limiterOf(0) } };
    let reply: Reply;
    do reply = await kv("GET", "Production/data/Database", request);
    while (reply.status === 200);
    expect([reply.status, reply.headers.get("Retry-After"), reply.body]).toEqual([429, "10", { errors: [expect.any(String)] }]);
  });
});

/** Contract 29.5. */
describe("a path", () => {
  it("names a vault by its name or id, and an Item by its title or id", async () => {
    for (const mount of ["Production", "PRODUCTION", vault])
      for (const item of ["prod/db", "PROD%2Fdb", "50%25%20off%3F", ids["prod/db"]!])
        expect(await valuesAt(`${mount}/data/${item}`)).toEqual({ password: SECRET });
  });

  it.each(["a//b", "dir/", "../up", "a/./b", "..", "Put away"])(
    "names by its id alone an archived Item, and one whose title URLs change: %s",
    async (title) => {
      expect(await valuesAt(`Production/data/${ids[title]}`)).toEqual({ password: SECRET });
      expect((await read(`Production/data/${encodeURI(title)}`)).status).toBe(404);
    },
  );
});

/** Contract 29.5. */
describe("a vault that is named as a part of a path", () => {
  it.each(["sys", "auth", "data", "metadata"])("is read by its name, and takes the place of no other path: %s", async (name) => {
    const named = await makeVault(name);
    const reader = (await makeToken({ [named]: "rw" })).token;
    for (const title of ["health", "login", "token/lookup-self"]) await makeItem(client(reader), named, title);
    for (const mount of [name, named])
      for (const title of ["health", "login", "token/lookup-self"])
        expect((await read(`${mount}/data/${title}`, reader)).body.data.data).toEqual({ password: SECRET });
    expect((await read("sys/health", reader)).body).toMatchObject({ initialized: true });
    expect((await read("auth/token/lookup-self", reader)).body.data).toMatchObject({ type: "service" });
    expect((await kv("POST", `auth/${name}/login`, { body: { jwt: "x" } })).status).toBe(403);
  });

  it("and has a slash in its name is read by its id", async () => {
    const named = await makeVault("team/one");
    const reader = (await makeToken({ [named]: "rw" })).token;
    await makeItem(client(reader), named, "Inside");
    expect((await read(`${named}/data/Inside`, reader)).status).toBe(200);
    expect((await read("team/one/data/Inside", reader)).status).toBe(404);
  });
});

/** Contract 29.6. */
describe("the keys of an Item", () => {
  it("are labels, and in a section also section.label, with the values that references have; the ambiguous ones are warnings", async () => {
    const { body } = await read("Production/data/Database");
    expect(body.data.data).toEqual({
      // The id of another field takes precedence over the label of this one.
      user: "by its id",
      login: "by its id",
      Email: "m1",
      email: "m1",
      "Admin.email": "m2",
      Code: OTP,
      "Admin.Code": "dotted",
      f5: "unlabelled",
      part: "3",
      "s2.part": "3",
      ["__proto__"]: "own",
    });
    expect(body.warnings).toEqual(["Twice", "TWICE"].map((key) => expect.stringContaining(`"${key}"`)));
    const keys = ["user", "email", "Code", "f5", "part", "Admin.Code"];
    const references = keys.map((key) => `op://Production/Database/${key}`);
    const { values } = (await call("POST", "/v1/resolve", { body: { references } })).body;
    expect(values.map(({ value }: { value: string }) => value)).toEqual(keys.map((key) => body.data.data[key]));
  });
});

/** Contract 29.7. */
describe("an answer", () => {
  const ENVELOPE = {
    request_id: expect.any(String),
    lease_id: "",
    renewable: false,
    lease_duration: 0,
    wrap_info: null,
    auth: null,
  };
  const VERSION = {
    created_time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:]{8}\.\d{3}Z$/),
    deletion_time: "",
    destroyed: false,
  };

  it("has the newest version of an Item, or an earlier one while it is kept", async () => {
    const item = `/v1/vaults/${vault}/items/${await makeItem(call, vault, "Versions")}`;
    await call("PATCH", item, { body: [{ op: "replace", path: "/fields/p/value", value: "second" }] });
    for (const [query, value, version] of [
      ["", "second", 2],
      ["?version=0", "second", 2],
      ["?version=2", "second", 2],
      ["?version=1", SECRET, 1],
    ] as const) {
      const { headers, body } = await read(`Production/data/Versions${query}`);
      const data = { data: { password: value }, metadata: { ...VERSION, custom_metadata: null, version } };
      expect(body).toEqual({ ...ENVELOPE, request_id: headers.get("Request-Id"), warnings: null, data });
    }
    await call("DELETE", `${item}/versions/1`);
    expect((await read("Production/data/Versions?version=1")).status).toBe(404);
    const { text, body } = await read("Production/metadata/Versions");
    expect(body).toMatchObject({ ...ENVELOPE, data: { current_version: 2, custom_metadata: null, versions: { 2: VERSION } } });
    expect(text).not.toContain("second");
  });

  it("has the mount as the client wrote it", async () => {
    for (const path of ["PRODUCTION", vault, "PRODUCTION/prod/db"]) {
      const data = { path: `${path.split("/")[0]}/`, type: "kv", options: { version: "2" } };
      expect((await read(`sys/internal/ui/mounts/${path}`)).body).toEqual({ ...ENVELOPE, warnings: null, data });
    }
  });
});

/** Contract 29.8. */
describe("a list", () => {
  it("has the titles flat, and as ids those that are ambiguous or that URLs change, so that each key can be read", async () => {
    const keys = (await keysAt("Production/metadata")) as string[];
    expect(keys).toEqual(expect.arrayContaining(["Database", "prod/cache", "50% off?", ...UNNAMED.map((title) => ids[title])]));
    expect(keys).not.toContain("Put away");
    for (const key of keys) expect([key, (await read(`Production/data/${encodeURIComponent(key)}`)).status]).toEqual([key, 200]);
  });

  it("of a folder has the titles that begin with it, without it", async () => {
    for (const path of ["prod", "prod/"]) expect(await keysAt(`Production/metadata/${path}`)).toEqual(["cache", "db"]);
  });

  it("has as many titles as 8 MiB hold, each with 200 bytes more, and one more title is a 400", async () => {
    const large = await makeVault("Large");
    const reader = (await makeToken({ [large]: "r" })).token;
    const titled = (length: number, count: number) =>
      Array.from({ length: count }, (_, index) => seededItem(large, String(index).padEnd(length, "x")));
    const most = Math.floor((8 * 1024 * 1024) / (1000 + 200));
    await seedItems(env, large, titled(1000, most));
    expect(await keysAt("Large/metadata", reader)).toHaveLength(most);
    await seedItems(env, large, titled(999, 1));
    const { status, body } = await read("Large/metadata?list=true", reader);
    expect([status, body]).toEqual([400, { errors: [expect.stringContaining("read them by their titles")] }]);
    expect((await read(`Large/metadata/${"1".padEnd(1000, "x")}`, reader)).status).toBe(200);
  });

  it("has of a token for some Items only these, also where another one has the same title", async () => {
    expect(await keysAt("Production/metadata", await narrowToken("l", "prod/db", "Same"))).toEqual(["Same", "prod/db"]);
  });
});

/** Contract 29.9. */
describe("a token", () => {
  it("is shown to its holder, without its id", async () => {
    const own = await makeToken({ [vault]: "r" }, { name: "operator", expiresIn: 60 });
    const { text, body } = await read("auth/token/lookup-self", own.token);
    expect(body.data).toMatchObject({
      display_name: "operator",
      type: "service",
      renewable: false,
      creation_ttl: 60,
      policies: [],
    });
    expect([Date.parse(body.data.expire_time), body.data.ttl > 0]).toEqual([(body.data.creation_time + 60) * 1000, true]);
    expect(text).not.toContain(own.id);
  });

  it.each(["PUT", "POST"])("ends by revoke-self, with those below it, and the log of the admin tells: %s", async (method) => {
    const own = await makeToken({ [vault]: "r" }, { delegate: true });
    const child = (await client(own.token)("POST", "/v1/tokens", { body: { name: "child", vaults: { [vault]: "r" } } })).body;
    const reply = await kv(method, "auth/token/revoke-self", { token: own.token });
    expect([reply.status, reply.text]).toEqual([204, ""]);
    for (const ended of [own, child]) expect((await read("Production/data/Database", ended.token)).status).toBe(403);
    const { body: log } = await admin("GET", `/v1/admin/activity?actor=${own.id}`);
    expect(log).toContainEqual(expect.objectContaining({ action: "DELETE", requestId: reply.headers.get("Request-Id") }));
  });
});

/** The matrix of authorization (contract 29.2), from the table of operations: every guarded one × caller × object. */
describe("every caller and every object", () => {
  it.each(Object.entries(KV_OPERATIONS).filter(([, row]) => "action" in row))("%s", async (id, row) => {
    const { method, path } = row;
    const needs = "needs" in row ? row.needs : "";
    const hasItem = path.includes(":path");
    const [METRICS, ADMIN] = ["the holder of METRICS_TOKEN", "the admin"];
    const secrets: Record<string, string | undefined> = { [METRICS]: env.METRICS_TOKEN, [ADMIN]: env.ADMIN_TOKEN };
    for (const [caller, { own, items }] of Object.entries(TOKENS)) {
      const scope = items ? { permissions: own!, items: [ids[items === "own" ? "prod/db" : "prod/cache"]!] } : own;
      const made = await makeToken(scope ? { [vault]: scope } : {});
      if (caller === "a revoked token") await admin("DELETE", `/v1/admin/tokens/${made.id}`);
      secrets[caller] = made.token;
    }
    const faults: unknown[] = [];
    let served = 0;
    for (const caller of CALLERS)
      for (const mount of needs ? [vault, other, crypto.randomUUID()] : [vault])
        for (const item of hasItem ? [ids["prod/db"]!, ids["Hidden"]!, crypto.randomUUID()] : [""]) {
          const target = path
            .replace("/vault/v1/", "")
            .replace(":mount", mount)
            .replace(/:path.*|\*$/, item);
          const granted = caller === "a revoked token" ? undefined : TOKENS[caller];
          const may = needs === "" || (mount === vault && /[lr]/.test(granted?.own?.replace(needs === "r" ? "l" : "", "") ?? ""));
          const isThere = !hasItem || (item === ids["prod/db"] && granted?.items !== "other");
          const expected = !granted || !may ? 403 : !isThere ? 404 : method === "POST" ? 204 : 200;
          const { status } = await kv(method, target + (id === "kvList" ? "?list=true" : ""), { token: secrets[caller] });
          if (status !== expected) faults.push([caller, target, status, expected]);
          else if (status < 300) served++;
        }
    expect(faults).toEqual([]);
    expect(served).toBeGreaterThan(5);
  });
});

/** Contract 29.2. */
describe("a read", () => {
  it.each([
    "Production/data/prod/db",
    "Production/metadata/prod/db",
    "sys/internal/ui/mounts/Production",
    "auth/token/lookup-self",
  ])("takes one D1 call: %s", async (path) => {
    const { count, db } = countingDatabase();
    await read("Production/data/prod/db");
    const { status } = await kv("GET", path, { token, env: { DB: db } });
    expect([status, count.calls]).toEqual([200, 1]);
  });

  it("is in the log of the vault, with the Item and its version, and so is the denial of a vault that is named by its id", async () => {
    const reader = (await makeToken({ [vault]: "r" })).token;
    const paths = [
      "Production/data/prod/db",
      "Production/metadata?list=true",
      `${other}/data/Hidden`,
      "sys/internal/ui/mounts/Production",
    ];
    const replies: Reply[] = [];
    for (const path of paths) replies.push(await read(path, reader));
    const owner = client((await makeToken({ [vault]: "r", [other]: "r" })).token);
    const [ofItem, ofVault] = [{ id: ids["prod/db"] }, { id: vault }];
    await vi.waitFor(async () => {
      const { body } = await owner("GET", "/v1/activity?limit=100");
      const entries = replies.map(({ headers }) => body.find((one: any) => one.requestId === headers.get("Request-Id")));
      expect(entries).toMatchObject([
        { action: "READ", result: "SUCCESS", resource: { vault: ofVault, item: ofItem, itemVersion: 1 } },
        { action: "READ", result: "SUCCESS", resource: { vault: ofVault } },
        { action: "READ", result: "DENY", resource: { vault: { id: other } } },
        undefined,
      ]);
    }, QUEUED);
  });

  it("may be answered by a replica for a token with stale", async () => {
    const { db, replicate } = await createReplicatedDatabase();
    const near = (await makeToken({ [vault]: "r" }, { stale: 60 })).token;
    await replicate();
    const request = { token: near, env: { DB: db } };
    await kv("GET", "Production/data/prod/db", request);
    const { status, headers } = await kv("GET", "Production/data/prod/db", request);
    expect([status, headers.get("Item-Vault-Served-By")]).toEqual([200, "replica"]);
  });
});
