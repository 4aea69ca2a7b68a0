import { createClient, ItemVaultError, type Vault } from "@item-vault/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAttempts } from "../../../packages/cli/src/serve/attempts.ts";
import { createCopy, createVault, isComplete } from "../../../packages/cli/src/serve/copy.ts";
import { createPace } from "../../../packages/cli/src/serve/pace.ts";
import { readAllItems } from "../../../packages/cli/src/serve/read-vault.ts";
import { createSealer } from "../../../packages/cli/src/serve/seal.ts";
import { recordSleeps } from "../support/hurry.ts";

/** How a vault is read into the local copy, with a service that is a function, and the pauses of `serve`. */

const VAULT = "11111111-1111-4111-8111-111111111111";
const WHOLE = "22222222-2222-4222-8222-222222222222";
const BROKEN = "33333333-3333-4333-8333-333333333333";

const item = (id: string) => ({ id, title: "One", vault: { id: VAULT }, tags: [], fields: [], files: [] });
const json = (body: unknown, headers = {}, status = 200) => new Response(JSON.stringify(body), { status, headers });

/** A copy of one vault that is read by `answer`. In: what answers the path of a request. */
function readingFrom(answer: (path: string) => Response) {
  const copy = createCopy(createSealer("secret", "https://vault.example.com"));
  const vault = createVault(VAULT, { id: VAULT, name: "Production" } as Vault);
  vault.cursor = "7.x";
  const client = createClient({
    host: "https://vault.example.com",
    attempts: 1,
    fetch: async (input) => answer(new URL(input instanceof Request ? input.url : input).pathname),
  });
  const pace = createPace({ concurrent: 8, perSecond: 1e6 });
  const reading = { client, pace, copy, fileBytesMax: 1024, signal: new AbortController().signal };
  return { copy, vault, read: () => readAllItems(reading, vault) };
}

describe("an Item that the service cannot open", () => {
  it("keeps the lists of its vault with the service while that is read again, and when this fails", async () => {
    let isAway = false;
    const states: boolean[] = [];
    const { vault, read } = readingFrom((path) => {
      if (path.endsWith("/items")) return json([item(WHOLE), item(BROKEN)]);
      states.push(isComplete(vault));
      if (isAway) return json({}, { "Item-Vault-Error": "unavailable" }, 503);
      return path.endsWith(WHOLE) ? json(item(WHOLE), { ETag: '"1-0"' }) : json({}, { "Item-Vault-Error": "integrity" }, 500);
    });
    await read();
    expect(isComplete(vault)).toBe(false);
    states.length = 0;
    isAway = true;
    await expect(read()).rejects.toMatchObject({ status: 503 });
    expect([...states, isComplete(vault)]).not.toContain(true);
  });

  it("does not matter any more when the vault is without it", async () => {
    let listed = [WHOLE, BROKEN];
    const { vault, read } = readingFrom((path) => {
      if (path.endsWith("/items")) return json(listed.map(item));
      return path.endsWith(WHOLE) ? json(item(WHOLE), { ETag: '"1-0"' }) : json({}, { "Item-Vault-Error": "integrity" }, 500);
    });
    await read();
    listed = [WHOLE];
    await read();
    expect(isComplete(vault)).toBe(true);
  });
});

it("an Item with a File that does not open changes the copy only when it is another one", async () => {
  let answers = 0;
  let brokenFiles: string[] | undefined = ["44444444-4444-4444-8444-444444444444"];
  const { copy, read } = readingFrom((path) =>
    path.endsWith("/items") ? json([item(WHOLE)]) : json({ ...item(WHOLE), brokenFiles, at: ++answers }, { ETag: '"1-0"' }),
  );
  const changes = async () => {
    await read();
    return copy.changes;
  };
  const held = await changes();
  expect(await changes()).toBe(held);
  brokenFiles = undefined;
  expect(await changes()).toBeGreaterThan(held);
});

describe("the reads of all vaults", () => {
  it("are a few at once, in the order in which they came, and go on after one has failed", async () => {
    // Without a limit per second no read waits for a timer, so the first three begin before one of them can end.
    const pace = createPace({ concurrent: 3, perSecond: Infinity });
    let [running, most] = [0, 0];
    const begun: number[] = [];
    const read = (at: number) =>
      pace.inTurn(async () => {
        begun.push(at);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        if (at === 4) throw new Error("away");
      });
    const ended = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => read(at)));
    expect(most).toBe(3);
    expect(begun).toEqual([...begun.keys()]);
    expect(ended.filter(({ status }) => status === "rejected")).toHaveLength(1);
  });

  it("leave requests to other clients of the token", async () => {
    const pace = createPace({ concurrent: 8, perSecond: 100 });
    const delays = recordSleeps();
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    await Promise.all(Array.from({ length: 21 }, () => pace.inTurn(async () => undefined)));
    expect(delays).toEqual(Array.from({ length: 20 }, (_, at) => 10 * (at + 1)));
  });
});

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
