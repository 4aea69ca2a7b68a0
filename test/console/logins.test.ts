import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/model/limits.ts";
import { countingDatabase, limiterOf, sizedDatabase } from "../support/bindings.ts";
import { browser, cookieOf, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import {
  authorize,
  authorized,
  loginCode,
  makeLoginCode,
  newVerifier,
  pasted,
  redeem,
  REDIRECT,
  servePeople,
  type SignedIn,
} from "../support/logins.ts";
import {
  admin,
  type Client,
  client,
  freshVault,
  outcome,
  LOGIN,
  makeToken,
  makeVault,
  type Request_,
  send,
  withEachDenialLogged,
} from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** How people get a token at a terminal (contract 28.1 to 28.7). */

const signedIn = servePeople();

afterEach(() => void vi.useRealTimers());

const UNAUTHORIZED = [401, "unauthorized"];

/** The two ways to a token, each up to the request that gets it. */
const WAYS = [
  ["in a browser", authorized],
  ["by a pasted code", pasted],
] as const;

/** The confirmations of both, as requests of a session. */
const CONFIRMATIONS = [
  ["in a browser", (call: Client, attributes: object = {}) => authorize(call, newVerifier(), attributes)],
  ["by a pasted code", makeLoginCode],
] as const;

const CHANGES = [
  ["changed", (id: string) => admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: {} } })],
  ["removed", (id: string) => admin("DELETE", `/v1/admin/people/${id}`)],
] as const;

describe.each(WAYS)("a login %s", (_, confirm) => {
  it("gives a token below the person, with their email as its name", async () => {
    const { vault, items } = await freshVault();
    const person = await signedIn({ [vault]: "rw" });
    const { status, body } = await redeem(await confirm(person, { vaults: { [vault]: "rw" } }));
    expect([status, body]).toEqual([
      200,
      {
        id: expect.any(String),
        name: person.email,
        dialect: "uuid",
        vaults: { [vault]: "rw" },
        parent: person.id,
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        token: expect.any(String),
      },
    ]);
    const made = await client(body.token)("POST", items, { body: LOGIN });
    expect([made.status, made.body.lastEditedBy]).toEqual([200, body.id]);
  });

  it("gives a token with the vaults and the lifetime that were asked for", async () => {
    const vault = await makeVault();
    const person = await signedIn({ [vault]: "rwd", [await makeVault()]: "r" });
    const { body } = await redeem(await confirm(person, { vaults: { [vault]: "r" }, expiresIn: 60 }));
    expect([body.vaults, Date.parse(body.expiresAt) - Date.parse(body.createdAt)]).toEqual([{ [vault]: "r" }, 60_000]);
  });

  it("gives one token, also to several requests at the same moment", async () => {
    const login = await confirm(await signedIn());
    const replies = await Promise.all([1, 2, 3].map(() => redeem(login)));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
    expect(outcome(await redeem(login))).toEqual(UNAUTHORIZED);
  });

  it.each(CHANGES)("gives no token when the person was %s after confirming", async (__, change) => {
    const person = await signedIn();
    const login = await confirm(person);
    await change(person.id);
    expect(outcome(await redeem(login))).toEqual(UNAUTHORIZED);
  });

  it.each(CHANGES)("gives a token that ends when the person is %s, which the log tells", async (__, change) => {
    const vault = await makeVault();
    const person = await signedIn({ [vault]: "r" });
    const { id, token } = (await redeem(await confirm(person, { vaults: { [vault]: "r" } }))).body;
    const use = () => client(token)("GET", `/v1/vaults/${vault}`);
    expect((await use()).status).toBe(200);
    await change(person.id);
    expect(outcome(await use())).toEqual(UNAUTHORIZED);
    const shown = await admin("GET", `/v1/admin/tokens/${id}`);
    expect(shown.body).toMatchObject({ name: person.email, endedAt: expect.any(String) });
    const entries: any[] = (await admin("GET", "/v1/admin/activity?limit=1000")).body;
    const about = entries.filter(({ action, resource }) => action !== "READ" && resource.token?.id === id);
    expect(about).toMatchObject([
      { action: "DELETE", resource: { type: "TOKEN" }, actor: { id: "admin" } },
      { action: "CREATE", resource: { type: "TOKEN" }, actor: { id: person.id } },
    ]);
  });

  it("gives a token that the admin lists and revokes as others, and that issues none", async () => {
    const { id, token } = (await redeem(await confirm(await signedIn()))).body;
    const use = client(token);
    expect(outcome(await use("POST", "/v1/tokens", { body: { name: "below", vaults: {} } }))).toEqual([403, "out_of_scope"]);
    expect((await admin("GET", "/v1/admin/tokens")).body.map((one: { id: string }) => one.id)).toContain(id);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect(outcome(await use("GET", "/v1/token"))).toEqual(UNAUTHORIZED);
  });

  it("counts as one of the 100 tokens below the person", async () => {
    const person = await signedIn();
    await env.DB.prepare(
      `INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by, ancestor_1)
       SELECT 'below ' || ?1 || value, 'k1', '', 0, ?2, '', 'k1', ?1 FROM json_each(?3)`,
    )
      .bind(person.id, Date.now() + 60_000, JSON.stringify(Array.from({ length: LIMITS.tokenDescendants }, (__, n) => n)))
      .run();
    expect(outcome(await redeem(await confirm(person)))).toEqual([507, "quota"]);
  });

  it("gives no token while the database is at 80 %", async () => {
    const login = await confirm(await signedIn());
    const nearlyFull = { DB: sizedDatabase(() => 8.1e9) };
    await send("GET", "/v1/admin/vaults", { headers: { Authorization: `Bearer ${env.ADMIN_TOKEN}` }, env: nearlyFull });
    expect(outcome(await redeem(login, { env: nearlyFull }))).toEqual([507, "database_full"]);
    await admin("GET", "/v1/admin/vaults");
    expect((await redeem(login)).status).toBe(200);
  });

  it("takes two D1 calls to redeem", async () => {
    const login = await confirm(await signedIn());
    const { count, db } = countingDatabase();
    expect([(await redeem(login, { env: { DB: db } })).status, count.calls]).toEqual([200, 2]);
  });

  it("does not pass on a vault that the admin has opened to the session", async () => {
    const vault = await makeVault();
    const person = await signedIn();
    const both = await signIn({ token: env.ADMIN_TOKEN }, person.cookie);
    const opened = await browser(both)("POST", "/console/session", { body: { vaults: { [vault]: "rwd" } } });
    const { body } = await redeem(await confirm({ call: browser(cookieOf(opened)) }));
    expect(body.vaults).toEqual({});
  });
});

/** How long a token lives, in seconds. */
const lifetimeOf = ({ createdAt, expiresAt }: { createdAt: string; expiresAt: string }) =>
  (Date.parse(expiresAt) - Date.parse(createdAt)) / 1000;

it("a login gives by default in a browser all of the person for 12 hours, and by a pasted code what was chosen for an hour", async () => {
  const vault = await makeVault();
  const person = await signedIn({ [vault]: "rwd" });
  const browsed = (await redeem(await authorized(person))).body;
  const { body } = await redeem(await pasted(person, { vaults: { [vault]: "r" } }));
  expect([browsed.vaults, lifetimeOf(browsed)]).toEqual([{ [vault]: "rwd" }, 43_200]);
  expect([body.vaults, lifetimeOf(body)]).toEqual([{ [vault]: "r" }, 3_600]);
});

const cookieAfter = async (end: (person: SignedIn) => Promise<unknown>) => {
  const person = await signedIn();
  await end(person);
  return person.cookie;
};
const loginToken = async () => (await redeem(await authorized(await signedIn()))).body.token;
const FORBIDDEN = [403, "out_of_scope"];

describe.each(CONFIRMATIONS)("who confirms a login %s", (_, confirm) => {
  it("asks for no more than they have", async () => {
    const [own, other] = [await makeVault(), await makeVault()];
    const { id, call } = await signedIn({ [own]: "r" });
    const logged = withEachDenialLogged(call);
    for (const vaults of [{ [own]: "rw" }, { [other]: "r" }])
      expect(outcome(await confirm(logged, { vaults }))).toEqual([403, "out_of_scope"]);
    const denied = () => admin("GET", `/v1/admin/activity?actor=${id}&result=DENY`);
    const entry = { resource: { type: "SESSION", session: { id } } };
    await vi.waitFor(async () => expect((await denied()).body).toMatchObject([entry, entry]), UNDER_LOAD);
  });

  const OTHERS: readonly (readonly [string, () => Promise<string | undefined>, unknown])[] = [
    ["nobody", async () => undefined, UNAUTHORIZED],
    ["the session of a token", async () => signIn({ token: (await makeToken({})).token }), FORBIDDEN],
    ["the session of ADMIN_TOKEN", () => signIn({ token: env.ADMIN_TOKEN }), FORBIDDEN],
    ["the session of a login's token", async () => signIn({ token: await loginToken() }), FORBIDDEN],
    ["a session that has ended", () => cookieAfter(({ call }) => call("DELETE", "/console/session")), UNAUTHORIZED],
    ["the session of a person who was changed", () => cookieAfter(({ id }) => CHANGES[0][1](id)), UNAUTHORIZED],
  ];

  it.each(OTHERS)("is not %s", async (__, cookie, expected) => {
    expect(outcome(await confirm(browser(await cookie())))).toEqual(expected);
  });
});

describe("a confirmation", () => {
  it.each([
    ["/console/authorizations", { redirect_uri: REDIRECT, code_challenge: "A".repeat(43) }],
    ["/console/login-codes", { vaults: {} }],
  ])("to %s is refused when another site sends it, or with a token", async (path, body) => {
    const { cookie } = await signedIn();
    const { token } = await makeToken({});
    const Cookie = `__Host-item-vault-session=${cookie}`;
    const requests: Record<string, string>[] = [
      { Cookie },
      { Cookie, "Sec-Fetch-Site": "cross-site", "Item-Vault-Console": "1" },
      { Cookie, "Sec-Fetch-Site": "same-origin" },
      { Authorization: `Bearer ${token}` },
    ];
    const replies = await Promise.all(requests.map((headers) => send("POST", path, { headers, body })));
    expect(replies.map(outcome)).toEqual(requests.map(() => [403, "cross_site"]));
  });
});

describe("the code of a login in a browser", () => {
  it.each([
    ["another verifier", () => ({ code_verifier: newVerifier() })],
    ["another redirect_uri", () => ({ redirect_uri: "http://127.0.0.1:49153/" })],
  ])("is used up by a request with %s", async (_, changes) => {
    const login = await authorized(await signedIn());
    expect(outcome(await redeem({ ...login, ...changes() }))).toEqual(UNAUTHORIZED);
    expect(outcome(await redeem(login))).toEqual(UNAUTHORIZED);
  });

  it("is redeemed with the redirect_uri that it was sent to", async () => {
    const login = await authorized(await signedIn());
    expect((await redeem({ ...login, redirect_uri: REDIRECT })).status).toBe(200);
  });

  it("is refused after 60 seconds", async () => {
    const login = await authorized(await signedIn());
    advanceClock(59_000);
    const [first, second] = [await authorized(await signedIn()), login];
    advanceClock(2_000);
    expect([(await redeem(first)).status, outcome(await redeem(second))]).toEqual([200, UNAUTHORIZED]);
  });

  it.each([
    "http://localhost:8000/",
    "http://127.0.0.1/",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:99999/",
    "https://127.0.0.1:8000/",
    "http://127.0.0.1:8000@evil.example/",
    "http://127.0.0.1:8000/?code=1",
    "http://127.0.0.1:8000/#x",
    "http://127.0.0.1.evil.example:8000/",
    "http://user@127.0.0.1:8000/",
    "http://[::2]:8000/",
    "http://2130706433:8000/",
    "javascript://127.0.0.1:8000/",
    "item-vault:/callback",
    "",
  ])("is not sent to %s", async (redirect_uri) => {
    const { status, body } = await authorize((await signedIn()).call, newVerifier(), { redirect_uri });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^redirect_uri: /)]);
  });

  it.each(["http://127.0.0.1:1", "http://127.0.0.1:65535/callback", "http://[::1]:8000/"])(
    "is sent to %s",
    async (redirect_uri) => {
      expect((await authorize((await signedIn()).call, newVerifier(), { redirect_uri })).status).toBe(200);
    },
  );
});

describe("a pasted code", () => {
  it("is shown once, and names the token that it gives", async () => {
    const { call } = await signedIn();
    const { status, body } = await makeLoginCode(call);
    expect([status, body]).toEqual([
      200,
      { id: expect.any(String), code: expect.stringMatching(/^[\w-]{43}$/), expiresAt: expect.any(String) },
    ]);
    expect((await redeem({ code: body.code })).body.id).toBe(body.id);
  });

  it("is refused after 2 minutes", async () => {
    const person = await signedIn();
    const [first, second] = [await loginCode(person.call), await loginCode(person.call)];
    advanceClock(119_000);
    expect((await redeem({ code: first })).status).toBe(200);
    advanceClock(2_000);
    expect(outcome(await redeem({ code: second }))).toEqual(UNAUTHORIZED);
  });

  it("gives no administration, whatever is asked for, also to an administrator", async () => {
    const body = { email: `${crypto.randomUUID()}@example.com`, vaults: {}, admin: true };
    await admin("POST", "/v1/admin/people", { body });
    const { call } = await signedIn.again(body.email);
    expect((await makeLoginCode(call, { admin: true })).status).toBe(400);
    const issued = (await redeem({ code: await loginCode(call) })).body;
    expect([issued.admin, issued.vaults]).toEqual([undefined, {}]);
    expect(outcome(await client(issued.token)("GET", "/v1/admin/vaults"))).toEqual(UNAUTHORIZED);
  });

  it("is not redeemed with a verifier, and is not used up by it", async () => {
    const code = await loginCode((await signedIn()).call);
    expect(outcome(await redeem({ code, code_verifier: newVerifier() }))).toEqual(UNAUTHORIZED);
    expect((await redeem({ code })).status).toBe(200);
  });

  it("is of no other deployment: neither with other root keys, nor with the same ones and another database", async () => {
    const code = await loginCode((await signedIn()).call);
    const otherKeys = { ROOT_KEYS: `k1:${new Uint8Array(32).fill(7).toBase64()}` };
    expect((await redeem({ code }, { env: otherKeys })).status).not.toBe(200);
    await env.DB.prepare("CREATE TABLE elsewhere AS SELECT * FROM sessions").run();
    await env.DB.prepare("DELETE FROM sessions").run();
    expect(outcome(await redeem({ code }))).toEqual(UNAUTHORIZED);
    await env.DB.batch([env.DB.prepare("INSERT INTO sessions SELECT * FROM elsewhere"), env.DB.prepare("DROP TABLE elsewhere")]);
    expect((await redeem({ code })).status).toBe(200);
  });

  it.each([
    ["a character less", (code: string) => code.slice(0, -1)],
    ["a character more", (code: string) => `${code}A`],
    ["another first character", (code: string) => (code.startsWith("A") ? "B" : "A") + code.slice(1)],
    ["another MAC", (code: string) => `${code.slice(0, 33)}${code[33] === "A" ? "B" : "A"}${code.slice(34)}`],
    ["unused bits", (code: string) => code.slice(0, -1) + String.fromCharCode(code.charCodeAt(42) + 1)],
    ["white space", (code: string) => ` ${code}`],
    ["nothing in it", () => ""],
  ])("with %s is refused without a D1 call, and is not used up", async (_, change) => {
    const code = await loginCode((await signedIn()).call);
    const { count, db } = countingDatabase();
    expect([outcome(await redeem({ code: change(code) }, { env: { DB: db } })), count.calls]).toEqual([UNAUTHORIZED, 0]);
    expect((await redeem({ code })).status).toBe(200);
  });

  it("has nothing in the clear that tells of it", async () => {
    const { call, email } = await signedIn();
    const code = await loginCode(call);
    const rows = JSON.stringify((await env.DB.prepare("SELECT * FROM sessions").all()).results);
    for (const text of [code, email]) expect(rows).not.toContain(text);
  });
});

it("a sign-out in the last minute of a session is none with the cookie of an ended session", async () => {
  const { call } = await signedIn();
  const { expiresAt } = (await call("GET", "/console/session")).body;
  advanceClock(Date.parse(expiresAt) - Date.now() - 60_000);
  let ended = 0;
  const SESSION_RATE = { limit: async () => ({ success: ++ended > 0 }) };
  const headers = { "CF-Connecting-IP": "203.0.113.77" };
  expect((await call("DELETE", "/console/session", { env: { SESSION_RATE }, headers })).status).toBe(204);
  expect(ended).toBe(0);
});

it("a sign-out ends another session of the person that would expire within 2 minutes (contract 28.7)", async () => {
  const early = await signedIn();
  const { expiresAt } = (await early.call("GET", "/console/session")).body;
  advanceClock(Date.parse(expiresAt) - Date.now() - 180_000);
  const [late, other] = [await signedIn.again(early.email), await signedIn.again(early.email)];
  const statuses = async () =>
    Promise.all([early, other].map(async ({ call }) => (await call("GET", "/console/session")).status));
  await late.call("DELETE", "/console/session");
  expect(await statuses()).toEqual([200, 200]);
  advanceClock(61_000);
  await (await signedIn.again(early.email)).call("DELETE", "/console/session");
  expect(await statuses()).toEqual([401, 200]);
});

const putBack = () => env.DB.prepare("INSERT OR REPLACE INTO sessions SELECT * FROM earlier").run();

describe.each(WAYS)("the code of a login %s", (_, confirm) => {
  it("ends when the person signs out, and no session of theirs elsewhere does", async () => {
    const person = await signedIn();
    const [elsewhere, another] = [await signedIn.again(person.email), await signedIn()];
    const [login, other] = [await confirm(person), await confirm(another)];
    await person.call("DELETE", "/console/session");
    expect([outcome(await redeem(login)), (await redeem(other)).status]).toEqual([UNAUTHORIZED, 200]);
    expect((await elsewhere.call("GET", "/console/session")).status).toBe(200);
  });

  it("gives no second token to whoever puts its row back, also after the first one has ended", async () => {
    const login = await confirm(await signedIn());
    await env.DB.prepare("CREATE TABLE earlier AS SELECT * FROM sessions").run();
    const { id } = (await redeem(login)).body;
    await putBack();
    expect(outcome(await redeem(login))).toEqual(UNAUTHORIZED);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await putBack();
    expect(outcome(await redeem(login))).toEqual(UNAUTHORIZED);
    await env.DB.prepare("DROP TABLE earlier").run();
  });
});

describe("the codes of the service", () => {
  /** What makes each kind of code, and what uses it. */
  const KINDS = {
    "sign-in code": {
      make: async () => (await client((await makeToken({})).token)("POST", "/v1/sign-in-codes")).body.code,
      use: (code: string, options: Request_ = {}) =>
        browser(undefined)("POST", "/console/session", { ...options, body: { code } }),
    },
    "code of a login in a browser": {
      make: async () => ((await authorized(await signedIn())) as { code: string }).code,
      use: (code: string, options: Request_ = {}) => redeem({ code, code_verifier: newVerifier() }, options),
    },
    "pasted code": {
      make: async () => loginCode((await signedIn()).call),
      use: (code: string, options: Request_ = {}) => redeem({ code }, options),
    },
    cookie: {
      make: async () => (await signedIn()).cookie,
      use: (code: string, options: Request_ = {}) => browser(code)("GET", "/console/session", options),
    },
  };
  const pairs = Object.entries(KINDS).flatMap(([one, { make }]) =>
    Object.entries(KINDS).flatMap(([other, { use }]) => (one === other ? [] : [[one, other, make, use] as const])),
  );

  it.each(pairs)("a %s is refused as a %s, without a D1 call", async (_, __, make, use) => {
    const code = await make();
    const { count, db } = countingDatabase();
    expect([outcome(await use(code, { env: { DB: db } })), count.calls]).toEqual([UNAUTHORIZED, 0]);
  });
});

describe("the terminal that has used a code", () => {
  const headers = { "User-Agent": "item-vault/1", "CF-Connecting-IP": "203.0.113.77" };

  it("is shown to the person, who ends its token by their session", async () => {
    const { call } = await signedIn();
    const { id, code } = (await makeLoginCode(call)).body;
    expect((await call("GET", "/v1/tokens")).body).toEqual([]);
    const { token } = (await redeem({ code }, { headers })).body;
    const login = { address: "203.0.113.77", program: "item-vault/1" };
    expect((await call("GET", "/v1/tokens")).body).toMatchObject([{ id, login }]);
    expect((await call("DELETE", `/v1/tokens/${id}`)).status).toBe(204);
    expect(outcome(await client(token)("GET", "/v1/token"))).toEqual(UNAUTHORIZED);
    expect((await call("GET", "/v1/tokens")).body).toEqual([]);
  });

  it("is shown to the admin, and to nobody else: neither to another person nor in the token", async () => {
    const [{ call }, other] = [await signedIn(), await signedIn()];
    const { body } = await redeem({ code: await loginCode(call) }, { headers });
    expect(body.login).toBeUndefined();
    expect((await client(body.token)("GET", "/v1/token")).body.login).toBeUndefined();
    expect((await other.call("GET", "/v1/tokens")).body).toEqual([]);
    expect(outcome(await other.call("DELETE", `/v1/tokens/${body.id}`))).toEqual([404, "token_not_found"]);
    expect((await admin("GET", `/v1/admin/tokens/${body.id}`)).body.login).toEqual({
      address: "203.0.113.77",
      program: "item-vault/1",
    });
  });
});

describe("a request that needs no credential", () => {
  const CODE = { code: "A".repeat(43) };

  it.each([CODE, { ...CODE, code_verifier: "A".repeat(43) }])("is counted by address before any D1 call: %j", async (body) => {
    const { count, db } = countingDatabase();
    const headers = { "CF-Connecting-IP": "198.51.100.9" };
    const reply = await redeem(body, { headers, env: { DB: db, FAILURE_RATE: limiterOf(0) } });
    expect([outcome(reply), count.calls]).toEqual([[429, "rate"], 0]);
  });

  it.each([
    [{}, "code"],
    [{ code: 7 }, "code"],
    [{ code: null }, "code"],
    [{ code: "x", code_verifier: "A".repeat(42) }, "code_verifier"],
    [{ code: "x", code_verifier: "A".repeat(129) }, "code_verifier"],
  ])("is a 400 with %j that names %s", async (body, named) => {
    const { status, body: answer } = await redeem(body);
    expect([status, answer.message]).toEqual([400, expect.stringContaining(named)]);
  });
});

it("TOKENS_NOT_BEFORE refuses the tokens of logins of people who were added before", async () => {
  const { token } = (await redeem(await authorized(await signedIn()))).body;
  advanceClock(10_000);
  const later = { TOKENS_NOT_BEFORE: new Date().toISOString() };
  expect((await client(token)("GET", "/v1/token", { env: later })).status).toBe(401);
});
