import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** A D1 call without an answer fails after ten seconds. Otherwise it would block the queue of its vault forever. */

afterEach(() => {
  vi.useRealTimers();
});

const neverAnswer = () => new Promise<never>(() => undefined);

it("a read that D1 never answers is answered 503 `unavailable` after the deadline", async () => {
  const { items, call } = await freshVault();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reply = call("GET", items, { env: { DB: wrapDatabase(env.DB, { before: neverAnswer }) } });
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await reply).headers.get("Item-Vault-Error")).toBe("unavailable");
});

it("a write that D1 never answers is answered 503 `uncertain`, and the next write to the vault is carried out", async () => {
  const { vault, items, call } = await freshVault();
  await call("POST", items, { body: LOGIN });
  const d1 = { silent: true };
  const before = () => (d1.silent ? neverAnswer() : undefined);
  await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const began = Date.now();
  const first = call("POST", items, { body: LOGIN });
  const state = { answered: false };
  void first.then(() => (state.answered = true));
  // The timers of a coordinator have to fire in its own context.
  const coordinator = env.COORDINATOR.getByName(vault);
  for (let second = 0; second < 60 && !state.answered; second++) {
    await runInDurableObject(coordinator, async () => void (await vi.advanceTimersByTimeAsync(1_000)));
  }
  expect((await first).headers.get("Item-Vault-Error")).toBe("uncertain");
  // The deadline of the commit, and that of the read after it.
  expect(Date.now() - began).toBeGreaterThanOrEqual(20_000);
  expect(Date.now() - began).toBeLessThan(25_000);
  vi.useRealTimers();
  d1.silent = false;
  expect((await call("POST", items, { body: LOGIN })).status).toBe(200);
});
