import type { Call } from "@item-vault/client";
import { expect, it, vi } from "vitest";
import { createPace } from "../../../packages/transfer/src/pace.ts";

it("the requests of all clients together begin at the rate at most, after a burst of 50", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  try {
    const begun: number[] = [];
    const call = (async () => void begun.push(performance.now())) as unknown as Call;
    const pace = createPace(100);
    const clients = [1, 2].map(() => pace({ call }));
    const start = performance.now();
    for (let count = 0; count < 75; count++) for (const client of clients) void client.call("GET /v1/vaults");
    await vi.advanceTimersByTimeAsync(2000);
    expect(begun).toHaveLength(150);
    expect(begun.filter((at) => at === start)).toHaveLength(51);
    expect(begun.at(-1)! - start).toBeGreaterThanOrEqual(985);
  } finally {
    vi.useRealTimers();
  }
});
