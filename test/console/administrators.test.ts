import { env } from "cloudflare:workers";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import type { OperationId } from "../../src/api/operations.ts";
import { LIMITS } from "../../src/model/limits.ts";
import type { NarrowAdmin } from "../../src/model/token-kind.ts";
import { countingDatabase, limiterOf } from "../support/bindings.ts";
import { advanceClock } from "../support/faults.ts";
import { authorize, newVerifier, redeem, servePeople } from "../support/logins.ts";
import { admin, type Client, client, outcome, makeVault, send, withEachDenialLogged } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { deleteIssuers, makeIssuer } from "../support/workloads.ts";

/** Administrators and the tokens of the admin routes (contract 8.18 to 8.20, 25.11). */

const signedIn = servePeople();

const UNAUTHORIZED = [401, "unauthorized"];
const FORBIDDEN = [403, "out_of_scope"];
const PEOPLE = "/v1/admin/people";

interface Administrator {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly tokenId: string;
}

/** A person who is an administrator, with a token of the admin routes. */
async function makeAdministrator(attributes: object = {}): Promise<Administrator> {
  const person = await signedIn();
  await admin("PATCH", `${PEOPLE}/${person.id}`, { body: { vaults: {}, admin: true } });
  const { id, email, call } = await signedIn.again(person.email);
  const code_verifier = newVerifier();
  const { body } = await authorize(call, code_verifier, { admin: true, ...attributes });
  const issued = await redeem({ code: body.code, code_verifier });
  expect([issued.status, issued.body]).toEqual([200, expect.objectContaining({ admin: true, vaults: {}, parent: id })]);
  return { id, email, token: issued.body.token, tokenId: issued.body.id };
}

const as = ({ token }: { readonly token: string }) => withEachDenialLogged(client(token));

/** Waits until the log of the admin has this refusal of a person. */
const expectDenied = (person: string, entry: object) =>
  vi.waitFor(
    async () =>
      expect((await admin("GET", `/v1/admin/activity?actor=${person}&result=DENY`)).body[0]).toMatchObject({
        ...entry,
        actor: { id: person },
      }),
    UNDER_LOAD,
  );

/** The D1 calls of a request of the admin. */
const costOf = async (token: string) => {
  const { count, db } = countingDatabase();
  await client(token)("GET", "/v1/admin/vaults", { env: { DB: db } });
  return count.calls;
};

describe("a token of an administrator", () => {
  it("opens the admin routes for an hour, and names the person as the actor in the log", async () => {
    const one = await makeAdministrator();
    const made = await as(one)("POST", "/v1/admin/vaults", { body: { name: "By an administrator" } });
    expect(made.status).toBe(200);
    const entry = async () => (await admin("GET", `/v1/admin/activity?actor=${one.id}`)).body[0];
    await vi.waitFor(
      async () =>
        expect(await entry()).toMatchObject({
          action: "CREATE",
          actor: { id: one.id, jti: one.tokenId },
          resource: { type: "VAULT", vault: { id: made.body.id } },
        }),
      UNDER_LOAD,
    );
    advanceClock(LIMITS.adminLoginLifetime * 1000 + 1000);
    expect(outcome(await as(one)("GET", "/v1/admin/vaults"))).toEqual(UNAUTHORIZED);
    vi.useRealTimers();
  });

  it("names the person also in entries of reads", async () => {
    const one = await makeAdministrator();
    await as(one)("GET", "/v1/admin/vaults");
    const reads = async () => (await admin("GET", `/v1/admin/activity?actor=${one.id}&action=READ`)).body;
    await vi.waitFor(async () => expect(await reads()).toHaveLength(1), UNDER_LOAD);
  });

  it("has its own requests as its activity, and nothing else that the person did", async () => {
    const one = await makeAdministrator();
    await as(one)("GET", "/v1/admin/vaults");
    await as(one)("GET", "/v1/admin/people");
    await vi.waitFor(async () => {
      const { body } = await admin("GET", `/v1/admin/tokens/${one.tokenId}/activity`);
      const did = body.map(({ actor, resource, log }: any) => [actor.id, actor.jti, resource.type, log]);
      expect(did).toEqual([
        [one.id, one.tokenId, "PERSON", "admin"],
        [one.id, one.tokenId, "VAULT", "admin"],
      ]);
    }, UNDER_LOAD);
  });

  it.each([
    ["the person is changed", (one: Administrator) => admin("PATCH", `${PEOPLE}/${one.id}`, { body: { vaults: {} } })],
    [
      "the person is no administrator any more",
      (one: Administrator) => admin("PATCH", `${PEOPLE}/${one.id}`, { body: { vaults: {}, admin: false } }),
    ],
    ["the person is removed", (one: Administrator) => admin("DELETE", `${PEOPLE}/${one.id}`)],
    ["it is revoked", (one: Administrator) => admin("DELETE", `/v1/admin/tokens/${one.tokenId}`)],
  ])("ends by the next request when %s", async (_, change) => {
    const one = await makeAdministrator();
    expect((await as(one)("GET", "/v1/admin/vaults")).status).toBe(200);
    expect((await change(one)).status).toBeLessThan(300);
    expect(outcome(await as(one)("GET", "/v1/admin/vaults"))).toEqual(UNAUTHORIZED);
  });

  it("opens no route of vaults, and does not sign in to the console", async () => {
    const one = await makeAdministrator();
    for (const path of ["/v1/token", "/v1/vaults", "/v1/tokens", `/v1/vaults/${await makeVault()}/items`])
      expect(outcome(await as(one)("GET", path))).toEqual(UNAUTHORIZED);
    const reply = await send("POST", "/console/session", {
      headers: { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" },
      body: { token: one.token },
    });
    expect(outcome(reply)).toEqual(UNAUTHORIZED);
  });

  it("makes no code that signs in as ADMIN_TOKEN, and the refusal names the person in the log", async () => {
    const one = await makeAdministrator();
    expect(outcome(await as(one)("POST", "/v1/admin/sign-in-codes"))).toEqual(UNAUTHORIZED);
    await expectDenied(one.id, { action: "CREATE", resource: { type: "SESSION" } });
  });

  it("costs one D1 call more than ADMIN_TOKEN, and one in a minute after it was revoked", async () => {
    const one = await makeAdministrator();
    expect((await costOf(one.token)) - (await costOf(env.ADMIN_TOKEN))).toBe(1);
    await admin("DELETE", `/v1/admin/tokens/${one.tokenId}`);
    expect([await costOf(one.token), await costOf(one.token)]).toEqual([1, 0]);
  });

  it("has a rate limit, which it shares with the other tokens of the person", async () => {
    const one = await makeAdministrator();
    const limited = { env: { TOKEN_RATE: limiterOf(0) } };
    const replies: unknown[] = [];
    for (let count = 0; count < 50; count++) replies.push((await as(one)("GET", "/v1/admin/keys", limited)).status);
    expect(replies).toContain(429);
  });

  it("is in the list of tokens", async () => {
    const one = await makeAdministrator();
    const listed = (await admin("GET", "/v1/admin/tokens")).body.find(({ id }: { id: string }) => id === one.tokenId);
    expect(listed).toEqual(expect.objectContaining({ name: one.email, admin: true, parent: one.id, vaults: {} }));
  });
});

describe("who is no administrator", () => {
  it("gets no token of the admin routes, and the log of the admin has the refusal", async () => {
    const { call, id } = await signedIn();
    expect(outcome(await authorize(withEachDenialLogged(call), newVerifier(), { admin: true }))).toEqual(FORBIDDEN);
    await expectDenied(id, { action: "CREATE", resource: { type: "SESSION" } });
  });

  it.each([
    ["vaults", { vaults: {} }],
    ["more than an hour", { expiresIn: LIMITS.adminLoginLifetime + 1 }],
  ])("and who is one asks for none with %s", async (_, attributes) => {
    const { call } = await signedIn();
    expect((await authorize(call, newVerifier(), { admin: true, ...attributes })).status).toBe(400);
  });
});

describe("administrators", () => {
  let one: Administrator;
  let other: Administrator;
  beforeAll(async () => {
    [one, other] = [await makeAdministrator(), await makeAdministrator()];
  });

  it("are made by ADMIN_TOKEN, which the list tells", async () => {
    const { email } = await signedIn();
    const made = await admin("POST", PEOPLE, { body: { email: `admin-${email}`, vaults: {}, admin: true } });
    expect(made.body.admin).toBe(true);
    const listed = (await admin("GET", PEOPLE)).body.find(({ id }: { id: string }) => id === made.body.id);
    expect(listed.admin).toBe(true);
    const changed = await admin("PATCH", `${PEOPLE}/${made.body.id}`, { body: { vaults: {} } });
    expect(changed.body.admin).toBe(true);
  });

  it.each([
    ["make one", () => ["POST", PEOPLE, { email: `${crypto.randomUUID()}@example.com`, vaults: {}, admin: true }]],
    ["promote a person", async () => ["PATCH", `${PEOPLE}/${(await signedIn()).id}`, { vaults: {}, admin: true }]],
    ["promote themselves again", () => ["PATCH", `${PEOPLE}/${one.id}`, { vaults: {}, admin: true }]],
    ["change the vaults of another one", () => ["PATCH", `${PEOPLE}/${other.id}`, { vaults: {} }]],
    ["demote another one", () => ["PATCH", `${PEOPLE}/${other.id}`, { vaults: {}, admin: false }]],
    ["remove another one", () => ["DELETE", `${PEOPLE}/${other.id}`]],
    ["remove another one as a token", () => ["DELETE", `/v1/admin/tokens/${other.id}`]],
  ] as const)("do not %s, and the log of the admin has the refusal", async (_, request) => {
    const [method, path, body] = (await request()) as [string, string, object?];
    const reply = await as(one)(method, path, { ...(body && { body }) });
    expect(outcome(reply)).toEqual(FORBIDDEN);
    await expectDenied(one.id, { requestId: reply.headers.get("Request-Id") });
    expect((await as(other)("GET", "/v1/admin/vaults")).status).toBe(200);
  });

  describe("with the Idempotency-Key of ADMIN_TOKEN, or of another administrator, get their own answer", () => {
    const vaults = {};
    let vault: string, issuer: string;
    beforeAll(async () => {
      vault = await makeVault();
      ({ id: issuer } = await makeIssuer());
    });

    afterAll(deleteIssuers);

    it.each([
      ["tokens", 3, () => ({ name: "keyed", vaults })],
      ["vaults", 3, () => ({ name: "keyed" })],
      ["rules", 3, () => ({ issuer, claims: { job: "deploy" }, vaults })],
      ["vaults/:vault/webhooks", 3, () => ({ url: "https://example.com/" })],
      // Of an email, and of an URL, there is one row only.
      ["people", 1, () => ({ email: `${crypto.randomUUID()}@example.com`, vaults })],
      ["issuers", 1, () => ({ name: "keyed", issuer: `https://${crypto.randomUUID()}.example.com` })],
    ])("from POST /v1/admin/%s", async (path, made, bodyOf) => {
      const request = { body: bodyOf(), headers: { "Idempotency-Key": crypto.randomUUID() } };
      const ask = async (call: Client) => call("POST", `/v1/admin/${path.replace(":vault", vault)}`, request);
      const texts: string[][] = [];
      for (const call of [admin, as(one), as(other)]) {
        const [first, again] = [await ask(call), await ask(call)];
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        if (first.status === 200) texts.push([first.body.id, first.text]);
      }
      expect(new Set(texts.map(([id]) => id)).size).toBe(made);
      if (path === "issuers") await admin("DELETE", `/v1/admin/issuers/${texts[0]![0]}`);
    });

    it("from PATCH and DELETE of a vault", async () => {
      const path = `/v1/admin/vaults/${await makeVault()}`;
      const headers = { "Idempotency-Key": crypto.randomUUID() };
      const rename = (call: Client, name: string) => call("PATCH", path, { headers, body: { name } });
      expect((await rename(admin, "first")).status).toBe(200);
      expect(outcome(await rename(admin, "second"))).toEqual([409, "idempotency"]);
      expect((await rename(as(one), "third")).body.name).toBe("third");
    });
  });

  it("add, change and remove other people", async () => {
    const { body } = await as(one)("POST", PEOPLE, { body: { email: `${crypto.randomUUID()}@example.com`, vaults: {} } });
    expect((await as(one)("PATCH", `${PEOPLE}/${body.id}`, { body: { vaults: {} } })).status).toBe(200);
    expect((await as(one)("DELETE", `${PEOPLE}/${body.id}`)).status).toBe(204);
    expect(outcome(await as(one)("DELETE", `${PEOPLE}/${crypto.randomUUID()}`))).toEqual([404, "person_not_found"]);
  });
});

/** What each narrow token opens, as the contract names it (contract 8.19, 8.20). */
const OPENED: Readonly<Record<NarrowAdmin, readonly OperationId[]>> = {
  backupsOnly: ["listBackups", "listVaultBackups", "listBackupObjects", "getBackupObject"],
  adminRead: ["listAllVaults", "listTokens", "listPeople", "listIssuers", "listRules", "listWebhooks"],
};

describe.each([
  ["backupsOnly", "/v1/admin/backups"],
  ["adminRead", "/v1/admin/vaults"],
] as const)("a token with %s", (narrow, path) => {
  const make = (attributes: object = {}) =>
    admin("POST", "/v1/admin/tokens", { body: { name: "narrow", [narrow]: true, ...attributes } });

  it("is issued without vaults, and its text is shown once", async () => {
    const { status, body } = await make({ expiresIn: 3600 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: "narrow", admin: true, [narrow]: true, token: expect.any(String) });
    expect(body.vaults).toEqual({});
    const shown = (await admin("GET", `/v1/admin/tokens/${body.id}`)).body;
    expect([shown[narrow], shown.token]).toEqual([true, undefined]);
  });

  it.each([{ vaults: {} }, { binding: true }, { stale: 1 }, { delegate: true }, { backupsOnly: true, adminRead: true }])(
    "has none of %j",
    async (attributes) => {
      expect((await make(attributes)).status).toBe(400);
    },
  );

  it("opens what the contract says: the matrix of test/api/matrix.test.ts tries it on every route", () => {
    const opened = ROWS.flatMap(({ access, operationId }) =>
      access.by === "admin" && access.narrow === narrow ? [operationId] : [],
    );
    expect(opened.toSorted()).toEqual(OPENED[narrow].toSorted());
  });

  it("ends when it is revoked", async () => {
    const { id, token } = (await make()).body;
    expect((await client(token)("GET", path)).status).toBe(200);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect(outcome(await client(token)("GET", path))).toEqual(UNAUTHORIZED);
  });

  it("is answered again for the same Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const body = { name: "narrow", [narrow]: true };
    const replies = [
      await admin("POST", "/v1/admin/tokens", { headers, body }),
      await admin("POST", "/v1/admin/tokens", { headers, body }),
    ];
    expect(replies[0]!.text).toBe(replies[1]!.text);
  });
});

it("a token with adminRead has an audience that a release without such tokens refuses (8.20)", async () => {
  const { body } = await admin("POST", "/v1/admin/tokens", { body: { name: "narrow", adminRead: true } });
  expect(decodeJwt(body.token).aud).toBe("item-vault-admin-read");
});
