import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { hashToken, signToken } from "../../src/crypto/token.ts";
import { writeId } from "../../src/model/dialect.ts";
import { readLog } from "../support/activity.ts";
import { bind, callWith, makeBindingToken, refusalOf } from "../support/service-binding.ts";
import { admin, type Client, client, makeToken, makeVault } from "../support/service.ts";

/** The entrypoint that other Workers bind (contract 18.1 to 18.9). `bind` calls it by RPC, as a binding of another Worker does. */

let prod: string;
let other: string;
let call: Client;
let token: string;

const items = (vault: string) => `/v1/vaults/${vault}/items`;

beforeAll(async () => {
  [prod, other] = [await makeVault("Prod"), await makeVault("Other")];
  call = client((await makeToken({ [prod]: "rw", [other]: "rw" })).token);
  token = (await makeBindingToken({ [prod]: "r" })).id;
  const fields = [
    { purpose: "PASSWORD", value: "p1" },
    { id: "day", label: "Day", type: "DATE", value: "2026-01-02" },
  ];
  const { body: db } = await call("POST", items(prod), { body: { title: "Db", category: "LOGIN", fields } });
  await call("POST", items(other), { body: { title: "Hidden", category: "LOGIN", fields } });
  for (const [name, body] of [
    ["key.pem", "-----BEGIN KEY-----"],
    ["binary", Uint8Array.of(255, 254, 0)],
    ["large", "x".repeat(101 * 1024)],
  ] as const)
    await call("POST", `${items(prod)}/${db.id}/files?name=${name}`, { body });
});

/** Gets a value from a service that has other bindings. */
const getWith = (bindings: Partial<Env>): Promise<string> =>
  callWith({ token }, bindings, (secrets) => secrets.get("op://prod/db/password"));

const issue = (attributes: object, headers = {}) =>
  admin("POST", "/v1/admin/tokens", { body: { name: "worker", vaults: { [prod]: "r" }, ...attributes }, headers });

const UNAUTHORIZED = { message: "Invalid token signature", kind: "unauthorized", status: 401 };

describe("a service binding", () => {
  it("gets the value of a reference: a field, an attribute, a File as text or base64", async () => {
    const secrets = bind({ token });
    expect(await secrets.get("op://prod/db/password")).toBe("p1");
    expect(await secrets.get("op://prod/db/Day?attribute=type")).toBe("DATE");
    expect(await secrets.get("op://prod/db/key.pem")).toBe("-----BEGIN KEY-----");
    expect(await secrets.get("op://prod/db/binary")).toBe("//4A");
  });

  it("resolves references exactly as POST /v1/resolve does for a token of the same vaults and dialect", async () => {
    const references = [
      "op://prod/db/password",
      "op://prod/db/day",
      "op://prod/db/nothing",
      "op://prod/db/binary",
      "op://prod/db/large",
      "op://other/hidden/password",
      `op://${other}/hidden/password`,
      "nonsense",
    ];
    for (const dialect of ["uuid", "connect"] as const) {
      const plain = client((await makeToken({ [prod]: "r" }, { dialect })).token);
      const bound = await makeBindingToken({ [prod]: "r" }, { dialect });
      const { body } = await plain("POST", "/v1/resolve", { body: { references } });
      expect(await bind({ token: bound.id }).resolve(references)).toEqual(body.values);
    }
  });

  it("names its token by the id in either form", async () => {
    for (const id of [token.toUpperCase(), writeId(token, "connect")])
      expect(await bind({ token: id }).get("op://prod/db/password")).toBe("p1");
  });

  it.each([
    ["op://prod/db/nothing", 404, "reference_not_found", "The reference names no field or File of the Item"],
    ["op://other/hidden/password", 404, "reference_not_found", "The reference names no vault that the token reads"],
    ["op://missing/hidden/password", 404, "reference_not_found", "The reference names no vault that the token reads"],
    ["nonsense", 400, "invalid", "the reference does not begin with op://"],
    ["op://prod/db/large", 413, "too_large_to_inline", expect.stringMatching(/^File is too large to inline/)],
    [7, 400, "invalid", expect.stringMatching(/^references/)],
    [undefined, 400, "invalid", expect.stringMatching(/^references/)],
    ["x".repeat(5000), 400, "invalid", expect.stringMatching(/^references/)],
  ])("throws the refusal of %j, with kind and status", async (reference, status, kind, message) => {
    expect(await refusalOf(bind({ token }).get(reference as string))).toEqual({ message, kind, status });
  });

  it.each([[undefined], ["op://prod/db/password"], [Array.from({ length: 101 }, () => "op://a/b/c")], [[7]], [{}]])(
    "throws a 400 when resolve is given %j",
    async (references) => {
      const refused = await refusalOf(bind({ token }).resolve(references as string[]));
      expect(refused).toEqual({ message: expect.stringMatching(/^references/), kind: "invalid", status: 400 });
    },
  );

  it("has no other method, and serves no requests", async () => {
    const secrets = bind({ token }) as unknown as Record<string, () => Promise<unknown>>;
    for (const method of ["answer", "env", "ctx", "fetch"]) await expect((async () => secrets[method]!())()).rejects.toThrow(/./);
  });
});

/** Props that name no usable token. */
const FAULTS: readonly (readonly [string, () => unknown])[] = [
  ["there are no props", () => undefined],
  ["the props are empty", () => ({})],
  ["the token is null", () => ({ token: null })],
  ["the token is no text", () => ({ token: 7 })],
  ["the token is no id", () => ({ token: "nonsense" })],
  ["the token is an id that can name nothing", () => ({ token: "1".repeat(26) })],
  ["the token was never issued", () => ({ token: crypto.randomUUID() })],
  ["the token is one of a client", async () => ({ token: (await makeToken({ [prod]: "r" })).id })],
  ["the token is the text of one", async () => ({ token: (await makeToken({ [prod]: "r" })).token })],
  ["the token was revoked", async () => ({ token: await revoked() })],
  ["the row has another hash", () => altered("claims = 'AAAA'")],
  ["the row does not open", () => altered("sealed = 'damaged'")],
  ["the row has a later expiry", () => altered("expires_at = expires_at + 1000")],
  ["the row has a later time of issue", () => altered("created_at = created_at + 1000")],
];

async function revoked(): Promise<string> {
  const { id } = await makeBindingToken({ [prod]: "r" });
  await admin("DELETE", `/v1/admin/tokens/${id}`);
  return id;
}

/** A token whose row was altered before it is used. */
async function altered(change: string): Promise<{ token: string }> {
  const { id } = await makeBindingToken({ [prod]: "r" });
  await env.DB.prepare(`UPDATE tokens SET ${change} WHERE id = ?`).bind(id).run();
  return { token: id };
}

describe("a service binding is refused in the same words", () => {
  it.each(FAULTS)("when %s", async (_, props) => {
    const secrets = bind(await props());
    expect(await refusalOf(secrets.get("op://prod/db/password"))).toEqual(UNAUTHORIZED);
    expect(await refusalOf(secrets.resolve(["op://prod/db/password"]))).toEqual(UNAUTHORIZED);
  });

  it("when its token has expired, also when its claims are cached", async () => {
    const { id } = await makeBindingToken({ [prod]: "r" }, { expiresIn: 30 });
    expect(await bind({ token: id }).get("op://prod/db/password")).toBe("p1");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await refusalOf(bind({ token: id }).get("op://prod/db/password"))).toEqual(UNAUTHORIZED);
  });

  it("when its token was issued before TOKENS_NOT_BEFORE, also when its claims are cached", async () => {
    expect(await getWith({ TOKENS_NOT_BEFORE: "2020-01-01T00:00:00Z" })).toBe("p1");
    expect(await refusalOf(getWith({ TOKENS_NOT_BEFORE: "2099-01-01T00:00:00Z" }))).toEqual(UNAUTHORIZED);
  });

  it("by the next call after its token was revoked", async () => {
    const { id } = await makeBindingToken({ [prod]: "r" });
    const secrets = bind({ token: id });
    expect(await secrets.get("op://prod/db/password")).toBe("p1");
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect(await refusalOf(secrets.get("op://prod/db/password"))).toEqual(UNAUTHORIZED);
    expect(await refusalOf(secrets.resolve([]))).toEqual(UNAUTHORIZED);
  });

  it("by the next call after the row of its token was altered", async () => {
    const { id } = await makeBindingToken({ [prod]: "r" });
    expect(await bind({ token: id }).get("op://prod/db/password")).toBe("p1");
    await env.DB.prepare("UPDATE tokens SET claims = 'AAAA' WHERE id = ?").bind(id).run();
    expect(await refusalOf(bind({ token: id }).get("op://prod/db/password"))).toEqual(UNAUTHORIZED);
  });
});

describe("a service binding to a service that is half configured", () => {
  const SECRET = btoa("fedcba9876543210fedcba9876543210");
  it.each([
    ["no root keys", { ROOT_KEYS: "" }],
    ["malformed root keys", { ROOT_KEYS: SECRET }],
    ["another root key under the same id", { ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: SECRET } }) }],
    ["other root keys", { ROOT_KEYS: JSON.stringify({ active: "k2", keys: { k2: SECRET } }) }],
    ["a malformed setting", { TOKENS_NOT_BEFORE: "restore 2" }],
  ])("is refused with a 503: %s", async (_, bindings) => {
    const refused = await refusalOf(getWith(bindings));
    const message = expect.stringMatching(/^The service is not configured rightly: see \/health \(/);
    expect(refused).toEqual({ message, kind: "misconfigured", status: 503 });
  });

  it("is refused without the text of an error that a binding throws", async () => {
    const DB = { prepare: () => { throw new Error("p1"); } } as unknown as D1Database; // prettier-ignore
    const refused = await refusalOf(getWith({ DB }));
    expect(refused).toEqual({ message: "Internal Server Error", kind: "internal", status: 500 });
  });
});

describe("a token for service bindings", () => {
  it("is issued without a text, and shown with binding: true, also after its end", async () => {
    const { status, body } = await issue({ binding: true });
    expect([status, "token" in body, body.binding]).toEqual([200, false, true]);
    const shown = { ...body, vaults: { [prod]: "r" } };
    expect((await admin("GET", `/v1/admin/tokens/${body.id}`)).body).toEqual(shown);
    expect((await admin("GET", "/v1/admin/tokens")).body).toContainEqual(shown);
    await admin("DELETE", `/v1/admin/tokens/${body.id}`);
    expect((await admin("GET", `/v1/admin/tokens/${body.id}`)).body).toEqual({ ...shown, endedAt: expect.any(String) });
  });

  it.each([false, null])("is not what binding: %j asks for", async (binding) => {
    const { body } = await issue({ binding });
    expect(["token" in body, "binding" in body]).toEqual([true, false]);
  });

  it.each(["w", "rw", "rwd"])("is refused with the permission %s, which a binding does not use", async (permission) => {
    const { body } = await issue({ binding: true, vaults: { [prod]: permission } });
    expect(body).toEqual({ status: 400, message: expect.stringMatching(/^vaults: has a permission other than r/) });
  });

  it("is the same for a repeated request, and no other one has its Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const first = await issue({ binding: true }, headers);
    expect((await issue({ binding: true }, headers)).text).toBe(first.text);
    expect((await issue({}, headers)).status).toBe(409);
  });

  it("authenticates no request, not even with a text that the root key has signed", async () => {
    const { id } = await makeBindingToken({ [prod]: "r" });
    const keyring = await openKeyring(env.ROOT_KEYS);
    if (!keyring.ok) throw new Error("no keyring");
    const {
      created_at,
      expires_at,
      claims: stored,
    } = (await env.DB.prepare("SELECT * FROM tokens WHERE id = ?")
      .bind(id)
      .first<{ created_at: number; expires_at: number; claims: string }>())!;
    const times = { issuedAt: created_at / 1000, expiresAt: expires_at / 1000 };
    const claims = { id, name: "test", dialect: "uuid", vaults: { [prod]: "r" }, ...times } as const;
    const texts = [await signToken(keyring.value, { ...claims, binding: true }), await signToken(keyring.value, claims)];
    expect(await hashToken(texts[0]!)).toBe(stored);
    for (const text of texts) expect((await client(text)("GET", "/v1/vaults")).status).toBe(401);
  });
});

describe("the log of a service binding", () => {
  it("has the reads of its token, as those of POST /v1/resolve", async () => {
    const vault = await makeVault("Logged");
    const writer = client((await makeToken({ [vault]: "rw" })).token);
    const fields = [{ purpose: "PASSWORD", value: "p" }];
    const item = (await writer("POST", `/v1/vaults/${vault}/items`, { body: { title: "A", category: "LOGIN", fields } })).body;
    const { id } = await makeBindingToken({ [vault]: "r" });
    await bind({ token: id }).get("op://logged/a/password");
    const { body } = await readLog(writer, 3);
    expect(body[0]).toMatchObject({
      action: "READ",
      result: "SUCCESS",
      actor: { id, jti: id, userAgent: "service binding", requestIp: "" },
      resource: { type: "ITEM", vault: { id: vault }, item: { id: item.id }, itemVersion: 1 },
    });
  });

  it("has a denial for the id of a vault that its token does not name, and no entry for a call that is refused", async () => {
    const [vault, hidden] = [await makeVault("Named"), await makeVault("Hidden too")];
    const owner = await makeToken({ [hidden]: "r" });
    const { id } = await makeBindingToken({ [vault]: "r" });
    await bind({ token: id }).resolve([`op://${hidden}/a/password`]);
    await refusalOf(bind({ token: owner.id }).get("op://named/a/password"));
    const { body } = await readLog(client(owner.token), 2);
    const vaultOf = { type: "VAULT", vault: { id: hidden } };
    expect(body.map(({ result, actor, resource }: any) => [result, actor.id, resource])).toEqual([
      ["DENY", id, vaultOf],
      ["SUCCESS", "admin", vaultOf],
    ]);
  });
});

describe("the rate limit of a service binding", () => {
  it("counts each reference, by a key of its own, before any D1 call", async () => {
    const keys: string[] = [];
    const limit = async ({ key }: RateLimitOptions) => ({ success: keys.push(key) < 2 });
    const DB = {} as D1Database;
    const ids = crypto.randomUUID();
    const ask = (count: number) =>
      callWith({ token: ids }, { TOKEN_RATE: { limit }, DB }, (secrets) =>
        secrets.resolve(Array.from({ length: count }, () => "op://a/b/c")),
      );
    expect((await refusalOf(ask(49))).kind).toBe("internal");
    const refused = await refusalOf(ask(100));
    expect([refused, keys]).toEqual([
      { message: "Too many requests: try again later", kind: "rate", status: 429 },
      [`binding/${ids}`, `binding/${ids}`],
    ]);
  });
});
