import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { signWebhook } from "../../src/crypto/webhook-signature.ts";
import { deliver, recordingQueue } from "../support/activity.ts";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { canary } from "../support/canary.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { admin, freshVault, LOGIN, makeVault, outcome, type Reply } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { addWebhook, type Behaviour, type Hooked, hookedVault, progressOf, ring, withStorage } from "../support/webhooks.ts";

/** The admin's routes of webhooks (contract 17.1 to 17.5), their tests, and the list of the last attempts to deliver (contract 17.12, 17.13). */

const HOOK = "https://hooks.example.com/a?key=b";
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const DATE = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

const hooksOf = (vault: string) => `/v1/admin/vaults/${vault}/webhooks`;

afterEach(() => void vi.useRealTimers());

let hooks: string;

beforeAll(async () => {
  hooks = hooksOf(await makeVault());
});

describe("POST …/webhooks", () => {
  it("returns the webhook and its secret", async () => {
    const other = hooksOf(await makeVault());
    const { status, body } = await admin("POST", other, { body: { url: HOOK } });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[\da-f]{8}-/),
      url: HOOK,
      enabled: true,
      state: "ACTIVE",
      createdAt: expect.stringMatching(DATE),
      failures: 0,
      pending: 0,
      secret: expect.stringMatching(SECRET),
    });
  });

  it("makes a disabled one with enabled: false", async () => {
    const { body } = await admin("POST", hooksOf(await makeVault()), { body: { url: HOOK, enabled: false } });
    expect([body.enabled, body.state]).toEqual([false, "DISABLED"]);
  });

  it.each([
    ["no object", []],
    ["no URL", {}],
    ["null as URL", { url: null }],
    ["a number as URL", { url: 7 }],
    ["http", { url: "http://hooks.example.com/" }],
    ["an address", { url: "https://127.0.0.1/" }],
    ["a local name", { url: "https://vault.internal/" }],
    ["a text as enabled", { url: HOOK, enabled: "yes" }],
  ])("refuses %s with a 400", async (_, body) => {
    expect(outcome(await admin("POST", hooks, { body }))).toEqual([400, "invalid"]);
    expect((await admin("GET", hooks)).body).toEqual([]);
  });

  it("says what is wrong with a URL, and not its words", async () => {
    const { body } = await admin("POST", hooks, { body: { url: "https://name:word@hooks.example.com/" } });
    expect(body.message).toBe("url: contains a user name or password");
  });

  it("makes the origin of WEBHOOK_TEST_ORIGIN a 400 while the variable is not set", async () => {
    const url = `${env.WEBHOOK_TEST_ORIGIN}/x`;
    for (const origin of [undefined, "", "http://127.0.0.1:1"])
      expect((await admin("POST", hooks, { body: { url }, env: { WEBHOOK_TEST_ORIGIN: origin! } })).status).toBe(400);
  });

  it("makes at most 10 webhooks of a vault, also at the same time", async () => {
    const full = hooksOf(await makeVault());
    const replies = await Promise.all(Array.from({ length: 12 }, () => admin("POST", full, { body: { url: HOOK } })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    const last = await admin("POST", full, { body: { url: HOOK } });
    expect(last.body).toEqual({ status: 507, message: "The vault has reached its quota of 10 webhooks" });
    expect((await admin("GET", full)).body).toHaveLength(10);
  });

  it("is a 507 while the database is full", async () => {
    const DB = wrapDatabase(env.DB, { after: (results) => results.forEach(({ meta }) => (meta.size_after = 9_900_000_000)) });
    await admin("GET", "/v1/admin/vaults", { env: { DB } });
    const reply = await admin("POST", hooks, { body: { url: HOOK }, env: { DB } });
    await admin("GET", "/v1/admin/vaults");
    expect(outcome(reply)).toEqual([507, "database_full"]);
  });
});

const postWithKey = (path: string, key: string, url = HOOK) =>
  admin("POST", path, { body: { url }, headers: { "Idempotency-Key": key } });

describe("POST …/webhooks with an Idempotency-Key", () => {
  it("makes another webhook in another vault", async () => {
    const ids = [await postWithKey(hooksOf(await makeVault()), "k"), await postWithKey(hooksOf(await makeVault()), "k")];
    expect(new Set(ids.map(({ body }) => body.id)).size).toBe(2);
  });

  it("is a 409 for a day after the webhook was deleted", async () => {
    const path = hooksOf(await makeVault());
    await admin("DELETE", `${path}/${(await postWithKey(path, "k")).body.id}`);
    expect(outcome(await postWithKey(path, "k"))).toEqual([409, "idempotency"]);
  });
});

describe("GET …/webhooks", () => {
  it("lists the webhooks of the vault, oldest first, without their secrets", async () => {
    const path = hooksOf(await makeVault());
    const made = [];
    for (let n = 0; n < 3; n++) {
      advanceClock(10);
      made.push((await admin("POST", path, { body: { url: `${HOOK}${n}` } })).body);
    }
    vi.useRealTimers();
    const { status, body } = await admin("GET", path);
    expect([status, body]).toEqual([200, made.map(({ secret, ...rest }) => (secret ? rest : undefined))]);
    expect((await admin("GET", `${path}/${made[1].id}`)).body).toEqual(body[1]);
  });

  it("GET /admin/vaults counts the webhooks of each vault that has any, also of one that cannot be decrypted (13.12)", async () => {
    const [whole, broken, none] = [await makeVault(), await makeVault(), await makeVault()];
    for (const one of [whole, broken, broken, none]) await addWebhook(one, HOOK);
    await admin("DELETE", `${hooksOf(none)}/${(await admin("GET", hooksOf(none))).body[0].id}`);
    await env.DB.prepare("UPDATE vaults SET name = 'AAAA' WHERE id = ?").bind(broken).run();
    const vaults: readonly { id: string; webhooks?: number; broken?: string }[] = (await admin("GET", "/v1/admin/vaults")).body;
    const found = [whole, broken, none].map((wanted) => vaults.find(({ id }) => id === wanted)!);
    await admin("DELETE", `/v1/admin/vaults/${broken}`);
    expect(found.map((one) => one.webhooks)).toEqual([1, 2, undefined]);
    expect(found[1]!.broken).toBe("integrity");
  });

  it("counts the events that are not delivered yet", async () => {
    const { vault: own, items, call } = await freshVault();
    const path = hooksOf(own);
    const { id } = (await admin("POST", path, { body: { url: HOOK, enabled: false } })).body;
    await call("POST", items, { body: LOGIN });
    await call("POST", items, { body: LOGIN });
    expect((await admin("GET", `${path}/${id}`)).body.pending).toBe(2);
  });

  it("shows a webhook whose row does not open as broken; it can be deleted", async () => {
    const own = await makeVault();
    const { hook, id, hooks: path } = await addWebhook(own, HOOK);
    await env.DB.prepare("UPDATE webhooks SET sealed = 'AAAA' WHERE id = ?").bind(id).run();
    const { body } = await admin("GET", path);
    expect(body).toMatchObject([{ id, broken: "integrity" }]);
    expect(body[0]).not.toHaveProperty("url");
    expect(outcome(await admin("PATCH", hook, { body: { enabled: false } }))).toEqual([500, "integrity"]);
    expect((await admin("DELETE", hook)).status).toBe(204);
  });
});

describe("PATCH …/webhooks/{w}", () => {
  it("replaces the URL", async () => {
    const { hook } = await addWebhook(await makeVault(), HOOK);
    const { status, body } = await admin("PATCH", hook, { body: { url: "https://other.example.com" } });
    expect([status, body.url, body.secret]).toEqual([200, "https://other.example.com/", undefined]);
  });

  it("disables and enables", async () => {
    const { hook } = await addWebhook(await makeVault(), HOOK);
    const patch = async (enabled: boolean) => (await admin("PATCH", hook, { body: { enabled } })).body.state;
    expect([await patch(false), await patch(false), await patch(true)]).toEqual(["DISABLED", "DISABLED", "ACTIVE"]);
  });

  it("makes a new secret, and shows it once", async () => {
    const { hook, secret } = await addWebhook(await makeVault(), HOOK);
    const { body } = await admin("PATCH", hook, { body: { rotateSecret: true } });
    expect(body.secret).toMatch(SECRET);
    expect(body.secret).not.toBe(secret);
    expect((await admin("GET", hook)).body).not.toHaveProperty("secret");
  });

  it("with an Idempotency-Key makes one new secret", async () => {
    const { hook } = await addWebhook(await makeVault(), HOOK);
    const rotate = () => admin("PATCH", hook, { body: { rotateSecret: 0 }, headers: { "Idempotency-Key": "k" } });
    expect((await rotate()).body.secret).toBe((await rotate()).body.secret);
  });

  it("with an Idempotency-Key that is repeated changes nothing: neither the state nor the position that came later", async () => {
    const { vault: written, call, items } = await freshVault();
    const { hook } = await addWebhook(written, HOOK);
    const change = (key: string, body: object) => admin("PATCH", hook, { body, headers: { "Idempotency-Key": key } });
    expect((await change("a", { enabled: false })).body.state).toBe("DISABLED");
    await call("POST", items, { body: LOGIN });
    expect((await change("b", { resume: "latest" })).body).toMatchObject({ state: "ACTIVE", pending: 0 });
    expect((await change("a", { enabled: false })).body.state).toBe("ACTIVE");
    expect((await change("c", { enabled: false })).body.state).toBe("DISABLED");
    await call("POST", items, { body: LOGIN });
    expect((await change("b", { resume: "latest" })).body).toMatchObject({ state: "DISABLED", pending: 1 });
    expect((await change("b", { resume: "cursor" })).body.state).toBe("ACTIVE");
  });

  it.each([
    ["a URL that is not allowed", { url: "https://localhost/" }],
    ["a text as enabled", { enabled: "no" }],
    ["another way to resume", { resume: "start" }],
    ["to resume a disabled webhook", { resume: "cursor", enabled: false }],
    ["an overlap of more than 7 days", { rotateSecret: 7 * 24 * 3600 + 1 }],
    ["false as rotateSecret", { rotateSecret: false }],
    ["a secret of one's own", { rotateSecret: "whsec_AAAA" }],
  ])("refuses %s with a 400", async (_, body) => {
    const { hook } = await addWebhook(await makeVault(), HOOK);
    const before = (await admin("GET", hook)).body;
    expect(outcome(await admin("PATCH", hook, { body }))).toEqual([400, "invalid"]);
    expect((await admin("GET", hook)).body).toEqual(before);
  });

  it("at the same time loses no change", async () => {
    const { hook } = await addWebhook(await makeVault(), HOOK);
    const replies = await Promise.all([
      admin("PATCH", hook, { body: { url: "https://other.example.com/" } }),
      admin("PATCH", hook, { body: { rotateSecret: true } }),
      admin("PATCH", hook, { body: { enabled: false } }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await admin("GET", hook)).body).toMatchObject({ url: "https://other.example.com/", enabled: false });
  });
});

describe("DELETE …/webhooks/{w}", () => {
  it("deletes the webhook; again it is a 204 for a day", async () => {
    const { hook, hooks: path } = await addWebhook(await makeVault(), HOOK);
    const remove = () => admin("DELETE", hook);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
    expect(outcome(await admin("GET", hook))).toEqual([404, "webhook_not_found"]);
    expect((await admin("GET", path)).body).toEqual([]);
  });

  it("makes room for another one", async () => {
    const path = hooksOf(await makeVault());
    const made = await Promise.all(Array.from({ length: 10 }, () => admin("POST", path, { body: { url: HOOK } })));
    await admin("DELETE", `${path}/${made[0]!.body.id}`);
    expect((await admin("POST", path, { body: { url: HOOK } })).status).toBe(200);
  });
});

describe("the routes of webhooks", () => {
  it("have entries in the admin's log", async () => {
    const { rows, bindings } = recordingQueue();
    const path = hooksOf(await makeVault());
    const { id } = (await admin("POST", path, { body: { url: HOOK }, env: bindings })).body;
    await admin("GET", path, { env: bindings });
    await admin("GET", `${path}/${id}`, { env: bindings });
    await admin("PATCH", `${path}/${id}`, { body: { enabled: false }, env: bindings });
    await admin("DELETE", `${path}/${id}`, { env: bindings });
    await vi.waitFor(() => expect(rows).toHaveLength(5), UNDER_LOAD);
    const about = rows.map(({ action, resource, item }) => [action, resource, item]);
    const expected = ["CREATE", "READ", "READ", "UPDATE", "DELETE"].map((action, index) => [
      action,
      "WEBHOOK",
      index === 1 ? null : id,
    ]);
    expect(about).toEqual(expected);
    await deliver(rows);
    const log = (await admin("GET", "/v1/admin/activity?limit=1000")).body as { requestId: string; resource: object }[];
    const entry = log.find(({ requestId }) => requestId === rows[0]!.id);
    expect(entry?.resource).toEqual({ type: "WEBHOOK", webhook: { id } });
  });

  it("answer 503 uncertain when D1 may have written, and a repeated request finds the webhook", async () => {
    const own = await makeVault();
    let lose = true;
    const DB = wrapDatabase(env.DB, {
      after: (results) => {
        if (lose && results.length === 1 && results[0]!.meta.changes > 0) throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    await rebindCoordinator(own, { DB });
    const post = () => admin("POST", hooksOf(own), { body: { url: HOOK }, headers: { "Idempotency-Key": "k" } });
    expect(outcome(await post())).toEqual([503, "uncertain"]);
    lose = false;
    expect((await post()).body).toMatchObject({ url: HOOK, state: "ACTIVE" });
    expect((await admin("GET", hooksOf(own))).body).toHaveLength(1);
  });
});

it("a webhook keeps its id, URL and secret when the vault is renamed", async () => {
  const { vault: own, hook, receiver } = await hookedVault();
  await admin("PATCH", `/v1/admin/vaults/${own}`, { body: { name: "Other" } });
  await vi.waitFor(
    async () => expect((await receiver.received()).map(({ event }) => event.type)).toEqual(["vault.updated"]),
    UNDER_LOAD,
  );
  expect((await admin("GET", hook)).body.url).toBe(receiver.url);
});

const sendTest = (hook: string): Promise<Reply> => admin("POST", `${hook}/test`);
const listDeliveries = async (hook: string): Promise<any[]> => (await admin("GET", `${hook}/deliveries`)).body;

/** Sets the clock of the test ahead of that of the platform, which then runs no alarm. */
const runAlarmsByHand = (): void => advanceClock(HOUR);

async function write({ call, items, vault }: Hooked): Promise<void> {
  await call("POST", items, { body: LOGIN });
  await ring(vault);
}

describe("POST …/webhooks/{webhook}/test", () => {
  it("sends one message of the type test, signed as others are, and answers the status of the receiver", async () => {
    const { vault, hook, secret, receiver } = await hookedVault();
    const { status, body } = await sendTest(hook);
    expect([status, body]).toEqual([200, { status: 204 }]);
    const received = await receiver.received();
    expect(received.map(({ event }) => event)).toEqual([
      { type: "test", timestamp: expect.any(String), data: { vault: { id: vault } } },
    ]);
    const { headers, body: text } = received[0]!;
    const message = { id: headers["webhook-id"]!, timestamp: Number(headers["webhook-timestamp"]), body: text };
    expect(headers["webhook-signature"]).toBe(await signWebhook([secret], message));
  });

  it.each<[string, Behaviour, object]>([
    ["refuses it", 500, { status: 500, error: "status" }],
    ["wants no more messages", 410, { status: 410, error: "status" }],
    ["sends it elsewhere", 302, { status: 302, error: "redirect" }],
    ["closes the connection", "die", { error: "network" }],
    ["does not end its answer", "endless", { status: 200 }],
  ])("says why it failed, and changes nothing else, when the receiver %s", async (_, behaviour, expected) => {
    const { vault, hook, receiver } = await hookedVault();
    const before = await progressOf(vault);
    await receiver.behave(behaviour);
    expect((await sendTest(hook)).body).toEqual(expected);
    expect(await receiver.received()).toHaveLength(1);
    const unchanged = ({ due: _due, ...rest }: (typeof before)[number]) => rest;
    expect((await progressOf(vault)).map(unchanged)).toEqual(before.map(unchanged));
  });

  it("sends nothing to a URL that is not allowed any more", async () => {
    const { vault, hook, receiver } = await hookedVault();
    await rebindCoordinator(vault, { WEBHOOK_TEST_ORIGIN: "" });
    expect((await sendTest(hook)).body).toEqual({ error: "url" });
    expect(await receiver.received()).toEqual([]);
  });

  it("reaches a receiver also while the webhook is disabled", async () => {
    const { hook } = await hookedVault();
    await admin("PATCH", hook, { body: { enabled: false } });
    expect((await sendTest(hook)).body).toEqual({ status: 204 });
    expect((await admin("GET", hook)).body.state).toBe("DISABLED");
  });

  it("is a 500 of a webhook whose stored record does not open", async () => {
    const { id, hook } = await hookedVault();
    await env.DB.prepare("UPDATE webhooks SET sealed = 'x' WHERE id = ?1").bind(id).run();
    expect(outcome(await sendTest(hook))).toEqual([500, "integrity"]);
  });
});

describe("GET …/webhooks/{webhook}/deliveries", () => {
  it("lists what was delivered, what failed and what was a test, newest first", async () => {
    runAlarmsByHand();
    const hooked = await hookedVault();
    await hooked.receiver.behave(204, 503, 204);
    await write(hooked);
    await write(hooked);
    await sendTest(hooked.hook);
    const times = { at: expect.stringMatching(/Z$/), milliseconds: expect.any(Number) };
    expect(await listDeliveries(hooked.hook)).toEqual([
      { ...times, status: 204, events: 0, test: true },
      { ...times, status: 503, error: "status", events: 1 },
      { ...times, status: 204, events: 1 },
    ]);
  });

  it("has at most the last 20 attempts", async () => {
    const { hook, receiver } = await hookedVault();
    await receiver.behave(500, 204);
    for (let sent = 0; sent < 21; sent++) await sendTest(hook);
    expect((await listDeliveries(hook)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 204));
  });

  it("shows nothing of the URL and of the secret", async () => {
    const { hook, receiver, secret } = await hookedVault();
    const word = canary();
    await receiver.behave("die");
    await admin("PATCH", hook, { body: { url: `${receiver.url}?key=${word}` } });
    const { text } = await sendTest(hook);
    const listed = (await admin("GET", `${hook}/deliveries`)).text;
    for (const hidden of [word, receiver.url, secret]) expect(text + listed).not.toContain(hidden);
  });

  it("is empty before the first attempt", async () => {
    expect(await listDeliveries((await hookedVault()).hook)).toEqual([]);
  });

  it("ends with the webhook, whose attempts are deleted", async () => {
    const { vault, hook } = await hookedVault();
    await sendTest(hook);
    await admin("DELETE", hook);
    expect(outcome(await admin("GET", `${hook}/deliveries`))).toEqual([404, "webhook_not_found"]);
    expect(outcome(await sendTest(hook))).toEqual([404, "webhook_not_found"]);
    const stored = await withStorage(vault, ({ sql }) => sql.exec("SELECT attempts FROM webhooks").toArray());
    expect(stored).toEqual([{ attempts: null }]);
  });
});
