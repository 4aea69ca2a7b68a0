import { afterEach, describe, expect, it, vi } from "vitest";
import { env } from "cloudflare:workers";
import { countingDatabase } from "../support/bindings.ts";
import { admin, client, makeToken, makeVault, send } from "../support/service.ts";

/** Tokens that end soon, in /health and /metrics (contract 13.3, 13.4). */

const DAY_SECONDS = 86_400;

interface Dependency {
  readonly service: string;
  readonly status: string;
  readonly message: string;
  readonly count?: number;
}

const reported = async (): Promise<Dependency> =>
  (await admin("GET", "/v1/admin/health", { env: {} })).body.dependencies.find(({ service }: Dependency) => service === "tokens");

const scraped = async (): Promise<string | undefined> =>
  /^item_vault_tokens_ending (\d+)$/m.exec((await client(env.METRICS_TOKEN)("GET", "/metrics")).text)?.[1];

/** The rows that a report reads. */
async function countRows(): Promise<number> {
  const { db, count } = countingDatabase();
  await send("GET", "/health", { env: { DB: db } });
  return count.rowsRead;
}

const passDays = (days: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + days * DAY_SECONDS * 1000 });
};
afterEach(() => void vi.useRealTimers());

describe("a token", () => {
  it.each([
    [40, 25, 0],
    [40, 27, 1],
    [31, 20, 1],
    [30, 20, 0],
    [1, 0, 0],
    [40, 41, 0],
  ])("that was issued for %i days is reported %i days later %i times, by its number alone", async (lifetime, passed, count) => {
    const name = `Named ${crypto.randomUUID()}`;
    const { id } = await makeToken({ [await makeVault()]: "r" }, { name, expiresIn: lifetime * DAY_SECONDS });
    passDays(passed);
    const { status, message, count: found } = await reported();
    expect([status, found]).toEqual(count === 0 ? ["ACTIVE", undefined] : ["WARNING", count]);
    expect(message).not.toContain(name);
    expect(message).not.toContain(id);
    expect(await scraped()).toBe(String(count));
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await reported()).status).toBe("ACTIVE");
  });

  it("of the admin routes, and one that another token has issued, are reported too", async () => {
    const expiresIn = 40 * DAY_SECONDS;
    const vault = await makeVault();
    const parent = await makeToken({ [vault]: "r" }, { delegate: true, expiresIn });
    await client(parent.token)("POST", "/v1/tokens", {
      body: { name: "child", vaults: { [vault]: "r" }, expiresIn: expiresIn - 60 },
    });
    await admin("POST", "/v1/admin/tokens", { body: { name: "backups", backupsOnly: true, expiresIn } });
    passDays(27);
    expect(await reported()).toMatchObject({ status: "WARNING", count: 3 });
    expect(await scraped()).toBe("3");
  });
});

it("other tokens cost /health no rows, which needs no token itself", async () => {
  const vault = await makeVault();
  const before = await countRows();
  for (let index = 0; index < 5; index++) await makeToken({ [vault]: "r" }, { expiresIn: DAY_SECONDS });
  await makeToken({ [vault]: "r" }, { expiresIn: 90 * DAY_SECONDS });
  expect(await countRows()).toBe(before);
});
