import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/model/limits.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { countingDatabase, limiterOf, sizedDatabase } from "../support/bindings.ts";
import { browser, cookieOf, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import {
  authorize,
  authorized,
  beginDevice,
  confirmedDevice,
  newVerifier,
  redeem,
  REDIRECT,
  servePeople,
  type SignedIn,
  typeCode,
  waiting,
} from "../support/logins.ts";
import {
  admin,
  client,
  freshVault,
  LOGIN,
  makeToken,
  makeVault,
  type Reply,
  send,
  withEachDenialLogged,
} from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** How people get a token at a terminal (contract 28). */

const signedIn = servePeople();

afterEach(() => void vi.useRealTimers());

const kindOf = ({ status, headers }: Reply) => [status, headers.get("Item-Vault-Error")];
const UNAUTHORIZED = [401, "unauthorized"];
const EXPIRED = [400, "expired_token"];

/** The two ways to a token, each up to the request that gets it. */
const WAYS = [
  ["in a browser", authorized, UNAUTHORIZED],
  ["of a device", confirmedDevice, EXPIRED],
] as const;

describe.each(WAYS)("a login %s", (_, confirm, refused) => {
  it("gives a token below the person, with the person's vaults and their email as its name", async () => {
    const { vault, items } = await freshVault();
    const person = await signedIn({ [vault]: "rw" });
    const { status, body } = await redeem(await confirm(person));
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
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(LIMITS.loginLifetime * 1000);
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
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, refused[0], refused[0]]);
    expect(kindOf(await redeem(login))).toEqual(refused);
  });

  it.each([
    ["was changed", (id: string) => admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: {} } })],
    ["was removed", (id: string) => admin("DELETE", `/v1/admin/people/${id}`)],
  ])("gives no token when the person %s after confirming", async (__, change) => {
    const person = await signedIn();
    const login = await confirm(person);
    await change(person.id);
    expect(kindOf(await redeem(login))).toEqual(UNAUTHORIZED);
  });

  it.each([
    ["is changed", (id: string) => admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: {} } })],
    ["is removed", (id: string) => admin("DELETE", `/v1/admin/people/${id}`)],
  ])("gives a token that ends when the person %s, which the log tells", async (__, change) => {
    const vault = await makeVault();
    const person = await signedIn({ [vault]: "r" });
    const { id, token } = (await redeem(await confirm(person))).body;
    const use = () => client(token)("GET", `/v1/vaults/${vault}`);
    expect((await use()).status).toBe(200);
    await change(person.id);
    expect(kindOf(await use())).toEqual(UNAUTHORIZED);
    const shown = await admin("GET", `/v1/admin/tokens/${id}`);
    expect(shown.body).toMatchObject({ name: person.email, endedAt: expect.any(String) });
    const entries = (await admin("GET", "/v1/admin/activity?limit=1000")).body.filter(
      ({ action }: { action: string }) => action !== "READ",
    );
    const about = entries.filter(({ resource }: { resource: { token?: { id: string } } }) => resource.token?.id === id);
    expect(about).toMatchObject([
      { action: "DELETE", resource: { type: "TOKEN" }, actor: { id: "admin" } },
      { action: "CREATE", resource: { type: "TOKEN" }, actor: { id: person.id } },
    ]);
  });

  it("gives a token that the admin lists and revokes as others", async () => {
    const { id, token } = (await redeem(await confirm(await signedIn()))).body;
    const listed = (await admin("GET", "/v1/admin/tokens")).body;
    expect(listed.map((one: { id: string }) => one.id)).toContain(id);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect(kindOf(await client(token)("GET", "/v1/token"))).toEqual(UNAUTHORIZED);
  });

  it("gives a token that issues none", async () => {
    const { token } = (await redeem(await confirm(await signedIn()))).body;
    const reply = await client(token)("POST", "/v1/tokens", { body: { name: "below", vaults: {} } });
    expect(kindOf(reply)).toEqual([403, "out_of_scope"]);
  });

  it("counts as one of the 100 tokens below the person", async () => {
    const person = await signedIn();
    await env.DB.prepare(
      `INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by, ancestor_1)
       SELECT 'below ' || ?1 || value, 'k1', '', 0, ?2, '', 'k1', ?1 FROM json_each(?3)`,
    )
      .bind(person.id, Date.now() + 60_000, JSON.stringify(Array.from({ length: LIMITS.tokenDescendants }, (__, n) => n)))
      .run();
    expect(kindOf(await redeem(await confirm(person)))).toEqual([507, "quota"]);
  });

  it("gives no token while the database is at 80 %", async () => {
    const login = await confirm(await signedIn());
    const nearlyFull = { DB: sizedDatabase(() => 8.1e9) };
    await send("GET", "/v1/admin/vaults", { headers: { Authorization: `Bearer ${env.ADMIN_TOKEN}` }, env: nearlyFull });
    expect(kindOf(await redeem(login, { env: nearlyFull }))).toEqual([507, "database_full"]);
    await admin("GET", "/v1/admin/vaults");
    expect((await redeem(login)).status).toBe(200);
  });

  it("takes two D1 calls to redeem", async () => {
    const login = await confirm(await signedIn());
    const { count, db } = countingDatabase();
    expect([(await redeem(login, { env: { DB: db } })).status, count.calls]).toEqual([200, 2]);
  });

  it("asks for no more than the person has", async () => {
    const [own, other] = [await makeVault(), await makeVault()];
    const person = await signedIn({ [own]: "r" });
    for (const vaults of [{ [own]: "rw" }, { [other]: "r" }] as const) {
      const { code } = (await confirm(person, { vaults })) as { code?: string };
      const [status, kind] = kindOf(
        await (code === undefined ? lastTyped(person, vaults) : authorize(person.call, newVerifier(), { vaults })),
      );
      expect([status, kind]).toEqual([403, "out_of_scope"]);
    }
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

/** Confirms a device that asks for these vaults. */
const lastTyped = async ({ call }: SignedIn, vaults: object) => typeCode(call, (await waiting({ vaults })).user_code, true);

describe("who confirms a login", () => {
  const CONFIRMATIONS = [
    ["in a browser", (cookie: string | undefined) => authorize(browser(cookie), newVerifier())],
    ["of a device", async (cookie: string | undefined) => typeCode(browser(cookie), (await waiting()).user_code, true)],
  ] as const;
  const OTHERS = [
    ["nobody", async () => undefined, UNAUTHORIZED],
    ["the session of a token", async () => signIn({ token: (await makeToken({})).token }), [403, "out_of_scope"]],
    ["the session of ADMIN_TOKEN", () => signIn({ token: env.ADMIN_TOKEN }), [403, "out_of_scope"]],
    [
      "the session of a login's token",
      async () => signIn({ token: (await redeem(await authorized(await signedIn()))).body.token }),
      [403, "out_of_scope"],
    ],
    [
      "a session that has ended",
      async () => {
        const person = await signedIn();
        await person.call("DELETE", "/console/session");
        return person.cookie;
      },
      UNAUTHORIZED,
    ],
    [
      "the session of a person who was changed",
      async () => {
        const person = await signedIn();
        await admin("PATCH", `/v1/admin/people/${person.id}`, { body: { vaults: {} } });
        return person.cookie;
      },
      UNAUTHORIZED,
    ],
  ] as const;
  const cases = CONFIRMATIONS.flatMap(([login, confirm]) =>
    OTHERS.map(([who, cookie, expected]) => [`${login}: ${who} is refused`, confirm, cookie, expected] as const),
  );

  it.each(cases)("%s", async (_, confirm, cookie, expected) => {
    expect(kindOf(await confirm(await cookie()))).toEqual(expected);
  });

  it.each([
    ["/console/authorizations", { redirect_uri: REDIRECT, code_challenge: "A".repeat(43) }],
    ["/console/devices", { user_code: "BCDFGHJK" }],
  ])("%s refuses requests that another site makes, or that carry a token", async (path, body) => {
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
    expect(replies.map(kindOf)).toEqual(requests.map(() => [403, "cross_site"]));
  });
});

describe("the code of a login in a browser", () => {
  it.each([
    ["another verifier", () => ({ code_verifier: newVerifier() })],
    ["another redirect_uri", () => ({ redirect_uri: "http://127.0.0.1:49153/" })],
  ])("is used up by a request with %s", async (_, changes) => {
    const login = await authorized(await signedIn());
    expect(kindOf(await redeem({ ...login, ...changes() }))).toEqual(UNAUTHORIZED);
    expect(kindOf(await redeem(login))).toEqual(UNAUTHORIZED);
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
    expect([(await redeem(first)).status, kindOf(await redeem(second))]).toEqual([200, UNAUTHORIZED]);
  });

  it("does not sign in to the console, and a one-time code of the console redeems no login", async () => {
    const person = await signedIn();
    const { code, code_verifier } = (await authorized(person)) as { code: string; code_verifier: string };
    const asSignIn = await browser(undefined)("POST", "/console/session", { body: { code } });
    const { token } = await makeToken({});
    const other = (await client(token)("POST", "/v1/sign-in-codes")).body.code;
    expect([kindOf(asSignIn), kindOf(await redeem({ code: other, code_verifier }))]).toEqual([UNAUTHORIZED, UNAUTHORIZED]);
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

describe("a device", () => {
  it("gets two codes and the address where the person types one of them", async () => {
    const { status, body } = await beginDevice();
    expect([status, body]).toEqual([
      200,
      {
        device_code: expect.stringMatching(/^[\w-]{43}$/),
        user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
        verification_uri: "https://vault.test/console/#/device",
        expires_in: 600,
        interval: 5,
      },
    ]);
  });

  it("is shown to the person before they confirm", async () => {
    const vault = await makeVault();
    const { call } = await signedIn({ [vault]: "rw" });
    const headers = { "User-Agent": "printer/1", "CF-Connecting-IP": "203.0.113.77" };
    const { user_code } = (await beginDevice({ vaults: { [vault]: "r" }, expiresIn: 900 }, { headers })).body;
    const typed = ` ${user_code.toLowerCase().replace("-", " ")}`;
    const { body } = await typeCode(call, typed);
    const shown = { address: "203.0.113.77", program: "printer/1", vaults: { [vault]: "r" }, expiresIn: 900, confirmed: false };
    expect(body).toMatchObject(shown);
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(600_000);
  });

  it("waits until the person confirms, and asks once in 5 seconds at most", async () => {
    const { call } = await signedIn();
    const { device_code, user_code } = await waiting();
    const ask = () => redeem({ device_code });
    expect(kindOf(await ask())).toEqual([400, "authorization_pending"]);
    expect(kindOf(await ask())).toEqual([400, "slow_down"]);
    advanceClock(5_000);
    expect(kindOf(await ask())).toEqual([400, "authorization_pending"]);
    await typeCode(call, user_code);
    expect(kindOf(await ask())).toEqual([400, "slow_down"]);
    await typeCode(call, user_code, true);
    expect((await ask()).status).toBe(200);
  });

  it("is refused after 10 minutes, whether the person has confirmed or not", async () => {
    const person = await signedIn();
    const [unconfirmed, confirmed] = [await waiting(), (await confirmedDevice(person)) as { device_code: string }];
    advanceClock(600_001);
    for (const { device_code } of [unconfirmed, confirmed]) expect(kindOf(await redeem({ device_code }))).toEqual(EXPIRED);
    expect((await typeCode(person.call, unconfirmed.user_code)).body.message).toMatch(/no device waits|is not one that/);
  });

  it("is confirmed by one person", async () => {
    const people = [await signedIn(), await signedIn()];
    const { device_code, user_code } = await waiting();
    const replies = await Promise.all(people.map(({ call }) => typeCode(call, user_code, true)));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    const { parent } = (await redeem({ device_code })).body;
    expect(parent).toBe(people[replies.findIndex(({ status }) => status === 200)]!.id);
  });

  it("is confirmed by nobody else once a person has", async () => {
    const [first, second] = [await signedIn(), await signedIn()];
    const { device_code, user_code } = await waiting();
    await typeCode(first.call, user_code, true);
    expect((await typeCode(second.call, user_code, true)).status).toBe(400);
    expect((await redeem({ device_code })).body.parent).toBe(first.id);
  });

  it("answers who has confirmed it alike when they repeat that, until it has its token", async () => {
    const { call } = await signedIn();
    const { device_code, user_code } = await waiting();
    const confirm = () => typeCode(call, user_code, true);
    const replies = [
      ...(await Promise.all([1, 2, 3].map(confirm))),
      await confirm(),
      await confirm(),
      await typeCode(call, user_code),
    ];
    expect(replies.map(({ status, body }) => [status, body.confirmed])).toEqual(replies.map(() => [200, true]));
    expect((await redeem({ device_code })).status).toBe(200);
    expect(kindOf(await confirm())).toEqual([400, "invalid"]);
    expect((await call("GET", "/console/session")).status).toBe(200);
  });

  it("is logged in as a person who was changed after confirming, once they confirm again", async () => {
    const vault = await makeVault();
    const person = await signedIn();
    const { device_code, user_code } = await waiting();
    await typeCode(person.call, user_code, true);
    await admin("PATCH", `/v1/admin/people/${person.id}`, { body: { vaults: { [vault]: "r" } } });
    const { call } = await signedIn.again(person.email);
    expect((await typeCode(call, user_code)).body).toMatchObject({ confirmed: false });
    expect((await typeCode(call, user_code, true)).body).toMatchObject({ confirmed: true });
    expect((await redeem({ device_code })).body.vaults).toEqual({ [vault]: "r" });
  });

  it("is not confirmed by whoever writes to the database", async () => {
    const person = await signedIn();
    const { device_code } = await waiting();
    const other = await waiting();
    await typeCode(person.call, other.user_code, true);
    await env.DB.prepare("UPDATE device_codes SET person_id = ?1 WHERE person_id IS NULL").bind(person.id).run();
    expect(kindOf(await redeem({ device_code }))).toEqual(EXPIRED);
  });

  it("has nothing in the clear that tells of it", async () => {
    const { device_code, user_code } = (
      await beginDevice({}, { headers: { "User-Agent": "canary-3f", "CF-Connecting-IP": "203.0.113.99" } })
    ).body;
    const rows = JSON.stringify((await env.DB.prepare("SELECT * FROM device_codes").all()).results);
    for (const text of [device_code, user_code, user_code.replace("-", ""), "canary-3f", "203.0.113.99"])
      expect(rows).not.toContain(text);
  });

  it(`is one of ${LIMITS.devicesOfAddress} of its address at most`, async () => {
    const headers = { "CF-Connecting-IP": "198.51.100.1" };
    const replies = await Promise.all(Array.from({ length: LIMITS.devicesOfAddress + 1 }, () => beginDevice({}, { headers })));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([...replies.slice(1).map(() => 200), 429]);
    expect((await beginDevice()).status).toBe(200);
  });

  it(`is one of ${LIMITS.devices} at most, and those that have expired make room`, async () => {
    await env.DB.prepare(
      `INSERT INTO device_codes SELECT value, 'code ' || value, 'address', ?1, 0, NULL, 'k1', '' FROM json_each(?2)`,
    )
      .bind(Date.now() + 60_000, JSON.stringify(Array.from({ length: LIMITS.devices }, (_, n) => String(n))))
      .run();
    expect(kindOf(await beginDevice())).toEqual([429, "rate"]);
    advanceClock(60_001);
    expect((await beginDevice()).status).toBe(200);
    expect(await env.DB.prepare("SELECT count(*) AS n FROM device_codes WHERE address = 'address'").first("n")).toBe(0);
  });

  it("is deleted by the hourly clean-up after it has expired", async () => {
    await waiting();
    await cleanUp(env, Date.now() + 700_000);
    expect(await env.DB.prepare("SELECT count(*) AS n FROM device_codes").first("n")).toBe(0);
  });
});

describe("a user code that no device waits with", () => {
  it("is a 400, and the fifth ends the session", async () => {
    const { call, id } = await signedIn();
    const tries = ["BBBBBBBB", "CCCCCCCC", "DDDDDDDD", "FFFFFFFF", "GGGGGGGG"];
    const logged = withEachDenialLogged(call);
    const replies: unknown[] = [];
    for (const code of tries) replies.push(kindOf(await typeCode(logged, code)));
    expect(replies).toEqual([...tries.slice(1).map(() => [400, "invalid"]), UNAUTHORIZED]);
    expect((await call("GET", "/console/session")).status).toBe(401);
    const denied = () => admin("GET", `/v1/admin/activity?actor=${id}&result=DENY`);
    const entries = tries.map(() => ({ resource: { type: "SESSION", session: { id } } }));
    await vi.waitFor(async () => expect((await denied()).body).toMatchObject(entries), UNDER_LOAD);
  });

  it("does not count when a device waits with it", async () => {
    const { call } = await signedIn();
    for (let count = 0; count < 6; count++) expect((await typeCode(call, (await waiting()).user_code)).status).toBe(200);
  });

  it.each(["", "BCDF", "BCDFGHJKL", "AEIOUYBC", "BCDF-GHJ0", 7, null])(
    "is refused without a D1 call when it is %j",
    async (code) => {
      const { call } = await signedIn();
      const { count, db } = countingDatabase();
      const { status } = await call("POST", "/console/devices", { body: { user_code: code }, env: { DB: db } });
      expect([status, count.calls]).toEqual([400, 1]);
    },
  );
});

describe("a request that needs no credential", () => {
  const REQUESTS = [
    ["/v1/login/device", {}],
    ["/v1/login/token", { device_code: "A".repeat(43) }],
    ["/v1/login/token", { code: "A".repeat(43), code_verifier: "A".repeat(43) }],
  ] as const;

  it.each(REQUESTS)("to %s is counted by address before any D1 call", async (path, body) => {
    const { count, db } = countingDatabase();
    const FAILURE_RATE = limiterOf(0);
    const headers = { "CF-Connecting-IP": "198.51.100.9" };
    const reply = await send("POST", path, { body, headers, env: { DB: db, FAILURE_RATE } });
    expect([kindOf(reply), count.calls]).toEqual([[429, "rate"], 0]);
  });

  it.each(REQUESTS.slice(1))("to %s with a text that this service did not make takes no D1 call", async (path, body) => {
    await send("POST", path, { body });
    const { count, db } = countingDatabase();
    expect([kindOf(await send("POST", path, { body, env: { DB: db } })), count.calls]).toEqual([UNAUTHORIZED, 0]);
  });

  it.each([
    ["/v1/login/device", { expiresIn: LIMITS.loginLifetime + 1 }, "expiresIn"],
    ["/v1/login/device", { expiresIn: 0 }, "expiresIn"],
    ["/v1/login/device", { vaults: "all" }, "vaults"],
    ["/v1/login/token", {}, "the login"],
    ["/v1/login/token", { code: "x", device_code: "x", code_verifier: "A".repeat(43) }, "the login"],
    ["/v1/login/token", { code: "x" }, "code_verifier"],
    ["/v1/login/token", { device_code: "x", code_verifier: "A".repeat(43) }, "code_verifier"],
    ["/v1/login/token", { code: "x", code_verifier: "A".repeat(42) }, "code_verifier"],
    ["/v1/login/token", { code: "x", code_verifier: "A".repeat(129) }, "code_verifier"],
  ])("to %s with %j is a 400 that names %s", async (path, body, named) => {
    const { status, body: answer } = await send("POST", path, { body });
    expect([status, answer.message]).toEqual([400, expect.stringContaining(named)]);
  });

  it("takes one D1 call for a device that begins, and for one that waits", async () => {
    const { count, db } = countingDatabase();
    const { device_code } = (await beginDevice({}, { env: { DB: db } })).body;
    expect(count.calls).toBe(1);
    await redeem({ device_code }, { env: { DB: db } });
    expect(count.calls).toBe(2);
  });
});

describe("TOKENS_NOT_BEFORE", () => {
  it("refuses the tokens of logins of people who were added before", async () => {
    const person = await signedIn();
    const { token } = (await redeem(await authorized(person))).body;
    advanceClock(10_000);
    const later = { TOKENS_NOT_BEFORE: new Date().toISOString() };
    expect((await client(token)("GET", "/v1/token", { env: later })).status).toBe(401);
  });
});
