import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { signToken } from "../../src/crypto/token.ts";
import { openToken, type TokenRow } from "../../src/store/tokens/token-rows.ts";
import { addPerson, serveTeam } from "../support/access.ts";
import { readLog } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { browser, cookieOf } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import { keyringOf, newStages, rewrapAll } from "../support/root-keys.ts";
import { seedPeople } from "../support/seed-people.ts";
import { callWith } from "../support/service-binding.ts";
import {
  admin,
  client,
  freshVault,
  outcome,
  LOGIN,
  makeToken,
  makeVault,
  type Permission,
  type Reply,
} from "../support/service.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** What people may do, and when it ends (contract 25.4, 25.5, 25.8 to 25.10). */

const signInAs = serveTeam();

async function signedIn(vaults: Record<string, Permission>) {
  const { id, email } = await addPerson(vaults);
  const reply = await signInAs(email);
  return { id, email, path: `/v1/admin/people/${id}`, call: browser(cookieOf(reply)) };
}

const NOT_INVITED = {
  status: 403,
  message: "The identity provider knows you, and this service does not: ask its administrator to add your email address",
};

describe("a person", () => {
  it("sees the vaults that are theirs, and no other", async () => {
    const [own, other] = [await freshVault(), await freshVault()];
    const { call } = await signedIn({ [own.vault]: "r" });
    expect((await call("GET", "/v1/vaults")).body.map(({ id }: { id: string }) => id)).toEqual([own.vault]);
    expect([(await call("GET", own.items)).status, (await call("GET", other.items)).status]).toEqual([200, 404]);
    expect(outcome(await call("GET", `/v1/vaults/${other.vault}`))).toEqual([403, "out_of_scope"]);
  });

  it.each([
    ["r", [200, 403, 403, 403]],
    ["w", [404, 200, 403, 403]],
    ["rw", [200, 200, 200, 403]],
    ["rwd", [200, 200, 200, 204]],
  ] as const)("with %s lists, creates, changes and destroys as a token with it", async (permission, expected) => {
    const { vault, items, call: owner } = await freshVault();
    const { id } = (await owner("POST", items, { body: LOGIN })).body;
    const deleted = (await owner("POST", items, { body: LOGIN })).body.id;
    await owner("DELETE", `${items}/${deleted}`);
    const { call } = await signedIn({ [vault]: permission });
    const replies = [
      await call("GET", items),
      await call("POST", items, { body: LOGIN }),
      await call("PATCH", `${items}/${id}`, { body: [{ op: "add", path: "/tags/-", value: "x" }] }),
      await call("DELETE", `/v1/vaults/${vault}/deleted-items/${deleted}`),
    ];
    expect(replies.map(({ status }) => status)).toEqual(expected);
  });

  it("opens no route of the admin, and makes no code and no token", async () => {
    const { call } = await signedIn({});
    for (const [method, path] of [
      ["GET", "/v1/admin/people"],
      ["POST", "/v1/admin/tokens"],
      ["POST", "/v1/sign-in-codes"],
    ] as const)
      expect((await call(method, path, { body: method === "POST" ? {} : undefined })).status).toBe(401);
  });

  it("is named by lastEditedBy and by the logs, under the id that GET /v1/admin/tokens/{id} resolves", async () => {
    const { vault, items } = await freshVault();
    const { id, email, call } = await signedIn({ [vault]: "rw" });
    const written = await call("POST", items, { body: LOGIN });
    expect(written.body.lastEditedBy).toBe(id);
    expect(written.headers.get("Token-Expires")).toBe("9999-12-31T23:59:59.000Z");
    expect((await call("GET", "/v1/token")).body).toMatchObject({ id, name: email, person: true, dialect: "uuid" });
    expect((await readLog(call, 2, "?limit=50")).body[0]).toMatchObject({
      action: "CREATE",
      result: "SUCCESS",
      actor: { id, jti: id },
    });
    expect((await admin("GET", `/v1/admin/tokens/${id}`)).body).toMatchObject({ name: email, person: true });
  });

  it("has an entry in the admin's log for each sign-in", async () => {
    const { id } = await signedIn({});
    await expect
      .poll(async () => (await admin("GET", "/v1/admin/activity?limit=100")).body.filter((entry: any) => entry.actor.id === id))
      .toMatchObject([{ action: "CREATE", result: "SUCCESS", resource: { type: "SESSION", session: { id } } }]);
  });
});

describe("the session of a person is out by the next request", () => {
  const endings: Record<string, (person: { id: string; path: string }) => Promise<Reply>> = {
    "after the person was removed": ({ path }) => admin("DELETE", path),
    "after the person was revoked as a token": ({ id }) => admin("DELETE", `/v1/admin/tokens/${id}`),
    "after the vaults were changed": ({ path }) => admin("PATCH", path, { body: { vaults: {} } }),
  };
  const requests = Object.keys(endings).flatMap((when) => ["GET", "POST"].map((method) => [when, method] as const));

  it.each(requests)("%s: %s", async (when, method) => {
    const { vault, items } = await freshVault();
    const person = await signedIn({ [vault]: "rw" });
    const request = () => person.call(method, items, { body: method === "POST" ? LOGIN : undefined });
    expect((await request()).status).toBe(200);
    expect((await endings[when]!(person)).status).toBeLessThan(300);
    expect(outcome(await request())).toEqual([401, "unauthorized"]);
    expect((await person.call("GET", "/console/session")).status).toBe(401);
  });

  it("after the vaults were changed to others and back within one second", async () => {
    const vault = await makeVault();
    const { path, call } = await signedIn({ [vault]: "r" });
    for (const vaults of [{}, { [vault]: "r" }]) await admin("PATCH", path, { body: { vaults } });
    expect((await call("GET", "/v1/vaults")).status).toBe(401);
  });
});

describe("who signs in", () => {
  it("after a change has the new vaults", async () => {
    const [before, after] = [await makeVault(), await makeVault()];
    const { email, path } = await signedIn({ [before]: "r" });
    await admin("PATCH", path, { body: { vaults: { [after]: "r" } } });
    const { body } = await signInAs(email);
    expect(body.token.vaults).toEqual({ [after]: "r" });
  });

  it("with an email that nobody has added is refused, in words that do not contain it", async () => {
    const reply = await signInAs("nobody@example.com");
    expect([reply.body, reply.headers.get("Item-Vault-Error"), reply.headers.get("Set-Cookie")]).toEqual([
      NOT_INVITED,
      "not_invited",
      null,
    ]);
  });

  it("after the removal is refused, until the email is added again", async () => {
    const { email, path } = await signedIn({});
    await admin("DELETE", path);
    expect(outcome(await signInAs(email))).toEqual([403, "not_invited"]);
    await admin("POST", "/v1/admin/people", { body: { email, vaults: {} } });
    expect((await signInAs(email)).status).toBe(200);
  });

  it("was added before TOKENS_NOT_BEFORE is refused, also by the session, until the person is changed", async () => {
    const vault = await makeVault();
    const { email, path, call } = await signedIn({ [vault]: "r" });
    const bindings = { TOKENS_NOT_BEFORE: new Date(Date.now() + 1_000).toISOString() };
    expect((await call("GET", "/v1/vaults", { env: bindings })).status).toBe(401);
    expect(outcome(await signInAs(email, bindings))).toEqual([403, "not_invited"]);
    advanceClock(2_000);
    onTestFinished(() => void vi.useRealTimers());
    await admin("PATCH", path, { body: { vaults: { [vault]: "r" } } });
    expect((await signInAs(email, bindings)).body.token.vaults).toEqual({ [vault]: "r" });
  });

  it("is found by one row, however many people there are", async () => {
    await seedPeople(env, 500, {});
    const { email } = await addPerson();
    await signInAs(email);
    const { count, db } = countingDatabase();
    expect((await signInAs(email, { DB: db })).status).toBe(200);
    expect(count.calls).toBeLessThanOrEqual(3);
    expect(count.rowsRead).toBeLessThan(20);
    await env.DB.prepare("DELETE FROM tokens WHERE name_index LIKE 'seeded %'").run();
  });
});

describe("a row that was altered in D1 signs nobody in", () => {
  afterEach(async () => {
    await env.DB.prepare("DELETE FROM tokens WHERE kind = 'person'").run();
  });

  it.each([
    ["the time of issue", "UPDATE tokens SET created_at = created_at + 1000 WHERE id = ?1"],
    ["the expiry", "UPDATE tokens SET expires_at = expires_at - 1000 WHERE id = ?1"],
    ["the hash", "UPDATE tokens SET claims = 'x' WHERE id = ?1"],
    ["the index of another email", "UPDATE tokens SET name_index = 'x' WHERE id = ?1"],
    ["the sealed text of another row", "UPDATE tokens SET sealed = (SELECT sealed FROM tokens WHERE id <> ?1) WHERE id = ?1"],
  ])("%s", async (_, sql) => {
    const { id, email } = await addPerson();
    await env.DB.prepare(sql).bind(id).run();
    expect(outcome(await signInAs(email))).toEqual([403, "not_invited"]);
  });

  it("two rows that have exchanged their indexes: neither email gets the vaults of the other", async () => {
    const [one, other] = [await addPerson(), await addPerson()];
    const rows = await Promise.all([one, other].map(({ id }) => rowOf(id)));
    await env.DB.batch([setIndex(one.id, "x"), setIndex(other.id, rows[0]!.name_index!), setIndex(one.id, rows[1]!.name_index!)]);
    for (const { email } of [one, other]) expect(outcome(await signInAs(email))).toEqual([403, "not_invited"]);
  });
});

const setIndex = (id: string, index: string) => env.DB.prepare("UPDATE tokens SET name_index = ? WHERE id = ?").bind(index, id);

const rowOf = async (id: string): Promise<TokenRow> =>
  (await env.DB.prepare("SELECT * FROM tokens WHERE id = ?").bind(id).first<TokenRow>())!;

describe("nobody acts as a person without a session", () => {
  it("not even with the token of the row, which only the root key can make", async () => {
    const { id } = await addPerson();
    const keyring = await keyringOf(env);
    const claims = await openToken(keyring, await rowOf(id));
    if (!claims.ok) throw new Error("the row does not open");
    for (const text of [await signToken(keyring, claims.value), await signToken(keyring, { ...claims.value, kind: undefined })])
      expect((await client(text)("GET", "/v1/vaults")).status).toBe(401);
  });

  it("not a service binding that names the person", async () => {
    const vault = await makeVault();
    const { id } = await addPerson({ [vault]: "r" });
    const refused = callWith({ token: id }, {}, (secrets) => secrets.get(`op://${vault}/x/y`));
    await expect(refused).rejects.toMatchObject({ kind: "unauthorized" });
  });
});

describe("a rotation of root keys", () => {
  it("ends the sessions of people, who sign in again, also when the old key is gone", async () => {
    const stages = await newStages();
    const vault = await makeVault();
    const { id, email, call } = await signedIn({ [vault]: "r" });
    expect((await signInAs(email, stages.staged)).status).toBe(200);
    expect((await signInAs(email, stages.active)).status).toBe(200);
    expect((await rewrapAll(stages.active)).findings).toEqual([]);
    expect((await call("GET", "/v1/vaults", { env: stages.active })).status).toBe(401);
    for (const bindings of [stages.active, stages.removed, stages.leaked]) {
      const reply = await signInAs(email, bindings);
      expect([reply.status, reply.body.token?.vaults]).toEqual([200, { [vault]: "r" }]);
      const again = await admin("POST", "/v1/admin/people", { body: { email, vaults: {} }, env: bindings });
      expect(outcome(again)).toEqual([409, "person_exists"]);
    }
    expect((await admin("GET", `/v1/admin/people/${id}`, { env: stages.removed })).body).toMatchObject({ email });
  });

  it("that took a key away too early is a 503 for the people under it, not a refusal", async () => {
    const stages = await newStages();
    const { email } = await addPerson();
    // A proof of the new key, so that the keyring is one of this database.
    await admin("POST", "/v1/admin/people", { body: { email: `${crypto.randomUUID()}@x.test`, vaults: {} }, env: stages.active });
    const { status, body } = await signInAs(email, stages.leaked);
    expect([status, body.message]).toEqual([503, expect.stringContaining("is not in ROOT_KEYS")]);
  });
});

describe("verify", () => {
  it("finds the row of a person whose index is not that of the email", async () => {
    const { id } = await addPerson();
    await env.DB.prepare("UPDATE tokens SET name_index = 'x' WHERE id = ?").bind(id).run();
    expect(JSON.stringify((await verifyAll({ quick: true })).findings)).toContain(id);
  });
});

it("DELETE of a person does not know the id of a token that has ended", async () => {
  const { id } = await makeToken({});
  await admin("DELETE", `/v1/admin/tokens/${id}`);
  expect((await admin("DELETE", `/v1/admin/people/${id}`)).status).toBe(404);
});

it("the row of a token for service bindings does not become that of a person by its column", async () => {
  const { id, email } = await addPerson();
  const binding = await makeToken({ [await makeVault()]: "r" }, { name: email, binding: true });
  const index = await env.DB.prepare("SELECT name_index FROM tokens WHERE id = ?").bind(id).first<string>("name_index");
  await env.DB.prepare("UPDATE tokens SET name_index = NULL WHERE id = ?").bind(id).run();
  await env.DB.prepare("UPDATE tokens SET name_index = ?2 WHERE id = ?1").bind(binding.id, index).run();
  expect((await signInAs(email)).status).toBe(403);
  expect((await admin("DELETE", `/v1/admin/tokens/${binding.id}`)).status).toBe(204);
});
