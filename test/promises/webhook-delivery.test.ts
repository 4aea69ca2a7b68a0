import { describe, expect, it } from "vitest";
import { LOGIN } from "../support/service.ts";
import { hookedVault, ring } from "../support/webhooks.ts";

describe("a webhook", () => {
  it("gets each event of its vault", async () => {
    const { vault, items, call, receiver } = await hookedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await ring(vault);
    console.log(JSON.stringify(await receiver.received(), null, 1), id);
    expect(1).toBe(1);
  });
});
