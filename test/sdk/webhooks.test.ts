import { createHmac } from "node:crypto";
import { expect, inject, it, vi } from "vitest";
import type { Received } from "../../scripts/webhook-receiver-control.ts";
import { admin, freshVault, login } from "./support/vault.ts";

/** Webhooks of the bundled Worker, whose alarms run by themselves, with a check of the signature that shares no code with it. */

const receivedAt = async (path: string): Promise<Received[]> => {
  const response = await fetch(`${inject("receiver")}/control${path}`);
  return (await response.json()) as Received[];
};

it("a write through the SDK reaches the receiver, with a signature that Standard Webhooks defines", async () => {
  const { op, vault, canonical } = await freshVault();
  const path = `/${canonical}`;
  const webhook = await admin("POST", `vaults/${canonical}/webhooks`, { url: inject("receiver") + path });
  const { secret } = webhook as unknown as { secret: string };
  await op.createItem(vault, login("Title"));
  const { headers, body } = await vi.waitFor(
    async () => {
      const [first] = await receivedAt(path);
      expect(first).toBeDefined();
      return first!;
    },
    { timeout: 120_000, interval: 50 },
  );
  expect(JSON.parse(body)).toMatchObject({ type: "item.created", data: { vault: { id: canonical }, sequence: 2 } });
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(content).digest("base64")}`);
});
