import { describe, expect, it } from "vitest";
import { createWebhookSecret, signWebhook } from "../../src/crypto/webhook-signature.ts";

/** Standard Webhooks 1.0.0: the example of the specification's own libraries (github.com/standard-webhooks/standard-webhooks). */

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const MESSAGE = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

describe("the signature of a webhook", () => {
  it("is that of the published example", async () => {
    expect(await signWebhook([SECRET], MESSAGE)).toBe(SIGNATURE);
  });

  it.each([
    ["id", { id: "msg_other" }],
    ["timestamp", { timestamp: 1_614_265_331 }],
    ["body", { body: '{"test": 2432232315}' }],
  ])("covers the %s", async (_, change) => {
    expect(await signWebhook([SECRET], { ...MESSAGE, ...change })).not.toBe(SIGNATURE);
  });

  it("has one entry for each secret, with a space between them", async () => {
    const [first, second, ...rest] = (await signWebhook([SECRET, createWebhookSecret()], MESSAGE)).split(" ");
    expect([first, rest]).toEqual([SIGNATURE, []]);
    expect(second).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  });
});

it("a secret is whsec_ and 32 random bytes", () => {
  const secrets = Array.from({ length: 100 }, createWebhookSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(Uint8Array.fromBase64(secret.replace("whsec_", "")).length).toBe(32);
});
