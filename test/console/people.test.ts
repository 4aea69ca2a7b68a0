import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { LIMITS } from "../../src/model/limits.ts";
import { newEmail } from "../support/access.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { seedPeople } from "../support/seed-people.ts";
import { admin, outcome, makeToken, makeVault } from "../support/service.ts";

/** The people of the console (contract 25.1 to 25.5, 25.8 and 25.10): /v1/admin/people. */

const PEOPLE = "/v1/admin/people";

const add = (body: object, headers: Record<string, string> = {}) => admin("POST", PEOPLE, { body, headers });
const addOne = async (email = newEmail(), vaults: object = {}) => (await add({ email, vaults })).body;
const emails = async (): Promise<string[]> => (await admin("GET", PEOPLE)).body.map((person: { email: string }) => person.email);

beforeEach(async () => {
  await env.DB.prepare("DELETE FROM tokens WHERE kind = 'person'").run();
});

describe("POST /v1/admin/people", () => {
  it("answers with the person, whom the list and GET show from then on", async () => {
    const vault = await makeVault();
    const { status, body } = await add({ email: "Ada@Example.com", vaults: { [writeId(vault, "connect")]: "rw" } });
    expect([status, body]).toEqual([
      200,
      { id: expect.any(String), email: "ada@example.com", vaults: { [vault]: "rw" }, createdAt: expect.stringMatching(/Z$/) },
    ]);
    expect((await admin("GET", PEOPLE)).body).toEqual([body]);
    expect((await admin("GET", `${PEOPLE}/${body.id}`)).body).toEqual(body);
  });

  it.each([
    ["without an @", "ada.example.com"],
    ["with two", "a@b@example.com"],
    ["without a name", "@example.com"],
    ["without a domain", "ada@"],
    ["with a space", "ada lovelace@example.com"],
    ["with a line break", "ada\n@example.com"],
    ["with a control character", "ada\u0000@example.com"],
    ["with half of a surrogate pair", "ada\ud800@example.com"],
    ["of 255 characters", `${"x".repeat(243)}@example.com`],
    ["that is empty", ""],
    ["that is a number", 7],
    ["that is a list", ["ada@example.com"]],
    ["that is null", null],
  ])("refuses an email %s", async (_, email) => {
    const { status, body } = await add({ email, vaults: {} });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^email: /)]);
    expect(await emails()).toEqual([]);
  });

  it.each([undefined, null, [], "r", { x: "r" }])("refuses the vaults %j", async (vaults) => {
    expect((await add({ email: newEmail(), vaults })).body.message).toMatch(/^vaults/);
  });

  it("stores an email without the white space around it, and accepts 254 characters", async () => {
    const longest = `${"x".repeat(242)}@example.com`;
    for (const email of ["  ada@example.com\t", longest]) await add({ email, vaults: {} });
    expect((await emails()).toSorted()).toEqual(["ada@example.com", longest]);
  });

  it("refuses an email that a person has already, in any case of A to Z", async () => {
    await addOne("ada@example.com");
    const { status, body, headers } = await add({ email: "ADA@example.COM", vaults: {} });
    expect([status, body.message, headers.get("Item-Vault-Error")]).toEqual([
      409,
      "There is a person with this email address already",
      "person_exists",
    ]);
  });

  it("takes the Kelvin sign for another letter than k", async () => {
    await addOne("k@example.com");
    expect((await add({ email: "\u212a@example.com", vaults: {} })).status).toBe(200);
  });

  it("adds one person when the same email comes several times at the same moment", async () => {
    const replies = await Promise.all(["a@x.test", "A@x.test", "a@X.test"].map((email) => add({ email, vaults: {} })));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await emails()).toEqual(["a@x.test"]);
  });

  it("refuses an email that another root key has indexed, while both keys are there", async () => {
    await addOne("ada@example.com");
    const { keys } = JSON.parse(env.ROOT_KEYS);
    const ROOT_KEYS = JSON.stringify({ active: "k2", keys: { ...keys, k2: btoa("fedcba9876543210fedcba9876543210") } });
    const reply = await admin("POST", PEOPLE, { body: { email: "ada@example.com", vaults: {} }, env: { ROOT_KEYS } });
    expect(outcome(reply)).toEqual([409, "person_exists"]);
  });

  it("accepts the email of a person who was removed, under another id", async () => {
    const { id } = await addOne("ada@example.com");
    await admin("DELETE", `${PEOPLE}/${id}`);
    const again = await add({ email: "ada@example.com", vaults: {} });
    expect([again.status, again.body.id === id]).toEqual([200, false]);
  });

  it(`accepts ${LIMITS.people} people and refuses another one, also of two at the same moment`, async () => {
    await seedPeople(env, LIMITS.people - 1, {});
    const replies = await Promise.all([add({ email: newEmail(), vaults: {} }), add({ email: newEmail(), vaults: {} })]);
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 507]);
    expect(replies.find(({ status }) => status === 507)!.body.message).toBe("The service has reached its quota of 1000 people");
  });

  it("answers a repeated Idempotency-Key with the same person", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const body = { email: "ada@example.com", vaults: { [await makeVault()]: "r" } };
    const replies = await Promise.all([add(body, headers), add(body, headers)]);
    replies.push(await add({ ...body, email: " ADA@example.com" }, headers));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await emails()).toEqual(["ada@example.com"]);
    expect(outcome(await add({ ...body, vaults: {} }, headers))).toEqual([409, "idempotency"]);
    await admin("DELETE", `${PEOPLE}/${replies[0].body.id}`);
    expect(outcome(await add(body, headers))).toEqual([409, "idempotency"]);
  });

  it("stores neither the email nor a part of it in the clear", async () => {
    await addOne("canary-5a1d@canary-77b2.example");
    const rows = await env.DB.prepare("SELECT * FROM tokens").all();
    expect(JSON.stringify(rows.results)).not.toMatch(/canary/);
  });
});

describe("PATCH /v1/admin/people/{p}", () => {
  it("replaces the vaults, and tells when", async () => {
    const vault = await makeVault();
    const { id, email, createdAt } = await addOne(newEmail(), { [await makeVault()]: "r" });
    const changed = await admin("PATCH", `${PEOPLE}/${id}`, { body: { vaults: { [vault]: "rwd" } } });
    expect([changed.status, changed.body]).toEqual([
      200,
      { id, email, vaults: { [vault]: "rwd" }, createdAt, updatedAt: expect.stringMatching(/Z$/) },
    ]);
    expect((await admin("GET", `${PEOPLE}/${id}`)).body).toEqual(changed.body);
  });

  it("keeps the list in the order in which people were added", async () => {
    const people = [await addOne(), await addOne(), await addOne()];
    await env.DB.prepare("UPDATE tokens SET created_at = created_at - 60000 WHERE id = ?").bind(people[0]!.id).run();
    await admin("PATCH", `${PEOPLE}/${people[0]!.id}`, { body: { vaults: {} } });
    expect((await emails())[0]).toBe(people[0]!.email);
  });

  it("refuses another email instead of ignoring it", async () => {
    const { id } = await addOne();
    const { status, body } = await admin("PATCH", `${PEOPLE}/${id}`, { body: { email: newEmail(), vaults: {} } });
    expect([status, body.message]).toEqual([400, "email: cannot be changed: remove the person and add the other email"]);
  });

  it("writes nothing over a change that was made at the same moment, and tries again", async () => {
    const { id } = await addOne();
    const [mine, other] = [await makeVault(), await makeVault()];
    let raced = false;
    const DB = wrapDatabase(env.DB, {
      async before(statements) {
        if (statements < 2 || raced) return;
        raced = true;
        await admin("PATCH", `${PEOPLE}/${id}`, { body: { vaults: { [other]: "r" } } });
      },
    });
    const reply = await admin("PATCH", `${PEOPLE}/${id}`, { body: { vaults: { [mine]: "r" } }, env: { DB } });
    expect([raced, reply.status, reply.body.vaults]).toEqual([true, 200, { [mine]: "r" }]);
    expect((await admin("GET", `${PEOPLE}/${id}`)).body.vaults).toEqual({ [mine]: "r" });
  });
});

describe("DELETE /v1/admin/people/{p}", () => {
  it("removes the person, and is a 204 again", async () => {
    const { id } = await addOne();
    const path = `${PEOPLE}/${id}`;
    expect([(await admin("DELETE", path)).status, (await admin("DELETE", path)).status]).toEqual([204, 204]);
    expect(outcome(await admin("GET", path))).toEqual([404, "person_not_found"]);
    expect(outcome(await admin("PATCH", path, { body: { vaults: {} } }))).toEqual([404, "person_not_found"]);
    expect(await emails()).toEqual([]);
  });
});

describe("GET /v1/admin/people", () => {
  it("has all people, the oldest first, and reads the rows of at most 50 at once", async () => {
    const vaults = { [await makeVault()]: "r" } as const;
    await seedPeople(env, 120, vaults);
    const newest = await addOne("newest@example.com");
    const read: number[] = [];
    const DB = wrapDatabase(env.DB, {
      after(results) {
        for (const rows of results.map((result) => result.results as object[]))
          read.push(rows.filter((row) => "sealed" in row).length);
      },
    });
    const { body, headers } = await admin("GET", PEOPLE, { env: { DB } });
    const ids = body.map(({ id }: { id: string }) => id);
    expect([ids.length, new Set(ids).size, ids.at(-1)]).toEqual([121, 121, newest.id]);
    expect(ids.slice(0, -1)).toEqual(ids.slice(0, -1).toSorted());
    expect([Math.max(...read), headers.get("Content-Type")]).toEqual([50, "application/json"]);
    expect(body[0].vaults).toEqual(vaults);
    expect(await admin("HEAD", PEOPLE)).toMatchObject({ status: 200, text: "" });
  });
});

describe("the routes of a person", () => {
  it.each(["GET", "PATCH", "DELETE"])("%s refuses an id that is none", async (method) => {
    const body = method === "PATCH" ? { vaults: {} } : undefined;
    expect(outcome(await admin(method, `${PEOPLE}/x`, { body }))).toEqual([400, "person_id"]);
  });

  it("show a person whose row does not open", async () => {
    const { id, createdAt } = await addOne();
    await env.DB.prepare("UPDATE tokens SET sealed = 'AQEA' WHERE id = ?").bind(id).run();
    const broken = { id, broken: "integrity", createdAt };
    expect((await admin("GET", PEOPLE)).body).toEqual([broken]);
    expect((await admin("GET", `${PEOPLE}/${id}`)).body).toEqual(broken);
    expect((await admin("PATCH", `${PEOPLE}/${id}`, { body: { vaults: {} } })).status).toBe(500);
    expect((await admin("DELETE", `${PEOPLE}/${id}`)).status).toBe(204);
  });
});

describe("the routes of tokens", () => {
  it("do not list people", async () => {
    const [{ id }, token] = [await addOne(), await makeToken({})];
    const ids = new Set((await admin("GET", "/v1/admin/tokens")).body.map((listed: { id: string }) => listed.id));
    expect([ids.has(token.id), ids.has(id)]).toEqual([true, false]);
  });

  it("name a person, also one who was removed, so that an actor of the log has a name", async () => {
    const { id, email } = await addOne();
    const expected = { id, name: email, person: true };
    expect((await admin("GET", `/v1/admin/tokens/${id}`)).body).toMatchObject({
      ...expected,
      expiresAt: "9999-12-31T23:59:59.000Z",
    });
    await admin("DELETE", `${PEOPLE}/${id}`);
    expect((await admin("GET", `/v1/admin/tokens/${id}`)).body).toMatchObject({ ...expected, endedAt: expect.any(String) });
  });

  it("remove a person who is revoked by the id of the log", async () => {
    const { id } = await addOne();
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).status).toBe(204);
    expect(await emails()).toEqual([]);
  });
});

const tokenMetrics = async () => {
  const { text } = await admin("GET", "/metrics", { headers: { Authorization: `Bearer ${env.METRICS_TOKEN}` } });
  return text.split("\n").filter((line) => /^item_vault_(tokens|next_token)/.test(line));
};

describe("/metrics", () => {
  it("does not count people as tokens", async () => {
    const before = await tokenMetrics();
    await addOne();
    expect(await tokenMetrics()).toEqual(before);
  });
});

describe("the log of the admin", () => {
  it("has an entry about the person for each request", async () => {
    const { id } = await addOne();
    await admin("PATCH", `${PEOPLE}/${id}`, { body: { vaults: {} } });
    await admin("DELETE", `${PEOPLE}/${id}`);
    // In the batch of the write, so nothing has to be waited for.
    const entries = (await admin("GET", "/v1/admin/activity?limit=50")).body;
    const own = entries.filter((entry: any) => entry.resource.person?.id === id);
    expect(own.map((entry: any) => [entry.action, entry.result, entry.actor.id, entry.resource])).toEqual(
      ["DELETE", "UPDATE", "CREATE"].map((action) => [action, "SUCCESS", "admin", { type: "PERSON", person: { id } }]),
    );
  });
});
