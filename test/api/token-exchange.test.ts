import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { readRegistry } from "../../src/store/backup/registry-rows.ts";
import { countingDatabase, limiterOf, sizedDatabase, UNLIMITED, wrapDatabase } from "../support/bindings.ts";
import { CONSOLE } from "../support/console.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { setOf } from "../support/issuers.ts";
import { admin, client, LOGIN, makeVault, outcome, type Reply, send } from "../support/service.ts";
import { QUEUED, UNDER_LOAD } from "../support/waits.ts";
import { AUDIENCE, newSigningKey, tokenOf } from "../support/workload-tokens.ts";
import { deleteIssuers, exchange, makeIssuer, makeRule, makeWorkload, type Workload } from "../support/workloads.ts";

/** Workload identity through the front door (contract 27.1 to 27.9). Forged tokens are in test/pure/jwt.test.ts. */

afterEach(async () => {
  vi.useRealTimers();
  await deleteIssuers();
});

const REFUSED = [401, "unauthorized"];

/** A workload that a rule gives tokens without vaults. */
async function ruledWorkload(): Promise<Workload> {
  const workload = await makeWorkload();
  await makeRule(workload.issuer, {});
  return workload;
}

/** A D1 before whose second call something happens. */
function beforeSecondCall(act: () => Promise<unknown>): { readonly env: Partial<Env> } {
  let calls = 0;
  const before = async () => {
    if (++calls === 2) await act();
  };
  return { env: { DB: wrapDatabase(env.DB, { before }) } };
}

/** The reasons in the log of the admin of the requests, in their order. */
async function reasonsOf(replies: readonly Reply[]): Promise<unknown[]> {
  const ids = replies.map(({ headers }) => headers.get("Request-Id"));
  return vi.waitFor(async () => {
    await flushBatch(env);
    const { body } = await admin("GET", "/v1/admin/activity?limit=1000");
    const entries = ids.map((id) => body.find((entry: { requestId: string }) => entry.requestId === id));
    expect(entries).not.toContain(undefined);
    return entries.map(({ resource, result }) => resource.reason ?? result);
  }, QUEUED);
}

describe("POST /v1/token-exchange", () => {
  it("answers with a token of the rule, by which the rule acts and of which the log has the id", async () => {
    const vault = await makeVault();
    const workload = await makeWorkload();
    const rule = await makeRule(workload.issuer, { name: "deploy", vaults: { [vault]: "rw" }, lifetime: 60 });
    const reply = await exchange(await workload.token());
    expect(await reasonsOf([reply])).toEqual(["SUCCESS"]);
    const { status, body } = reply;
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        issued_token_type: "urn:ietf:params:oauth:token-type:jwt",
        token_type: "Bearer",
        expires_in: 60,
      },
    ]);
    const call = client(body.access_token);
    const own = (await call("GET", "/v1/token")).body;
    expect(own).toMatchObject({ name: "deploy", vaults: { [vault]: "rw" }, parent: rule.id });
    const items = `/v1/vaults/${vault}/items`;
    const made = await call("POST", items, { body: LOGIN });
    expect([made.status, made.body.lastEditedBy]).toEqual([200, rule.id]);
    await call("GET", `${items}/${made.body.id}`);
    await call("GET", "/v1/vaults");
    await flushBatch(env);
    const { body: log } = await call("GET", `/v1/activity?actor=${rule.id}`);
    expect(log.map((entry: any) => [entry.action, entry.actor.id, entry.actor.jti])).toEqual([
      ["READ", rule.id, own.id],
      ["READ", rule.id, own.id],
      ["CREATE", rule.id, own.id],
    ]);
    expect((await admin("GET", `/v1/admin/tokens/${rule.id}`)).body).toMatchObject({ name: "deploy" });
  });

  it("refuses with one message whatever is wrong, and the log of the admin says what", async () => {
    const workload = await ruledWorkload();
    const other = await newSigningKey("ES256", workload.key.kid);
    const now = Math.floor(Date.now() / 1000);
    const used = await workload.token();
    expect((await exchange(used)).status).toBe(200);
    const cases: Readonly<Record<string, string>> = {
      malformed: "x",
      unknown_issuer: await tokenOf("https://nobody.example.com", workload.key),
      signature: await workload.token({}, other),
      unknown_key: await workload.token({}, await newSigningKey("ES256")),
      audience: await workload.token({ aud: "https://other.test" }),
      expired: await workload.token({ iat: now - 600, exp: now - 1 }),
      lifetime: await workload.token({ exp: now + 90_000 }),
      not_yet: await workload.token({ iat: now + 300, exp: now + 600 }),
      no_rule: await workload.token({ job: "test" }),
      used,
    };
    const replies: Reply[] = [];
    for (const token of Object.values(cases)) replies.push(await exchange(token));
    expect(replies.map(outcome)).toEqual(Object.keys(cases).map(() => REFUSED));
    expect(new Set(replies.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await reasonsOf(replies)).toEqual(Object.keys(cases));
  });

  it.each([
    ["grant_type", { grant_type: "x" }],
    ["subject_token", { subject_token: "" }],
    ["subject_token_type", { subject_token_type: "urn:ietf:params:oauth:token-type:saml2" }],
    ["rule", { rule: "x" }],
    ["scope", { scope: "read" }],
    ["requested_token_type", { requested_token_type: "x" }],
  ])("is a 400 for a wrong %s", async (name, form) => {
    expect((await exchange("x.y.z", form)).body).toEqual({ status: 400, message: expect.stringContaining(`the form: ${name} `) });
  });

  it.each(["jwt", "access_token"])("issues the type %s when it is asked for", async (type) => {
    const workload = await ruledWorkload();
    const requested_token_type = `urn:ietf:params:oauth:token-type:${type}`;
    const { status, body } = await exchange(await workload.token(), { requested_token_type });
    expect([status, body.issued_token_type]).toEqual([200, requested_token_type]);
  });

  it.each(['{"grant_type":"x"}', "", "<x/>", '--x\r\nContent-Disposition: form-data; name="grant_type"\r\n\r\nx'])(
    "is a 400 that asks for a form when the body is %j",
    async (body) => {
      const reply = await send("POST", "/v1/token-exchange", { body });
      expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("send a form") });
    },
  );

  it.each(["\n", " ", "\r\n"])("ignores %j around the token", async (blank) => {
    const workload = await ruledWorkload();
    expect((await exchange(`${blank}${await workload.token()}${blank}`)).status).toBe(200);
  });

  it.each([
    [`${AUDIENCE}/`, AUDIENCE],
    [AUDIENCE, `${AUDIENCE}/`],
    [`${AUDIENCE}/`, `${AUDIENCE}/`],
  ])("takes the audience %s for %s", async (aud, setting) => {
    const workload = await ruledWorkload();
    for (const each of [aud, ["x", aud]])
      expect((await exchange(await workload.token({ aud: each }), {}, { env: { WORKLOAD_AUDIENCE: setting } })).status).toBe(200);
    expect((await exchange(await workload.token({ aud: `${AUDIENCE}//` }))).status).toBe(401);
  });

  it("is a 400 for a parameter that comes twice, and a 413 for a body of more than 32 KiB", async () => {
    const twice = await send("POST", "/v1/token-exchange", { body: "grant_type=a&grant_type=b" });
    expect(twice.body).toEqual({ status: 400, message: "the form: grant_type comes twice" });
    expect((await exchange("x".repeat(33_000))).status).toBe(413);
  });

  it("is limited for an address before any call of D1", async () => {
    const { count, db } = countingDatabase();
    const request = { env: { FAILURE_RATE: limiterOf(1), DB: db }, headers: { "CF-Connecting-IP": "192.0.2.77" } };
    await exchange("x", {}, request);
    expect([(await exchange("x", {}, request)).status, count.calls]).toEqual([429, 0]);
  });

  it("takes two calls of D1, also where the issuer is not known", async () => {
    const workload = await ruledWorkload();
    await exchange(await workload.token());
    const { count, db } = countingDatabase();
    expect((await exchange(await workload.token(), {}, { env: { DB: db } })).status).toBe(200);
    expect(count.calls).toBe(2);
    await exchange(await tokenOf("https://nobody.example.com", workload.key), {}, { env: { DB: db } });
    expect(count.calls).toBe(4);
    expect(await workload.server.requests()).toEqual([1, 1]);
  });

  it("needs exactly one rule that matches, or the one that the form names", async () => {
    const workload = await makeWorkload();
    const rules = [await makeRule(workload.issuer, { name: "one" }), await makeRule(workload.issuer, { name: "two" })];
    const several = await exchange(await workload.token());
    expect(outcome(several)).toEqual(REFUSED);
    for (const { id } of rules) {
      const { body } = await exchange(await workload.token(), { rule: id });
      expect((await client(body.access_token)("GET", "/v1/token")).body.parent).toBe(id);
    }
    const other = await makeWorkload();
    const foreign = await exchange(await workload.token(), { rule: (await makeRule(other.issuer, {})).id });
    expect(await reasonsOf([several, foreign])).toEqual(["several_rules", "no_rule"]);
  });

  it("exchanges a token once, also when it comes several times at once; without once 20 times, and no longer than the token", async () => {
    const [once, often] = [await makeWorkload(), await makeWorkload({ once: false })];
    for (const { issuer } of [once, often]) await makeRule(issuer, { lifetime: 3_600 });
    const token = await once.token();
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await exchange(token)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const now = Math.floor(Date.now() / 1000);
    const repeated = await often.token({ iat: now, exp: now + 120 });
    const replies: Reply[] = [];
    for (let count = 0; count < 21; count++) replies.push(await exchange(repeated));
    expect(replies.map(({ status }) => status)).toEqual([...Array<number>(20).fill(200), 401]);
    expect(Math.max(...replies.slice(0, 20).map(({ body }) => body.expires_in))).toBeLessThanOrEqual(120);
    expect(await reasonsOf([replies[0]!, replies[1]!, replies[20]!])).toEqual(["SUCCESS", "repeated", "used"]);
  });

  it("exchanges no token again whose issuer was deleted and added again", async () => {
    const workload = await ruledWorkload();
    const token = await workload.token();
    expect((await exchange(token)).status).toBe(200);
    await admin("DELETE", `/v1/admin/issuers/${workload.issuer}`);
    await makeRule((await makeIssuer({ issuer: workload.server.url })).id, {});
    const repeated = await exchange(token);
    expect([outcome(repeated), await reasonsOf([repeated])]).toEqual([REFUSED, ["used"]]);
    expect((await exchange(await workload.token())).status).toBe(200);
  });

  it("is limited for a rule, from however many addresses its tokens come", async () => {
    const workload = await ruledWorkload();
    const limited = { env: { TOKEN_RATE: limiterOf(2) } };
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++) statuses.push((await exchange(await workload.token(), {}, limited)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("signs a token in to the console for no longer than it lasts, with its rule in the log", async () => {
    const vault = await makeVault();
    const workload = await makeWorkload();
    const rule = await makeRule(workload.issuer, { vaults: { [vault]: "r" }, lifetime: 60 });
    const { body } = await exchange(await workload.token());
    const reply = await send("POST", "/console/session", { headers: CONSOLE, body: { token: body.access_token } });
    expect([reply.status, Date.parse(reply.body.expiresAt) - Date.now()]).toEqual([200, expect.closeTo(60_000, -4)]);
    await reasonsOf([reply]);
    const { body: log } = await admin("GET", `/v1/admin/activity?actor=${rule.id}`);
    expect(log.find((entry: any) => entry.resource.type === "SESSION").actor).toMatchObject({
      id: rule.id,
      jti: expect.any(String),
    });
  });

  it("leaves no row of its token in a backup", async () => {
    const workload = await ruledWorkload();
    const { body } = await exchange(await workload.token());
    const { id } = (await client(body.access_token)("GET", "/v1/token")).body;
    const ids: unknown[] = [];
    for (let table = 0; ; table++) {
      const slice = await readRegistry(env.DB, { table, key: [] });
      if (!slice.ok || !slice.value) break;
      if (slice.value.table.name === "tokens") ids.push(...slice.value.rows.map((row) => row.id));
    }
    expect(ids).toContain(workload.issuer);
    expect(ids).not.toContain(id);
  });

  it("takes the audience of WORKLOAD_AUDIENCE, where it is set", async () => {
    const workload = await ruledWorkload();
    const bindings = { env: { WORKLOAD_AUDIENCE: "item-vault" } };
    expect((await exchange(await workload.token({ aud: ["x", "item-vault"] }), {}, bindings)).status).toBe(200);
    expect((await exchange(await workload.token({ aud: AUDIENCE }), {}, bindings)).status).toBe(401);
    expect((await exchange(await workload.token(), {}, { env: { WORKLOAD_AUDIENCE: "a b" } })).status).toBe(503);
  });

  it("refuses a token from before TOKENS_NOT_BEFORE, and one of a rule from before", async () => {
    const workload = await ruledWorkload();
    const after = { env: { TOKENS_NOT_BEFORE: new Date(Date.now() + 2_000).toISOString() } };
    const now = Math.floor(Date.now() / 1000);
    const replies = [
      await exchange(await workload.token(), {}, after),
      await exchange(await workload.token({ iat: now + 30 }), {}, after),
    ];
    expect(replies.map(outcome)).toEqual([REFUSED, REFUSED]);
    expect(await reasonsOf(replies)).toEqual(["revoked", "old_rule"]);
  });

  it("is a 507 when the database is full", async () => {
    const workload = await ruledWorkload();
    const request = { env: { DATABASE_LIMIT_MB: 100, DB: sizedDatabase(() => 97_000_000) } };
    await admin("GET", "/v1/admin/tokens", request);
    expect((await exchange(await workload.token(), {}, request)).status).toBe(507);
    // The isolate remembers the size of the last answer.
    await admin("GET", "/v1/admin/tokens");
  });
});

describe("the keys of an issuer", () => {
  it("may be given by the admin: then nothing is fetched", async () => {
    const key = await newSigningKey("RS256");
    const url = `https://${crypto.randomUUID()}.cluster.local`;
    const issuer = await makeIssuer({ issuer: url, jwks: { keys: [key.jwk] } });
    await makeRule(issuer.id, {});
    expect((await exchange(await tokenOf(url, key))).status).toBe(200);
  });

  it("are fetched anew for an issuer that is deleted and made again", async () => {
    const workload = await ruledWorkload();
    expect((await exchange(await workload.token())).status).toBe(200);
    const next = await newSigningKey("ES256");
    await workload.server.publish(setOf(next));
    await admin("DELETE", `/v1/admin/issuers/${workload.issuer}`);
    await makeRule((await makeIssuer({ issuer: workload.server.url })).id, {});
    expect(outcome(await exchange(await workload.token()))).toEqual(REFUSED);
    expect((await exchange(await workload.token({}, next))).status).toBe(200);
  });

  it("are used while the issuer is silent, and new ones are fetched", async () => {
    const workload = await ruledWorkload();
    expect((await exchange(await workload.token())).status).toBe(200);
    await workload.server.publish(503);
    const next = await newSigningKey("ES256");
    advanceClock(11 * 60_000);
    expect((await exchange(await workload.token())).status).toBe(200);
    expect(outcome(await exchange(await workload.token({}, next)))).toEqual([503, "issuer_unavailable"]);
    await workload.server.publish(setOf(workload.key, next));
    advanceClock(61_000);
    expect((await exchange(await workload.token({}, next))).status).toBe(200);
  });
});

describe("the end of a rule or an issuer", () => {
  const ENDS: Readonly<Record<string, (workload: Workload, rule: string) => string>> = {
    "the rule": (_, rule) => `/v1/admin/rules/${rule}`,
    "the issuer": ({ issuer }) => `/v1/admin/issuers/${issuer}`,
    "the rule, revoked as a token": (_, rule) => `/v1/admin/tokens/${rule}`,
  };

  it.each(Object.keys(ENDS))("%s is the end of its tokens by the next request, and its name stays", async (end) => {
    const workload = await makeWorkload();
    const rule = await makeRule(workload.issuer, { name: "named" });
    const { body } = await exchange(await workload.token());
    const call = client(body.access_token);
    const own = (await call("GET", "/v1/token")).body.id;
    const path = ENDS[end]!(workload, rule.id);
    expect((await admin("DELETE", path)).status).toBe(204);
    expect((await admin("DELETE", path)).status).toBe(204);
    expect((await call("GET", "/v1/token")).status).toBe(401);
    expect(outcome(await exchange(await workload.token()))).toEqual(REFUSED);
    expect((await admin("GET", `/v1/admin/tokens/${rule.id}`)).body).toMatchObject({
      name: "named",
      endedAt: expect.any(String),
    });
    expect((await admin("GET", `/v1/admin/tokens/${own}`)).status).toBe(404);
    expect((await admin("GET", `/v1/admin/rules/${rule.id}`)).status).toBe(404);
  });

  it("in the middle of an exchange refuses it", async () => {
    const workload = await makeWorkload();
    const rule = await makeRule(workload.issuer, {});
    await exchange(await workload.token());
    const between = beforeSecondCall(() => admin("DELETE", `/v1/admin/rules/${rule.id}`));
    const reply = await exchange(await workload.token(), {}, between);
    expect(outcome(reply)).toEqual(REFUSED);
    expect(await reasonsOf([reply])).toEqual(["rule_ended"]);
  });

  it("leaves nothing of tokens that have expired, and of exchanges after a day", async () => {
    const workload = await makeWorkload();
    await makeRule(workload.issuer, { lifetime: 1 });
    const { body } = await exchange(await workload.token());
    const { id } = (await client(body.access_token)("GET", "/v1/token")).body;
    advanceClock(26 * HOUR);
    await cleanUp(env, Date.now());
    expect((await admin("GET", `/v1/admin/tokens/${id}`)).status).toBe(404);
    expect(await env.DB.prepare("SELECT count(*) AS rows FROM exchanges").first()).toEqual({ rows: 0 });
  });

  it("keeps that a token of 24 hours was used for as long as it lasts, also one of a clock that is 60 s ahead", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const workload = await ruledWorkload();
    const now = Math.floor(Date.now() / 1000);
    const tokens = [
      await workload.token({ iat: now, exp: now + 86_400 }),
      await workload.token({ iat: now + 60, exp: now + 60 + 86_400 }),
    ];
    for (const token of tokens) expect((await exchange(token)).status).toBe(200);
    for (const last of [0, 60]) {
      vi.setSystemTime((now + 86_400 + last) * 1000 - 1);
      await cleanUp(env, Date.now());
      const repeated = await exchange(tokens[last === 0 ? 0 : 1]!);
      expect([outcome(repeated), await reasonsOf([repeated])]).toEqual([REFUSED, ["used"]]);
    }
  });
});

describe("a row that was changed in D1", () => {
  it("of a rule gives its rights to the tokens of no other issuer", async () => {
    const [one, other] = [await makeWorkload(), await makeWorkload()];
    const rule = await makeRule(one.issuer, { vaults: {} });
    await env.DB.prepare("UPDATE tokens SET ancestor_1 = ?1 WHERE id = ?2").bind(other.issuer, rule.id).run();
    expect(outcome(await exchange(await other.token()))).toEqual(REFUSED);
  });

  it.each([
    ["of an issuer", "issuer", "created_at = created_at + 1000"],
    ["of an issuer", "issuer", "expires_at = expires_at - 1000"],
    ["of an issuer", "issuer", "claims = 'x'"],
    ["of a rule", "rule", "created_at = created_at + 1000"],
    ["of a rule", "rule", "expires_at = expires_at - 1000"],
    ["of a rule", "rule", "claims = 'x'"],
  ])("%s gives no token: %s with %s", async (_, kind, change) => {
    const workload = await makeWorkload();
    const rule = await makeRule(workload.issuer, {});
    expect((await exchange(await workload.token())).status).toBe(200);
    const id = kind === "issuer" ? workload.issuer : rule.id;
    await env.DB.prepare(`UPDATE tokens SET ${change} WHERE id = ?1`).bind(id).run();
    const reply = await exchange(await workload.token());
    expect([outcome(reply), await reasonsOf([reply])]).toEqual([REFUSED, ["old_rule"]]);
  });
});

describe("a rewrap of the root keys between the two calls of D1", () => {
  it("refuses no exchange", async () => {
    const workload = await makeWorkload();
    const rule = await makeRule(workload.issuer, {});
    await exchange(await workload.token());
    // What a rewrap changes of the row, as another request sees it.
    const change = env.DB.prepare("UPDATE tokens SET claims = 'other' WHERE id = ?1").bind(rule.id);
    const between = beforeSecondCall(() => change.run());
    expect((await exchange(await workload.token(), {}, between)).status).toBe(200);
  });
});

describe("/v1/admin/issuers and /v1/admin/rules", () => {
  it("show what was added, and refuse a URL twice", async () => {
    const url = `https://${crypto.randomUUID()}.example.com`;
    const attributes = { name: "GitHub", issuer: url, preset: "github" };
    const { body: issuer } = await admin("POST", "/v1/admin/issuers", { body: attributes });
    expect(issuer).toEqual({ id: expect.any(String), ...attributes, once: true, createdAt: expect.any(String) });
    expect(outcome(await admin("POST", "/v1/admin/issuers", { body: attributes }))).toEqual([409, "issuer_exists"]);
    expect((await admin("GET", `/v1/admin/issuers/${issuer.id}`)).body).toEqual(issuer);
    expect((await admin("GET", "/v1/admin/issuers")).body).toContainEqual(issuer);
    const vault = await makeVault();
    const claims = { repository_id: "1", repository_owner_id: "2" };
    const body = { issuer: issuer.id, claims, vaults: { [vault]: "r" } };
    const { body: rule } = await admin("POST", "/v1/admin/rules", { body });
    expect(rule).toEqual({
      id: expect.any(String),
      name: "GitHub",
      ...body,
      lifetime: 900,
      dialect: "uuid",
      createdAt: expect.any(String),
    });
    expect((await admin("GET", `/v1/admin/rules/${rule.id}`)).body).toEqual(rule);
    expect((await admin("GET", "/v1/admin/rules")).body).toContainEqual(rule);
    expect((await admin("GET", "/v1/admin/tokens")).body.map(({ id }: { id: string }) => id)).not.toContain(rule.id);
  });

  it.each([
    ["http", { issuer: "http://issuer.example.com" }],
    ["an address of this machine", { issuer: "https://127.0.0.1" }],
    ["a preset that is none", { preset: "x" }],
    ["a set without keys", { jwks: { keys: [] } }],
    ["the preset of another one", { issuer: "https://gitlab.com", preset: "github" }],
    ["a private key", { jwks: { keys: [{ kty: "RSA", kid: "a", n: "AQAB", e: "AQAB", d: "AQAB" }] } }],
  ])("refuse an issuer with %s", async (_, attributes) => {
    const body = { name: "x", issuer: "https://issuer.example.com", ...attributes };
    expect((await admin("POST", "/v1/admin/issuers", { body })).status).toBe(400);
  });

  it.each([
    ["without the claims of the preset", "github", { claims: { sub: "repo:a/b" } }],
    ["with sub alone", "generic", { claims: { sub: "x" } }],
    ["without a claim", "generic", { claims: {} }],
    ["with a wildcard permission", "generic", { vaults: { "*": "r" } }],
    ["with a lifetime of more than an hour", "generic", { lifetime: 3_601 }],
  ])("refuse a rule %s", async (_, preset, attributes) => {
    const issuer = await makeIssuer({ preset });
    const body = { issuer: issuer.id, claims: { a: "b" }, vaults: {}, ...attributes };
    const { status, body: refusal } = await admin("POST", "/v1/admin/rules", { body });
    expect([status, refusal.message]).toEqual([400, expect.stringMatching(/^(claims|vaults|lifetime)/)]);
  });

  it("test a rule with the last workload tokens of the issuer, without their values", async () => {
    const workload = await makeWorkload();
    await exchange(await workload.token({ job: "other", secret: "canary" }));
    await exchange(await workload.token({ job: "test" }));
    const body = { issuer: workload.issuer, claims: { job: "test" }, vaults: {} };
    const answer = await vi.waitFor(async () => {
      const reply = await admin("POST", "/v1/admin/rules/test", { body });
      expect(reply.body).toHaveLength(2);
      return reply;
    }, UNDER_LOAD);
    const shown = { at: expect.any(String), issuer: workload.server.url };
    expect(answer.body).toEqual(
      expect.arrayContaining([
        { ...shown, matches: true, failed: [] },
        { ...shown, matches: false, failed: ["job"] },
      ]),
    );
    expect((await admin("GET", "/v1/admin/rules")).body.map(({ issuer }: { issuer: string }) => issuer)).not.toContain(
      workload.issuer,
    );
  });

  it("keep at most 50 refused tokens of an issuer, whatever strangers send to it or to another one", async () => {
    const [workload, other] = [await makeWorkload(), await makeWorkload()];
    await exchange(await other.token({ job: "x" }));
    for (let count = 0; count < 55; count++) await exchange(await workload.token({ job: "x" }));
    await vi.waitFor(async () => {
      const sql = "SELECT count(*) AS rows FROM exchanges WHERE token_id IS NULL AND issuer_id = ?1";
      const rows = [workload, other].map(({ issuer }) => env.DB.prepare(sql).bind(issuer).first<number>("rows"));
      expect(await Promise.all(rows)).toEqual([50, 1]);
    }, UNDER_LOAD);
  });

  it("keep the claims of the newest 50 tokens of an issuer, and of all that were used that they were", async () => {
    const workload = await ruledWorkload();
    const first = await workload.token();
    const unlimited = { env: { TOKEN_RATE: UNLIMITED } };
    await exchange(first, {}, unlimited);
    for (let count = 0; count < 55; count++) await exchange(await workload.token(), {}, unlimited);
    const sql = "SELECT count(*) AS used, sum(sealed <> '') AS shown FROM exchanges WHERE issuer_id = ?1";
    expect(await env.DB.prepare(sql).bind(workload.issuer).first()).toEqual({ used: 56, shown: 50 });
    expect(outcome(await exchange(first, {}, unlimited))).toEqual(REFUSED);
  });
});
