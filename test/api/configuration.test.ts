import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import example from "../../.dev.vars.example?raw";
import worker from "../../src/index.ts";
import { countingDatabase, renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { CONSOLE } from "../support/console.ts";
import { admin, freshVault, LOGIN, makeVault, outcome, send, shareVault } from "../support/service.ts";

/** A misconfigured service: data routes answer 503, and `/health` names the cause (contract 4.8 and 13.2). */

const base64 = (text: string) => btoa(text);
const SECRET = "fedcba9876543210fedcba9876543210";
const VALID_KEY = JSON.parse(env.ROOT_KEYS).keys.k1 as string;
const rootKeys = (active: string, table: unknown) => JSON.stringify({ active, keys: table });

const INVALID: readonly (readonly [string, string])[] = [
  ["empty", ""],
  ["not JSON", SECRET],
  ["JSON null", "null"],
  ["without keys", JSON.stringify({ active: "k1" })],
  ["without an active key", JSON.stringify({ keys: { k1: VALID_KEY } })],
  ["with an active key id that is not among the keys", rootKeys("k2", { k1: VALID_KEY })],
  ["with the name of an inherited property as its active key id", rootKeys("constructor", { k1: VALID_KEY })],
  ["with a key that is not base64", rootKeys("k1", { k1: "*".repeat(44) })],
  ["with a key of 31 bytes", rootKeys("k1", { k1: base64(SECRET.slice(1)) })],
  ["with a key of 33 bytes", rootKeys("k1", { k1: base64(`${SECRET}x`) })],
  ["with a key that is not a string", rootKeys("k1", { k1: 7 })],
  ["with a key id of 33 characters", rootKeys("k".repeat(33), { ["k".repeat(33)]: base64(SECRET) })],
  ["with another key under the same id", rootKeys("k1", { k1: base64(SECRET) })],
  ["without the key that is in use", rootKeys("k2", { k2: base64(SECRET) })],
];

const readDependency = async (service: string, bindings: Partial<Env> = {}) => {
  const { status, body } = await send("GET", "/health", { env: bindings });
  expect(status).toBe(200);
  return body.dependencies.find((entry: { service: string }) => entry.service === service);
};

/** Contract 20.4. */
describe("ROOT_KEYS", () => {
  it.each(INVALID)("%s: data routes answer 503 with Retry-After, and the vault is unchanged", async (_, ROOT_KEYS) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    for (const [method, path, body] of [
      ["GET", "/v1/vaults", undefined],
      ["GET", `/v1/vaults/${vault}`, undefined],
      ["GET", items, undefined],
      ["POST", items, LOGIN],
      ["GET", `${items}/${id}`, undefined],
      ["PUT", `${items}/${id}`, { ...LOGIN, vault: { id: vault } }],
      ["PATCH", `${items}/${id}`, []],
      ["DELETE", `${items}/${id}`, undefined],
    ] as const) {
      const reply = await call(method, path, { body, env: { ROOT_KEYS } });
      expect(reply.body).toEqual({ status: 503, message: expect.stringContaining("/health") });
      expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
    }
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({ contentVersion: 1, items: 1 });
  });

  it.each(INVALID)("%s: /health reports the error, without key material", async (_, ROOT_KEYS) => {
    await makeVault();
    const { text } = await send("GET", "/health", { env: { ROOT_KEYS } });
    expect(await readDependency("keys", { ROOT_KEYS })).toEqual({
      service: "keys",
      status: "ERROR",
      message: expect.stringMatching(/root.?key/i),
    });
    for (const secret of [SECRET, SECRET.slice(1), base64(SECRET), VALID_KEY, "*".repeat(44)]) expect(text).not.toContain(secret);
  });

  it.each(INVALID)("%s: no vault and no token is created, which no key could decrypt later", async (_, ROOT_KEYS) => {
    await makeVault();
    const before = (await admin("GET", "/v1/admin/tokens")).body.length;
    for (const [path, body] of [
      ["/v1/admin/vaults", { name: "Lost" }],
      ["/v1/admin/tokens", { name: "lost", vaults: {} }],
    ] as const) {
      expect((await admin("POST", path, { body, env: { ROOT_KEYS } })).status).toBe(503);
    }
    expect((await admin("GET", "/v1/admin/tokens")).body).toHaveLength(before);
  });

  it.each(INVALID)("%s: a coordinator deletes no vault as a damaged one", async (_, ROOT_KEYS) => {
    const { vault, call } = await freshVault();
    await renewCoordinator(vault, { ROOT_KEYS });
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(503);
    await renewCoordinator(vault, {});
    expect((await call("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it.each(["proof", "fingerprint"])("as before while the %s of its row is damaged: nothing accuses the key", async (column) => {
    await makeVault();
    const row = (await env.DB.prepare("SELECT proof, fingerprint FROM root_keys WHERE id = 'k1'").first<
      Record<string, string>
    >())!;
    const write = (value: string) => env.DB.prepare(`UPDATE root_keys SET ${column} = ? WHERE id = 'k1'`).bind(value).run();
    onTestFinished(async () => void (await write(row[column]!)));
    await write("damaged");
    expect((await admin("POST", "/v1/admin/vaults", { body: { name: "New" } })).status).toBe(200);
    expect(await readDependency("keys", { ROOT_KEYS: env.ROOT_KEYS })).toMatchObject({ status: "ACTIVE" });
    const wrong = { ROOT_KEYS: rootKeys("k1", { k1: base64(SECRET) }) };
    expect((await admin("POST", "/v1/admin/vaults", { body: { name: "New" }, env: wrong })).status).toBe(503);
  });

  it("with a new active key beside the old one: Items remain readable, and /health warns of the old one", async () => {
    const { items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const ROOT_KEYS = rootKeys("k2", { k1: VALID_KEY, k2: base64(SECRET) });
    expect((await call("GET", `${items}/${id}`, { env: { ROOT_KEYS } })).body).toMatchObject(LOGIN);
    expect(await readDependency("keys", { ROOT_KEYS })).toMatchObject({ status: "WARNING" });
  });
});

/** What the "Deploy to Cloudflare" button offers as secrets. */
const EXAMPLE = Object.fromEntries(
  example
    .split("\n")
    .filter((line) => /^\w/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
) as Record<"ADMIN_TOKEN" | "METRICS_TOKEN" | "ROOT_KEYS", string>;

const PLACEHOLDER = "is a placeholder: set it to the output of openssl rand -base64 32";
const SHORT = "has fewer than 32 characters: set it to the output of openssl rand -base64 32";
const LONG = "s".repeat(40);

const NUMBERS = ["MAX_INLINE_FILE_SIZE_KB", "FILE_RETENTION_DAYS", "ACTIVITY_RETENTION_DAYS"];
const ABSENT =
  "ACTIVITY_ARCHIVE_DAYS ACTIVITY_MAX_MB DATABASE_LIMIT_MB VERSIONS_KEPT BACKUPS_KEPT JOB_STEP_CALLS DELETED_RETENTION_DAYS";
const SECRETS = ["ADMIN_TOKEN", "METRICS_TOKEN"] as const;
// Date.parse reads some of these as a time in 2001, and such a time would refuse no token.
const NO_TIMES = ["2026-13-45", "1764547200", " ", "yesterday 1", "restore 2", "12", "2026-02-30T00:00:00Z", "June 2026"];
const NO_ORIGINS = "* true http://10.0.0.1:80 http://127.0.0.1 http://127.0.0.1:80/ https://example.com:443".split(" ");

/** A variable, its value, and what /health says, if that is more than its name. */
type Malformed = readonly [name: string, value: unknown, message?: string];

const MALFORMED: readonly Malformed[] = [
  ...NUMBERS.flatMap((name) =>
    ["", " ", "abc", "-1", "1e3", "0x10", "Infinity", "NaN", "1,5", undefined, null].map((value): Malformed => [name, value]),
  ),
  ["FILE_RETENTION_DAYS", -1, "FILE_RETENTION_DAYS is not a number, or less than 0"],
  ["ACTIVITY_RETENTION_DAYS", "ninety", "ACTIVITY_RETENTION_DAYS is not a number, or less than 1"],
  ["ACTIVITY_RETENTION_DAYS", 0, "ACTIVITY_RETENTION_DAYS is not a number, or less than 1"],
  ["ACTIVITY_RETENTION_DAYS", "0.5"],
  ...["", "many", 0].map((value): Malformed => ["ACTIVITY_MAX_MB", value]),
  ...["", "x", 0, -1, "0.5"].map((value): Malformed => ["DATABASE_LIMIT_MB", value]),
  ...ABSENT.split(" ").map((name): Malformed => [name, undefined]),
  ...["VERSIONS_KEPT", "BACKUPS_KEPT"].flatMap((name) => [1.5, "1.000000001"].map((value): Malformed => [name, value])),
  ["TOKENS_NOT_BEFORE", "soon", "TOKENS_NOT_BEFORE is not a time"],
  ...NO_TIMES.map((value): Malformed => ["TOKENS_NOT_BEFORE", value]),
  ...NO_ORIGINS.map((value): Malformed => ["WEBHOOK_TEST_ORIGIN", value]),
  ...SECRETS.flatMap((name): Malformed[] => [
    ...[`${LONG} `, ` ${LONG}`, `${LONG} ${LONG}`, `${LONG}\n`, `${LONG}é`].map((value): Malformed => [name, value]),
    [name, EXAMPLE[name], `${name} ${PLACEHOLDER}`],
    ...[1, 16, 31].map((length): Malformed => [name, "s".repeat(length), `${name} ${SHORT}`]),
  ]),
  ["METRICS_TOKEN", env.ADMIN_TOKEN],
];

const TEAM_RULE = "ACCESS_TEAM is not the name of a team, or its cloudflareaccess.com address";
const AUD_RULE = "ACCESS_AUD is not 64 hexadecimal digits in lower case";
const SECRET_RULE = "OIDC_CLIENT_SECRET is a placeholder, or not 1 to 1,024 printable ASCII characters";
const AUD = "0123456789abcdef".repeat(4);
const NO_TEAMS = `Canary canary.example.com http://canary.cloudflareaccess.com https://canary.cloudflareaccess.com.attacker.test
  https://canary.cloudflareaccess.com/cdn-cgi https://attacker.test/.cloudflareaccess.com https://canary a.canary -canary
  http://canary:8080 http://127.0.0.1 https://127.0.0.1:8080 http://10.0.0.1:8080`.split(/\s+/);

const SIGN_INS = ["ACCESS_TEAM", "ACCESS_AUD", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] as const;
const ISSUER = "https://login.canary.dev";

/** Half a configuration of a sign-in: the values of `SIGN_INS`, and what /health says. */
const HALVES: readonly (readonly [values: readonly (string | undefined)[], message: string])[] = [
  ...[undefined, ""].map((none) => [["canary", none], "ACCESS_TEAM is set without ACCESS_AUD"] as const),
  ...[undefined, ""].map((none) => [[none, AUD], "ACCESS_AUD is set without ACCESS_TEAM"] as const),
  ...[" canary", ...NO_TEAMS].map((team) => [[team, AUD], TEAM_RULE] as const),
  ...[AUD.slice(1), `${AUD}0`, AUD.toUpperCase(), ` ${AUD}`, "canary"].map((aud) => [["canary", aud], AUD_RULE] as const),
  ...(
    [
      [ISSUER, undefined, "canary", "OIDC_ISSUER is set without OIDC_CLIENT_ID"],
      ["", "canary", "canary", "OIDC_CLIENT_ID is set without OIDC_ISSUER"],
      [ISSUER, "canary", undefined, "OIDC_ISSUER is set without the secret OIDC_CLIENT_SECRET"],
      ["http://login.canary.dev", "canary", "canary", "OIDC_ISSUER does not begin with https://"],
      ["https://10.0.0.1", "canary", "canary", "OIDC_ISSUER names no host by its full domain name"],
      ["https://login.canary.dev/a b", "canary", "canary", "OIDC_ISSUER is not a URL"],
      [ISSUER, "canary\n", "canary", "OIDC_CLIENT_ID is not 1 to 1,024 printable ASCII characters"],
      [ISSUER, "canary", "replace-me", SECRET_RULE],
      [ISSUER, "canary", "canary é", SECRET_RULE],
    ] as const
  ).map(([issuer, id, secret, message]) => [[undefined, undefined, issuer, id, secret], message] as const),
];

const sharedVault = shareVault();

/** Expects that every route below /v1 answers 503. */
async function expectMisconfigured(bindings: Partial<Env>): Promise<void> {
  const { items, call } = await sharedVault();
  const headers = { Authorization: `Bearer ${bindings.ADMIN_TOKEN}` };
  for (const reply of [
    await call("GET", items, { env: bindings }),
    await call("POST", items, { body: LOGIN, env: bindings }),
    await admin("GET", "/v1/admin/vaults", { env: bindings }),
    await send("GET", "/v1/admin/vaults", { headers, env: bindings }),
  ])
    expect(outcome(reply)).toEqual([503, "misconfigured"]);
  expect((await call("GET", items)).body).toEqual([]);
}

describe("a malformed setting or secret", () => {
  it.each(MALFORMED.map(([name, value, message]) => [name, value, message ?? name] as const))(
    "makes every data route a 503, and /health says why: %s = %j",
    async (name, value, message) => {
      const bindings = { [name]: value } as Partial<Env>;
      await expectMisconfigured(bindings);
      const entry = { service: "settings", status: "ERROR", message: expect.stringContaining(message) };
      expect(await readDependency("settings", bindings)).toEqual(entry);
    },
  );

  it.each([
    [{ TOKENS_NOT_BEFORE: "soon", VERSIONS_KEPT: "1.5", BACKUP_HOUR: 24, ADMIN_TOKEN: "short" }],
    [{ ACCESS_TEAM: "a.b", ACCESS_AUD: "c", FILE_RETENTION_DAYS: -1, BACKUPS_KEPT: "", DATABASE_LIMIT_MB: 0 }],
  ])("is named once by /health, beside others: %j", async (bindings) => {
    const { body } = await send("GET", "/health", { env: bindings as unknown as Partial<Env> });
    const messages = body.dependencies.map(({ message }: { message: string }) => message).join("\n");
    for (const name of Object.keys(bindings)) expect(messages.match(new RegExp(`\\b${name}\\b`, "g"))).toEqual([name]);
  });

  it.each(HALVES)("of a sign-in makes each sign-in a 503 too, and no value is told: %j", async (values, message) => {
    const bindings = Object.fromEntries(SIGN_INS.map((name, place) => [name, values[place]])) as Partial<Env>;
    await expectMisconfigured(bindings);
    for (const path of ["/console/session", "/console/sign-ins"])
      expect(outcome(await send("POST", path, { body: {}, headers: CONSOLE, env: bindings }))).toEqual([503, "misconfigured"]);
    expect(await readDependency("settings", bindings)).toEqual({ service: "settings", status: "ERROR", message });
    expect((await send("GET", "/health", { env: bindings })).text).not.toMatch(/canary|attacker|0123456789/i);
  });

  it("may be a missing binding: each is named", async () => {
    const bindings = { TOKEN_RATE: undefined, DENIAL_RATE: undefined } as unknown as Partial<Env>;
    const { message } = await readDependency("rate limits", bindings);
    expect(message).toBe("TOKEN_RATE is missing; DENIAL_RATE is missing");
  });
});

describe("the secrets of .dev.vars.example", () => {
  it("are those that wrangler.toml requires, and none of them is accepted", async () => {
    expect(Object.keys(EXAMPLE).toSorted()).toEqual(["ADMIN_TOKEN", "METRICS_TOKEN", "ROOT_KEYS"]);
    for (const bindings of [EXAMPLE, { ROOT_KEYS: EXAMPLE.ROOT_KEYS }]) await expectMisconfigured(bindings);
    const message = expect.stringContaining("ROOT_KEYS is");
    expect(await readDependency("keys", { ROOT_KEYS: EXAMPLE.ROOT_KEYS })).toEqual({ service: "keys", status: "ERROR", message });
  });

  it.each([EXAMPLE.METRICS_TOKEN, "replace-me", "s", "s".repeat(31)])(
    "and short ones open no /metrics: %s",
    async (METRICS_TOKEN) => {
      const headers = { Authorization: `Bearer ${METRICS_TOKEN}` };
      expect(outcome(await send("GET", "/metrics", { headers, env: { METRICS_TOKEN } }))).toEqual([503, "misconfigured"]);
    },
  );

  it.each(SECRETS)("may be replaced by 32 characters: %s", async (name) => {
    const { items, call } = await sharedVault();
    const bindings = { [name]: "s".repeat(32) };
    expect((await call("GET", items, { env: bindings })).status).toBe(200);
    expect(await readDependency("settings", bindings)).toMatchObject({ status: "ACTIVE" });
  });
});

const notBefore = (text: string) => ({ TOKENS_NOT_BEFORE: text });
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe("TOKENS_NOT_BEFORE", () => {
  it("after the time of issue of a token: the token is a 401", async () => {
    const { items, call } = await freshVault();
    const { body } = await call("GET", items, { env: notBefore(inMinutes(1)) });
    expect(body).toEqual({ status: 401, message: "Invalid token signature" });
  });

  it("before the time of issue of a token: the token is accepted", async () => {
    const { items, call } = await freshVault();
    expect((await call("GET", items, { env: notBefore(inMinutes(-1)) })).status).toBe(200);
  });
});

describe("TOKENS_NOT_BEFORE in the future", () => {
  const future = { env: notBefore("2099-01-01T00:00:00Z") };

  it("is a warning of /health that names it", async () => {
    expect(await readDependency("settings", future.env)).toEqual({
      service: "settings",
      status: "WARNING",
      message: expect.stringContaining("TOKENS_NOT_BEFORE is in the future"),
    });
  });

  it.each([
    ["a token", "POST", "/v1/admin/tokens", { name: "late", vaults: {} }],
    ["a person", "POST", "/v1/admin/people", { email: "late@example.com", vaults: {} }],
    ["an issuer of workload tokens", "POST", "/v1/admin/issuers", { issuer: "https://late.example.com", name: "late" }],
    ["a session of the admin", "POST", "/console/session", { token: env.ADMIN_TOKEN }],
  ] as const)("refuses to issue %s that it would refuse, and names it", async (_, method, path, body) => {
    const { status, headers, text } = await admin(method, path, { body, headers: CONSOLE, ...future });
    expect([status, headers.get("Item-Vault-Error"), text]).toEqual([
      503,
      "misconfigured",
      expect.stringContaining("TOKENS_NOT_BEFORE is in the future"),
    ]);
  });

  it("refuses to change a person, who would stay refused", async () => {
    const { body } = await admin("POST", "/v1/admin/people", { body: { email: "early@example.com", vaults: {} } });
    const { status, text } = await admin("PATCH", `/v1/admin/people/${body.id}`, { body: { vaults: {} }, ...future });
    expect([status, text]).toEqual([503, expect.stringContaining("TOKENS_NOT_BEFORE is in the future")]);
  });
});

describe("/health", () => {
  it("makes its report once in 5 seconds per isolate: concurrent requests share it, also one with errors", async () => {
    const { count, db } = countingDatabase();
    let heads = 0;
    const FILES = { head: () => (heads++, Promise.reject(new Error("no answer"))) } as unknown as R2Bucket;
    // The same object for all requests, as on the platform.
    const bindings = { ...env, DB: db, FILES };
    const ask = async () => {
      const response = await worker.fetch(new Request("https://vault.test/health"), bindings, createExecutionContext());
      const { dependencies } = await response.json<{ dependencies: { service: string; status: string }[] }>();
      return dependencies.find(({ service }) => service === "r2")!.status;
    };
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now });
    onTestFinished(() => void vi.useRealTimers());
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(["ERROR", "ERROR", "ERROR"]);
    const { calls } = count;
    vi.setSystemTime(now + 4_999);
    expect([await ask(), heads, count.calls]).toEqual(["ERROR", 1, calls]);
    vi.setSystemTime(now + 5_000);
    expect([await ask(), heads, count.calls]).toEqual(["ERROR", 2, 2 * calls]);
  });

  it("makes seven D1 calls", async () => {
    const { count, db } = countingDatabase();
    await send("GET", "/health", { env: { DB: db } });
    expect(count.calls).toBe(7);
  });

  it("reports every dependency as ACTIVE, without a token", async () => {
    await makeVault();
    const { body } = await send("GET", "/health");
    expect(body).toMatchObject({ name: expect.any(String), version: expect.any(String) });
    const statuses = body.dependencies.map(({ service, status }: Record<string, string>) => [service, status]);
    const services = [
      "d1",
      "schema",
      "capacity",
      "r2",
      "keys",
      "tokens",
      "coordinator",
      "queue",
      "rate limits",
      "backups",
      "data",
      "jobs",
      "settings",
    ];
    expect(statuses).toEqual(services.map((service) => [service, "ACTIVE"]));
  });

  it.each([
    ["DB", "d1"],
    ["FILES", "r2"],
    ["ROOT_KEYS", "keys"],
    ["COORDINATOR", "coordinator"],
    ["ACTIVITY", "queue"],
    ["OPERATOR", "jobs"],
    ["TOKEN_RATE", "rate limits"],
    ["FAILURE_RATE", "rate limits"],
    ["DENIAL_RATE", "rate limits"],
    ["SESSION_RATE", "rate limits"],
  ])("names the binding or secret %s when it is missing", async (name, service) => {
    const bindings = { [name]: undefined } as Partial<Env>;
    expect(await readDependency(service, bindings)).toEqual({ service, status: "ERROR", message: `${name} is missing` });
  });

  it("reports d1 and keys as ERROR when D1 does not answer", async () => {
    const DB = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
    expect(await readDependency("d1", { DB })).toMatchObject({ status: "ERROR" });
    expect(await readDependency("keys", { DB })).toMatchObject({ status: "ERROR" });
    expect(await readDependency("r2", { DB })).toMatchObject({ status: "ACTIVE" });
  });

  it("reports schema as ERROR when D1 has no tables", async () => {
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => sql.replace("d1_migrations", "no_such_table"),
    });
    expect(await readDependency("schema", { DB })).toMatchObject({
      status: "ERROR",
      message: expect.stringContaining("migrations"),
    });
    expect(await readDependency("r2", { DB })).toMatchObject({ status: "ACTIVE" });
  });

  it("reports r2 as ERROR when R2 does not answer, without the message of the error", async () => {
    const FILES = new Proxy(env.FILES, {
      get: (bucket, name) => (name === "head" ? () => Promise.reject(new Error("canary-7f3a")) : Reflect.get(bucket, name)),
    });
    const { text } = await send("GET", "/health", { env: { FILES } });
    expect(text).not.toContain("canary-7f3a");
    expect(await readDependency("r2", { FILES })).toMatchObject({ status: "ERROR", message: expect.any(String) });
    expect(await readDependency("d1", { FILES })).toMatchObject({ status: "ACTIVE" });
  });
});

/** Contract 13.1. */
describe("/heartbeat", () => {
  it("answers 200 with the text `.`, without a token and without working bindings", async () => {
    const reply = await send("GET", "/heartbeat", { env: { ROOT_KEYS: "", DB: undefined as unknown as D1Database } });
    expect([reply.status, reply.text]).toEqual([200, "."]);
    expect(reply.headers.get("Content-Type")).toMatch(/^text\/plain\b/);
  });
});

describe("an empty database", () => {
  it("accepts any well-formed ROOT_KEYS, because it contains nothing that they must decrypt", async () => {
    const DB = wrapDatabase(env.DB, { rewrite: (sql) => sql.replace(/FROM root_key(s|_uses)/, "$& WHERE false") });
    const ROOT_KEYS = rootKeys("k9", { k9: base64(SECRET) });
    expect(await readDependency("keys", { DB, ROOT_KEYS })).toMatchObject({ status: "ACTIVE" });
  });
});
