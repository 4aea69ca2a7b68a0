import { ItemVaultError } from "@item-vault/client";
import { expect, it, onTestFinished, vi } from "vitest";
import { createAttempts } from "../../../packages/cli/src/serve/attempts.ts";
import { recordSleeps } from "../support/hurry.ts";

/** How long `serve` waits between its attempts to read from the service. */

/** Returns the milliseconds of the pause after each of some failures in a row. */
async function pausesAfter(count: number, retryAfter?: number): Promise<number[]> {
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  onTestFinished(() => random.mockRestore());
  const attempts = createAttempts(() => undefined);
  const delays = recordSleeps();
  const pauses: number[] = [];
  for (let failures = 0; failures < count; failures++) {
    const error = new ItemVaultError("away", { kind: "unavailable", status: 503, retryAfter });
    await attempts.failed(error, failures, new AbortController().signal);
    pauses.push(delays.splice(0).reduce((sum, delay) => sum + delay, 0));
  }
  return pauses;
}

it("the pauses between attempts double while the service fails", async () => {
  const [first = 0, ...others] = await pausesAfter(5);
  expect(first).toBeGreaterThan(0);
  expect(others).toEqual([2, 4, 8, 16].map((times) => times * first));
});

it("an attempt is not made before the time that the service asks for", async () => {
  const [usual] = await pausesAfter(1);
  expect(await pausesAfter(1, 7)).toEqual([7_000 + usual!]);
});
