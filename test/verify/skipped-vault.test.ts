import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { backUpAll } from "../support/backup.ts";
import { wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { endOfJob, findingsOf, serviceWith, startJob } from "../support/jobs.ts";
import { flipped, type Planted, plantVault } from "./support/vault.ts";
import { run } from "./support/verify.ts";

/** A vault whose coordinator does not answer, for example because its storage is damaged, costs no other vault its check (contract 22.2). */

let vaults: readonly Planted[];

beforeAll(async () => {
  const planted = [await plantVault(), await plantVault(), await plantVault(), await plantVault()];
  vaults = planted.toSorted((a, b) => (a.vault < b.vault ? -1 : 1));
  for (const { other } of vaults) await run(`UPDATE items SET overview = ${flipped("overview")} WHERE id = ?1`, other);
});

/** The coordinators, of which some do not answer. */
const coordinatorsWithout = (failing: readonly Planted[]): Partial<Env> => ({
  COORDINATOR: {
    getByName: (name: string) =>
      failing.some(({ vault }) => vault === name)
        ? { verify: () => Promise.reject(new Error("the storage is damaged")) }
        : env.COORDINATOR.getByName(name),
  } as unknown as Env["COORDINATOR"],
});

/** Reads an object of the bucket BACKUPS, other than the parts of one vault. */
const getOtherParts = (key: string, ...values: [R2GetOptions]) => {
  if (key.startsWith(`vaults/${vaults[1]!.vault}/parts/`)) throw new Error("get: We encountered an internal error. (10001)");
  return env.BACKUPS.get(key, ...values);
};

const isRowOfVault = (row: unknown): row is object =>
  vaults.some(({ vault }) => (row as { id?: string }).id === vault) && "versions_kept" in (row as object);

const placeOf = (vault?: string) => vaults.findIndex((one) => one.vault === vault);

/**
 * Verifies while some vaults have a content without a row, of which only their coordinators know whether it is an upload. Out: the job, and its
 * findings as kinds with the place of their vault.
 */
async function verify(failing: readonly Planted[], body: object = {}, bindings = coordinatorsWithout(failing)) {
  const uploads = failing.map(({ vault }) => `${vault}/${crypto.randomUUID()}/${crypto.randomUUID()}`);
  for (const key of uploads) await env.FILES.put(key, "an upload");
  onTestFinished(() => env.FILES.delete(uploads));
  const service = await serviceWith({}, bindings);
  const { id, state, reason, result } = await endOfJob(service, await startJob(service, { kind: "verify", ...body }));
  const findings = await findingsOf(service, id);
  return { state, reason, result, kinds: findings.map(({ kind, vault }) => `${kind} ${placeOf(vault)}`) };
}

const UNREADABLE = [0, 1, 2, 3].map((place) => `row_unreadable ${place}`);

describe("verify", () => {
  it.each(["first", "second", "last"] as const)(
    "leaves out the %s vault when its coordinator does not answer, and names it",
    async (which) => {
      const place = { first: 0, second: 1, last: 3 }[which];
      for (const body of [{}, { repair: true }]) {
        const { state, kinds } = await verify([vaults[place]!], body);
        expect([body, state, kinds.toSorted()]).toEqual([body, "done", [...UNREADABLE, `vault_skipped ${place}`].toSorted()]);
      }
    },
  );

  it("leaves out several vaults between which another one is verified", async () => {
    const { state, kinds } = await verify([vaults[0]!, vaults[2]!]);
    expect([state, kinds.filter((kind) => kind.startsWith("vault_skipped"))]).toEqual([
      "done",
      ["vault_skipped 0", "vault_skipped 2"],
    ]);
  });

  it("names each vault when no coordinator answers", async () => {
    const { state, kinds } = await verify(vaults);
    const skipped = [0, 1, 2, 3].map((place) => `vault_skipped ${place}`);
    expect([state, kinds.toSorted()]).toEqual(["done", [...UNREADABLE, ...skipped].toSorted()]);
  });

  it("names what it has found in a vault before the content at which it leaves the vault out", async () => {
    const { vault, item } = vaults[1]!;
    const { results } = await env.DB.prepare("SELECT id, generation FROM files WHERE item_id = ?1 ORDER BY id")
      .bind(item)
      .run<{ id: string; generation: string }>();
    const [missing, failing] = results.map(({ id, generation }) => `${vault}/${id}/${generation}`) as [string, string];
    const content = await (await env.FILES.get(missing))!.bytes();
    await env.FILES.delete(missing);
    onTestFinished(() => env.FILES.put(missing, content).then(() => undefined));
    const get = (key: string, ...values: [R2GetOptions]) => {
      if (key === failing) throw new Error("get: We encountered an internal error. Please try again. (10001)");
      return env.FILES.get(key, ...values);
    };
    const { state, kinds } = await verify([], {}, { FILES: wrapBucket({ get }) });
    expect([state, kinds.toSorted()]).toEqual(["done", ["content_missing 1", ...UNREADABLE, "vault_skipped 1"].toSorted()]);
  });

  it("leaves out a vault whose backup has parts that cannot be read", async () => {
    await backUpAll();
    const { state, kinds } = await verify([], { backup: true }, { BACKUPS: wrapBucket({ get: getOtherParts }, env.BACKUPS) });
    expect([state, kinds.filter((kind) => kind.startsWith("vault_skipped"))]).toEqual(["done", ["vault_skipped 1"]]);
  });

  it.each([
    ["are left out", "the service fails at their first rows", "done", [0, 1, 2, 3]],
    ["cost the job its end, with what it has counted", "the database does not answer for their rows", "failed", [0]],
  ] as const)("neighbours %s when %s", async (_rule, fault, expected, skipped) => {
    const after = (results: D1Result[]) => {
      for (const row of results.flatMap((one) => one.results).filter(isRowOfVault)) {
        if (expected === "failed") throw new Error("D1_ERROR: no answer");
        const get = () => expect.unreachable(fault);
        Object.defineProperty(row, "description", { get });
      }
    };
    const { state, kinds, result } = await verify([], {}, { DB: wrapDatabase(env.DB, { after }) });
    const named = kinds.filter((kind) => kind.startsWith("vault_skipped"));
    expect([state, named]).toEqual([expected, skipped.map((place) => `vault_skipped ${place}`)]);
    expect(result).toMatchObject({ checked: { rows: expect.any(Number) } });
  });

  it("fails when the database does not answer after a vault that was left out, which is no fault of the next vault", async () => {
    let isLost = false;
    const COORDINATOR = {
      getByName: () => ({
        verify() {
          isLost = true;
          return Promise.reject(new Error("the storage is damaged"));
        },
      }),
    } as unknown as Env["COORDINATOR"];
    const before = () => {
      if (isLost) throw new Error("D1_ERROR: no answer");
    };
    const { state, kinds, result } = await verify([vaults[1]!], {}, { COORDINATOR, DB: wrapDatabase(env.DB, { before }) });
    expect([state, kinds.filter((kind) => kind.startsWith("vault_skipped"))]).toEqual(["failed", ["vault_skipped 1"]]);
    expect(result).toMatchObject({ checked: { rows: expect.any(Number) } });
  });

  it("of one vault fails when its coordinator does not answer", async () => {
    expect(await verify([vaults[1]!], { vault: vaults[1]!.vault })).toMatchObject({ state: "failed" });
  });
});
