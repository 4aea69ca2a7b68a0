import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signWebhook } from "../../src/crypto/webhook-signature.ts";
import { rebindCoordinator } from "../support/bindings.ts";
import { canary } from "../support/canary.ts";
import { advanceClock, HOUR } from "../support/faults.ts";
import { admin, LOGIN, outcome, type Reply } from "../support/service.ts";
import { type Behaviour, type Hooked, hookedVault, progressOf, ring, withStorage } from "../support/webhooks.ts";

/** Tests of webhooks, and the list of the last attempts to deliver (contract 17.12, 17.13). */

afterEach(() => {
  vi.useRealTimers();
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

  it("does not follow a redirect", async () => {
    const { hook, receiver } = await hookedVault();
    await receiver.behave(307);
    await sendTest(hook);
    expect(await (await fetch(`${env.WEBHOOK_TEST_ORIGIN}/control/redirected`)).json()).toEqual([]);
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
