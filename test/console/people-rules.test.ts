import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { moveExpiredTokens } from "../../src/store/tokens/ended-tokens.ts";
import { addPerson, newEmail } from "../support/access.ts";
import { browser, cookieOf } from "../support/console.ts";
import { type Provider, signInBy, startProvider } from "../support/identity-provider.ts";
import { authorized, loginCode, redeem } from "../support/logins.ts";
import { newStages } from "../support/root-keys.ts";
import { admin, client, freshVault, outcome, makeVault, type Reply, type Request_, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { tokenOf } from "../support/workload-tokens.ts";
import { deleteIssuers, exchange, makeIssuer, makeRule } from "../support/workloads.ts";

/** People whom a rule lets in (contract 25.13). */

afterEach(deleteIssuers);

const HOUR = 3_600_000;
const left = ({ body }: Reply) => Date.parse(body.expiresAt) - Date.now();

/** Lets time pass for the rest of a test. In: seconds. */
function pass(seconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
  onTestFinished(() => void vi.useRealTimers());
}

/** What the log of the admin tells of an actor. */
const told = async (actor: string) => {
  const entries: any[] = (await admin("GET", `/v1/admin/activity?actor=${actor}`)).body;
  return entries.map(({ action, resource }) => [action, resource]);
};

interface Setup {
  readonly provider: Provider;
  readonly issuer: string;
  readonly vault: string;
  readonly rule: string;
  /** Somebody signs in with these groups. */
  readonly signIn: (email: string, groups: unknown, request?: Request_) => Promise<Reply>;
}

/** A rule for the group `platform`. In: attributes of the rule. */
async function setUp(attributes: object = {}): Promise<Setup> {
  const provider = await startProvider();
  const { id: issuer } = await makeIssuer({ issuer: provider.server.url });
  const vault = await makeVault();
  const rule = { claims: { groups: "platform" }, vaults: { [vault]: "rw" }, people: true, ...attributes };
  const { id } = await makeRule(issuer, rule);
  const signIn: Setup["signIn"] = (email, groups, request) => signInBy(provider, email, { groups }, request);
  return { provider, issuer, vault, rule: id, signIn };
}

const people = async (): Promise<{ id: string; email: string; rule?: string; admin?: true; vaults: object }[]> =>
  (await admin("GET", "/v1/admin/people")).body;
const personOf = async (email: string) => (await people()).find((person) => person.email === email);

describe("a person whom nobody has added", () => {
  it("gets the vaults of the rule that matches a group, and is in the list of people with it", async () => {
    const { vault, rule, signIn } = await setUp();
    const email = newEmail();
    const reply = await signIn(email, ["staff", "platform"]);
    const person = await personOf(email);
    expect([reply.status, person]).toEqual([
      200,
      { id: reply.body.person.id, email, vaults: { [vault]: "rw" }, rule, createdAt: expect.any(String) },
    ]);
    const call = browser(cookieOf(reply));
    expect((await call("GET", `/v1/vaults/${vault}`)).status).toBe(200);
    expect((await call("GET", "/v1/token")).body).toMatchObject({ name: email, person: true, parent: rule });
    expect((await call("GET", "/v1/admin/people")).status).toBe(401);
  });

  it.each([
    ["no groups", undefined],
    ["other groups", ["staff", "platform-readers", "Platform"]],
    ["a list in a list", [["platform"]]],
    ["an object", { platform: true }],
  ])("is not let in with %s", async (_, groups) => {
    const { signIn } = await setUp();
    expect(outcome(await signIn(newEmail(), groups))).toEqual([403, "not_invited"]);
  });

  it("is not let in by the rule of another issuer, nor with an email that is not verified", async () => {
    const { provider, signIn } = await setUp();
    expect(outcome(await signInBy(await startProvider(), newEmail(), { groups: ["platform"] }))).toEqual([403, "not_invited"]);
    const unverified = { groups: ["platform"], email_verified: false };
    expect(outcome(await signInBy(provider, newEmail(), unverified))).toEqual([403, "account_refused"]);
    expect((await signIn(newEmail(), ["platform"])).status).toBe(200);
  });

  it("gets what the oldest rule of several gives, and never the sum", async () => {
    const { issuer, vault, rule, signIn } = await setUp();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2000 });
    onTestFinished(() => void vi.useRealTimers());
    await makeRule(issuer, { claims: { groups: "staff" }, vaults: { [await makeVault()]: "rwd" }, people: true });
    const { body } = await signIn(newEmail(), ["staff", "platform"]);
    expect([body.token.vaults, body.token.parent]).toEqual([{ [vault]: "rw" }, rule]);
  });

  it("has a session of at most an hour, or the lifetime of the rule", async () => {
    const { signIn } = await setUp();
    expect(Math.abs(left(await signIn(newEmail(), ["platform"])) - HOUR)).toBeLessThan(10_000);
    const short = await setUp({ lifetime: 600 });
    expect(Math.abs(left(await short.signIn(newEmail(), ["platform"])) - 600_000)).toBeLessThan(10_000);
  });

  it("keeps the id and the other sessions at the next sign-in", async () => {
    const { signIn } = await setUp();
    const email = newEmail();
    const [first, second] = [await signIn(email, ["platform"]), await signIn(email, ["platform"])];
    expect(second.body.person).toEqual(first.body.person);
    expect((await browser(cookieOf(first))("GET", "/v1/vaults")).status).toBe(200);
  });

  it("gets no second row while a root key is missing, under which the person may have one", async () => {
    const stages = await newStages();
    const { email } = await addPerson();
    const provider = await startProvider();
    const ask = (path: string, body: object) => admin("POST", `/v1/admin/${path}`, { body, env: stages.active });
    const { id: issuer } = (await ask("issuers", { name: "provider", issuer: provider.server.url })).body;
    await ask("rules", { issuer, claims: { groups: "platform" }, vaults: {}, people: true });
    const moved = { ...provider, env: { ...provider.env, ...stages.leaked } };
    const reply = await signInBy(moved, email, { groups: ["platform"] });
    expect([reply.status, reply.body.message]).toEqual([503, expect.stringContaining("is not in ROOT_KEYS")]);
    await admin("DELETE", `/v1/admin/issuers/${issuer}`, { env: stages.active });
  });

  it("signs in only with the account of the first time", async () => {
    const { provider, signIn } = await setUp();
    const email = newEmail();
    await signIn(email, ["platform"]);
    expect(outcome(await signInBy(provider, email, { groups: ["platform"], sub: "another" }))).toEqual([403, "account_refused"]);
  });

  it("has an entry of the rule for the person in the log of the admin, and one of the sign-in", async () => {
    const { rule, signIn } = await setUp();
    const { id } = (await signIn(newEmail(), ["platform"])).body.person;
    expect(await told(rule)).toEqual([["CREATE", { type: "PERSON", person: { id } }]]);
    await expect.poll(() => told(id), UNDER_LOAD).toEqual([["CREATE", { type: "SESSION", session: { id } }]]);
  });
});

/** Somebody whom a rule has let in, with a session and the token of a login. */
const signedIn = async () => {
  const setup = await setUp();
  const email = newEmail();
  const cookie = cookieOf(await setup.signIn(email, ["platform"]));
  const call = browser(cookie);
  const login = (await redeem({ code: await loginCode(call) })).body.token as string;
  expect((await client(login)("GET", "/v1/token")).status).toBe(200);
  return { ...setup, email, call, login };
};
type SignedIn = Awaited<ReturnType<typeof signedIn>>;

describe("a person by a rule loses access", () => {
  it.each<readonly [string, (signed: SignedIn) => Promise<unknown>]>([
    ["when the rule is deleted", ({ rule }) => admin("DELETE", `/v1/admin/rules/${rule}`)],
    ["when the issuer is deleted", ({ issuer }) => admin("DELETE", `/v1/admin/issuers/${issuer}`)],
    ["when the person is removed", async ({ email }) => admin("DELETE", `/v1/admin/people/${(await personOf(email))!.id}`)],
    ["when a sign-in finds the group gone", ({ email, signIn }) => signIn(email, ["staff"])],
  ])("by the next request, with the tokens of their logins: %s", async (_, end) => {
    const signed = await signedIn();
    await end(signed);
    expect((await signed.call("GET", "/v1/vaults")).status).toBe(401);
    expect((await client(signed.login)("GET", "/v1/token")).status).toBe(401);
    expect(await personOf(signed.email)).toBeUndefined();
  });

  it("not by a sign-in at another issuer, whose rules do not match", async () => {
    const { email, call } = await signedIn();
    expect(outcome(await signInBy(await startProvider(), email, { groups: ["staff"] }))).toEqual([403, "not_invited"]);
    expect((await call("GET", "/v1/vaults")).status).toBe(200);
  });

  it("an hour after the sign-in at the latest, also with the token of a login", async () => {
    const { call, login, email, signIn } = await signedIn();
    const { body } = await client(login)("GET", "/v1/token");
    expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(Date.now() + HOUR);
    pass(3601);
    expect((await call("GET", "/v1/vaults")).status).toBe(401);
    expect((await client(login)("GET", "/v1/token")).status).toBe(401);
    expect(outcome(await signIn(email, ["staff"]))).toEqual([403, "not_invited"]);
  });

  it("to vaults of a rule that no longer matches, and gets those of another that does", async () => {
    const { issuer, email, call, signIn } = await signedIn();
    const vault = await makeVault();
    const { id } = await makeRule(issuer, { claims: { groups: "staff" }, vaults: { [vault]: "r" }, people: true });
    const reply = await signIn(email, ["staff"]);
    expect([reply.body.token.vaults, reply.body.token.parent]).toEqual([{ [vault]: "r" }, id]);
    expect((await call("GET", "/v1/vaults")).status).toBe(401);
  });

  it("and the list, after 30 days without a sign-in; the name stays", async () => {
    const { email, signIn } = await signedIn();
    const { id } = (await personOf(email))!;
    pass(31 * 24 * 3600);
    await moveExpiredTokens(env.DB, Date.now(), () => true);
    expect(await personOf(email)).toBeUndefined();
    expect((await admin("GET", `/v1/admin/tokens/${id}`)).body).toMatchObject({ name: email, endedAt: expect.any(String) });
    expect((await signIn(email, ["platform"])).status).toBe(200);
  });

  it("not while they sign in: the row is renewed", async () => {
    const { email, signIn } = await signedIn();
    const { id } = (await personOf(email))!;
    pass(20 * 24 * 3600);
    expect((await signIn(email, ["platform"])).body.person.id).toBe(id);
    vi.setSystemTime(Date.now() + 20 * 24 * HOUR);
    expect((await signIn(email, ["platform"])).body.person.id).toBe(id);
  });
});

describe("a person whom the admin has added", () => {
  it("has the vaults that they were given, whatever rule matches, and 12 hours", async () => {
    const { signIn } = await setUp();
    const { vault } = await freshVault();
    const { email } = await addPerson({ [vault]: "r" });
    const { body } = await signIn(email, ["platform"]);
    expect([body.token.vaults, body.token.parent, Date.parse(body.expiresAt) - Date.now() > 11 * HOUR]).toEqual([
      { [vault]: "r" },
      undefined,
      true,
    ]);
  });

  it("may be one whom a rule has let in before: a change makes them so, and the rule counts no more", async () => {
    const { rule, signIn } = await setUp();
    const email = newEmail();
    await signIn(email, ["platform"]);
    const { id } = (await personOf(email))!;
    const vault = await makeVault();
    const { body } = await admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: { [vault]: "r" } } });
    expect([body.rule, body.vaults]).toEqual([undefined, { [vault]: "r" }]);
    await admin("DELETE", `/v1/admin/rules/${rule}`);
    expect((await signIn(email, [])).body.token).toMatchObject({
      id,
      vaults: { [vault]: "r" },
      expiresAt: "9999-12-31T23:59:59.000Z",
    });
  });
});

describe("a rule for people", () => {
  it("exchanges no token, and one for workloads lets nobody in", async () => {
    const { provider, issuer } = await setUp();
    await makeRule(issuer, { claims: { groups: "jobs" } });
    const token = (group: string) => tokenOf(provider.server.url, provider.key, { groups: [group] });
    expect((await exchange(await token("platform"))).status).toBe(401);
    expect((await exchange(await token("jobs"))).status).toBe(200);
    expect(outcome(await signInBy(provider, newEmail(), { groups: ["jobs"] }))).toEqual([403, "not_invited"]);
  });

  it("is tested with the sign-ins that no rule has let in", async () => {
    const { issuer, signIn } = await setUp();
    await signIn(newEmail(), ["staff"]);
    const body = { issuer, claims: { groups: "staff", hd: "example.com" }, vaults: {}, people: true };
    expect((await admin("POST", "/v1/admin/rules/test", { body })).body).toEqual([
      expect.objectContaining({ matches: false, failed: ["hd"] }),
    ]);
  });

  it.each([
    [{ admin: true, people: false }, "admin: does not go without people"],
    [{ dialect: "connect" }, "dialect: does not go with people"],
    [
      { vaults: { [crypto.randomUUID()]: { permissions: "r", items: [crypto.randomUUID()] } } },
      "vaults: names items, which does not go with people",
    ],
    [{ claims: { email_verified: true } }, "claims: has no claim that names the workload"],
  ])("is refused with %j", async (attributes, message) => {
    const { issuer } = await setUp();
    const body = { issuer, claims: { groups: "platform" }, vaults: {}, people: true, ...attributes };
    expect((await admin("POST", "/v1/admin/rules", { body })).body.message).toContain(message);
  });

  it("needs no claims of a platform: an issuer may have people and workloads", async () => {
    const { id } = await makeIssuer({ issuer: "https://gitlab.com" });
    const body = { issuer: id, claims: { groups_direct: "platform" }, vaults: {} };
    expect((await admin("POST", "/v1/admin/rules", { body })).status).toBe(400);
    expect((await admin("POST", "/v1/admin/rules", { body: { ...body, people: true } })).status).toBe(200);
  });
});

/** The token of the admin routes of an administrator by a rule. */
const administer = async () => {
  const setup = await setUp({ admin: true, vaults: {} });
  const email = newEmail();
  const call = browser(cookieOf(await setup.signIn(email, ["platform"])));
  const { token } = (await redeem(await authorized({ call }, { admin: true }))).body;
  return { ...setup, email, administrator: client(token) };
};

describe("a rule for administrators", () => {
  it("gives them a token of the admin routes, for an hour after the sign-in at the most", async () => {
    const { email, administrator } = await administer();
    expect((await administrator("GET", "/v1/admin/people")).status).toBe(200);
    expect((await personOf(email))!.admin).toBe(true);
  });

  it("is made and deleted by ADMIN_TOKEN only, and so is its issuer, by whatever route", async () => {
    const { issuer, rule, administrator } = await administer();
    const body = { issuer, claims: { groups: "staff" }, vaults: {}, people: true };
    expect(outcome(await administrator("POST", "/v1/admin/rules", { body: { ...body, admin: true } }))).toEqual([
      403,
      "out_of_scope",
    ]);
    for (const path of [`rules/${rule}`, `issuers/${issuer}`, `tokens/${rule}`, `tokens/${issuer}`])
      expect([path, ...outcome(await administrator("DELETE", `/v1/admin/${path}`))]).toEqual([path, 403, "out_of_scope"]);
    const plain = await administrator("POST", "/v1/admin/rules", { body });
    expect(plain.status).toBe(200);
    expect((await administrator("DELETE", `/v1/admin/rules/${plain.body.id}`)).status).toBe(204);
    expect((await send("GET", "/heartbeat")).status).toBe(200);
  });
});
