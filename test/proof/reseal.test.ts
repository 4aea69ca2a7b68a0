import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { rebindCoordinator, renewCoordinator, seeded, wrapDatabase } from "../support/bindings.ts";
import { alternatingCoordinators } from "../support/concurrent-patches.ts";
import { advanceClock } from "../support/faults.ts";
import { everythingIn, type FullVault, fullVault, passwordTo } from "../support/full-vault.ts";
import { checkHistory } from "./history/check.ts";
import { auditLog } from "./history/audit.ts";
import { runLoad } from "./history/clients.ts";
import { FAULT_RATES, shortenDeadlines } from "./history/fault-plan.ts";
import { isLong, runs } from "../support/runs.ts";
import { expectNothingUnder, inSlicesOf, resealInSlices, resealFully, resealOnce } from "../support/reseals.ts";
import { dataKeyOf, newestKeyOf, openUnder, sealedTexts } from "../support/sealed-columns.ts";
import { admin, LOGIN } from "../support/service.ts";
import { newReceiver } from "../support/webhooks.ts";

/**
 * A reseal goes on under writes of every kind, and after a fault at each of its steps: no answer is wrong, and in the end no sealed
 * column opens under the old key (docs/consistency.md). Slices of one row, so that something happens at every position.
 */

resealInSlices();
afterEach(() => void vi.useRealTimers());

type Step = (full: FullVault, n: number) => Promise<{ status: number }>;

/** A write of every kind. Each may be sent at any time; those of things that are gone are refused with 404. */
const STEPS: Readonly<Record<string, Step>> = {
  create: ({ call, items }, n) => call("POST", items, { body: { ...LOGIN, title: `New ${n}` } }),
  patch: ({ call, items, kept }, n) => call("PATCH", `${items}/${kept}`, { body: passwordTo(`value ${n}`) }),
  keyed: ({ call, items, kept }, n) =>
    call("PATCH", `${items}/${kept}`, { body: passwordTo(`keyed ${n}`), headers: { "Idempotency-Key": `key-${n}` } }),
  rename: ({ call, items, kept }, n) =>
    call("PATCH", `${items}/${kept}`, { body: [{ op: "replace", path: "/title", value: `Title ${n % 3}` }] }),
  restoreFirst: ({ call, items, kept }) => call("POST", `${items}/${kept}/versions/1/restore`),
  restoreFile: ({ call, items, kept }) => call("POST", `${items}/${kept}/versions/3/restore`),
  upload: ({ upload, items, kept }, n) => upload("POST", `${items}/${kept}/files?name=n${n}`, 10),
  replaceContent: ({ upload, items, kept, file }, n) => upload("PUT", `${items}/${kept}/files/${file}/content`, 20 + n),
  deleteFile: ({ call, items, kept, file }) => call("DELETE", `${items}/${kept}/files/${file}`),
  delete: ({ call, items, kept }) => call("DELETE", `${items}/${kept}`),
  undelete: ({ call, vault, kept }) => call("POST", `/v1/vaults/${vault}/deleted-items/${kept}/restore`),
  undeleteOther: ({ call, vault, deleted }) => call("POST", `/v1/vaults/${vault}/deleted-items/${deleted}/restore`),
  deleteOther: ({ call, items, deleted }) => call("DELETE", `${items}/${deleted}`),
  changeHook: ({ hooks, hook }) => admin("PATCH", `${hooks}/${hook}`, { body: { url: newReceiver().url } }),
  addHook: ({ hooks }, n) =>
    n < 8 ? admin("POST", hooks, { body: { url: newReceiver().url, enabled: false } }) : admin("GET", hooks),
  nameVault: ({ vault }, n) => admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: `Name ${n}` } }),
};

/** What is wrong, if anything: every row has to open, and the title has to find the Item if that exists. */
async function faultsIn({ call, items, kept, vault, hooks }: FullVault): Promise<string[]> {
  const list = await call("GET", items);
  const summary = list.body.find(({ id }: { id: string }) => id === kept);
  const paths = [`/v1/vaults/${vault}/deleted-items`];
  if (summary) {
    const versions: { version: number }[] = (await call("GET", `${items}/${kept}/versions`)).body;
    paths.push(`${items}/${kept}/files?inline_files=true`);
    paths.push(...versions.map(({ version }) => `${items}/${kept}/versions/${version}`));
  }
  const answers = await Promise.all(paths.map((path) => call("GET", path)));
  const faults = [list, ...answers].flatMap(({ status }, index) => (status === 200 ? [] : [`${paths[index - 1]}: ${status}`]));
  const filter = encodeURIComponent(`title eq "${summary?.title}"`);
  const found: { id: string }[] = (await call("GET", `${items}?filter=${filter}`)).body;
  if (summary && !found.some(({ id }) => id === kept)) faults.push(`the filter does not find ${summary.title}`);
  const { values } = (await call("POST", "/v1/resolve", { body: { references: [`op://${vault}/${kept}/password`] } })).body;
  if (summary && values[0].value === undefined) faults.push(`the reference: ${JSON.stringify(values[0])}`);
  const webhooks: { url?: string }[] = (await admin("GET", hooks)).body;
  return webhooks.every(({ url }) => url !== undefined) ? faults : [...faults, "a webhook does not open"];
}

describe("a vault that is resealed row by row, with a write after each row", () => {
  it.each(Array.from({ length: runs(1, 20) }, (_, seed) => seed))(
    "answers every request rightly, and nothing opens under the old key: seed %i",
    async (seed) => {
      inSlicesOf(1);
      const random = seeded(seed + 1);
      const full = await fullVault();
      const old = await newestKeyOf(full.vault);
      const dataKey = await dataKeyOf(full.vault);
      const names = Object.keys(STEPS);
      let done = false;
      for (let n = 0; !done; n++) {
        if (n > 500) throw new Error("the reseal does not end");
        const reached = await resealOnce(full.vault, dataKey);
        expect(reached.reason).toBeUndefined();
        ({ done } = reached);
        const name = names[Math.floor(random() * names.length)]!;
        const { status } = await STEPS[name]!(full, n);
        expect([200, 204, 404], `${name} was answered ${status}`).toContain(status);
        const faults = isLong || n % 4 === 0 ? await faultsIn(full) : [];
        expect({ n, faults }).toEqual({ n, faults: [] });
        if (random() < 0.1) await evictDurableObject(env.COORDINATOR.getByName(full.vault));
      }
      expect(await faultsIn(full)).toEqual([]);
      await expectNothingUnder(old, full.vault);
    },
  );
});

describe("a version with Files that is restored after the rows of `files` were passed", () => {
  it("brings no row back under the old key", async () => {
    inSlicesOf(1);
    const full = await fullVault();
    const old = await newestKeyOf(full.vault);
    const dataKey = await dataKeyOf(full.vault);
    for (let stage = ""; stage !== "file_versions";) {
      expect((await resealOnce(full.vault, dataKey)).done).toBe(false);
      const vaults: { id: string; reseal?: { stage: string } }[] = (await admin("GET", "/v1/admin/vaults")).body;
      stage = vaults.find(({ id }) => id === full.vault)!.reseal!.stage;
    }
    expect((await full.call("POST", `${full.items}/${full.kept}/versions/3/restore`)).status).toBe(200);
    await resealFully(full.vault);
    await expectNothingUnder(old, full.vault);
  });
});

describe("a reseal that is killed", () => {
  it("at each of its D1 calls, before and after its effect, goes on with the next request", async () => {
    inSlicesOf(3, 5);
    const full = await fullVault();
    const before = await everythingIn(full);
    let calls = Infinity;
    // In the short run every second call, each in one of the two ways.
    for (let step = 0; step < calls; step += isLong ? 1 : 3) {
      for (const lost of isLong ? [false, true] : [step % 2 === 1]) {
        const old = await newestKeyOf(full.vault);
        const dataKey = await dataKeyOf(full.vault);
        let count = 0;
        const kill = (when: boolean) => {
          if (when && count === step + 1) throw new Error("D1_ERROR: Network connection lost.");
        };
        const DB = wrapDatabase(env.DB, { before: () => (count++, kill(!lost)), after: () => kill(lost) });
        await renewCoordinator(full.vault, { DB });
        await resealOnce(full.vault, dataKey);
        await renewCoordinator(full.vault, {});
        let reply = await resealOnce(full.vault, dataKey);
        while (!reply.done) reply = await resealOnce(full.vault, dataKey);
        calls = Math.min(calls, Math.max(count, 4));
        if (count > step) calls = Infinity;
        expect(await everythingIn(full)).toEqual(before);
        await expectNothingUnder(old, full.vault);
        if (count <= step) return;
      }
    }
  });
});

describe("a second coordinator of the vault", () => {
  it("whose cache has the rows of before the reseal writes under the new key", async () => {
    const full = await fullVault();
    const second = { COORDINATOR: alternatingCoordinators([`${full.vault} again`]) };
    const write = (value: string) => full.call("PATCH", `${full.items}/${full.kept}`, { body: passwordTo(value), env: second });
    expect((await write("warm")).status).toBe(200);
    const old = await newestKeyOf(full.vault);
    await resealFully(full.vault);
    expect((await write("after")).status).toBe(200);
    await expectNothingUnder(old, full.vault);
  });

  it("that commits between the read and the batch of a slice makes the slice begin again", async () => {
    const full = await fullVault();
    const old = await newestKeyOf(full.vault);
    const second = { COORDINATOR: alternatingCoordinators([`${full.vault} again`]) };
    let commits = 0;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => (/UPDATE vaults SET resealed/.test(sql) ? (slices++, sql) : sql),
      async before() {
        if (slices === 0 || commits >= 3) return;
        slices = 0;
        commits++;
        const moved = await full.call("PATCH", `${full.items}/${full.kept}`, { body: passwordTo(`n ${commits}`), env: second });
        expect(moved.status).toBe(200);
      },
    });
    let slices = 0;
    await rebindCoordinator(full.vault, { DB });
    await resealFully(full.vault);
    await rebindCoordinator(full.vault, {});
    expect(commits).toBe(3);
    expect((await full.call("GET", `${full.items}/${full.kept}`)).body.fields[0].value).toBe("n 3");
    await expectNothingUnder(old, full.vault);
  });
});

describe("a request of several D1 calls during which the vault gets new keys", () => {
  it.each([
    ["a File", "f", 0],
    ["a field, with keys that are not cached", "password", 6 * 60_000],
  ])("resolves a reference to %s", async (_, part, later) => {
    const full = await fullVault();
    if (later > 0) advanceClock(later);
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      before: async () => {
        if (++calls === 2) await resealFully(full.vault);
      },
    });
    const body = { references: [`op://${full.vault}/kept/${part}`] };
    const { values } = (await full.call("POST", "/v1/resolve", { body, env: { DB } })).body;
    expect(values[0].message).toBeUndefined();
    expect(calls).toBeGreaterThan(2);
  });

  it("creates and changes webhooks under the new keys", async () => {
    const full = await fullVault();
    const old = await newestKeyOf(full.vault);
    let armed = true;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => (/(INSERT INTO|UPDATE) webhooks/.test(sql) && armed ? ((armed = false), (pending = true), sql) : sql),
      before: async () => {
        if (!pending) return;
        pending = false;
        await resealFully(full.vault, { COORDINATOR: alternatingCoordinators([`${full.vault} again`]) });
      },
    });
    let pending = false;
    await rebindCoordinator(full.vault, { DB });
    const made = await admin("POST", full.hooks, { body: { url: newReceiver().url, enabled: false } });
    expect(made.status).toBe(200);
    armed = true;
    const changed = await admin("PATCH", `${full.hooks}/${full.hook}`, { body: { url: newReceiver().url } });
    expect(changed.status).toBe(200);
    await rebindCoordinator(full.vault, {});
    await expectNothingUnder(old, full.vault);
  });
});

describe("a webhook that is changed between the read and the write of a slice", () => {
  it("keeps its new URL and secret", async () => {
    const full = await fullVault();
    const old = await newestKeyOf(full.vault);
    const hook = `${full.hooks}/${full.hook}`;
    const { url } = newReceiver();
    const second = { COORDINATOR: alternatingCoordinators([`${full.vault} again`]) };
    const change = (bindings: Partial<Env>) =>
      admin("PATCH", hook, { body: { url, rotateSecret: true }, headers: { "Idempotency-Key": "rotation" }, env: bindings });
    let writes = false;
    let secret: string | undefined;
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => ((writes ||= /UPDATE webhooks SET sealed/.test(sql)), sql),
      before: async () => {
        if (writes) secret ??= (await change(second)).body.secret;
      },
    });
    await rebindCoordinator(full.vault, { DB });
    await resealFully(full.vault);
    await rebindCoordinator(full.vault, {});
    expect(secret).toMatch(/^whsec_/);
    expect((await admin("GET", hook)).body.url).toBe(url);
    expect((await change({})).body.secret).toBe(secret);
    await expectNothingUnder(old, full.vault);
  });
});

describe("a vault that is deleted while it is resealed", () => {
  it("is gone, and the next request to reseal it is answered 404", async () => {
    inSlicesOf(2);
    const full = await fullVault();
    const dataKey = await dataKeyOf(full.vault);
    expect((await resealOnce(full.vault, dataKey)).done).toBe(false);
    expect((await admin("DELETE", `/v1/admin/vaults/${full.vault}`)).status).toBe(204);
    await expect(resealOnce(full.vault, dataKey)).rejects.toThrow("404");
  });
});

describe("clients of a vault that gets new keys again and again, with two coordinators and faults of every kind", () => {
  it.each(Array.from({ length: runs(1, 10) }, (_, seed) => seed + 1))(
    "see a linearizable history, and one pair of keys opens every row in the end: seed %i",
    async (seed) => {
      inSlicesOf(3, 5);
      shortenDeadlines();
      const size = { operations: isLong ? 1_000 : 60, clients: 10, fileClients: 2 };
      const { vault, recorder, fileErrors, eventErrors, reseals } = await runLoad({
        seed,
        ...size,
        rates: FAULT_RATES,
        reseals: true,
      });
      vi.unstubAllGlobals();
      const unexpected = [...recorder.unexpected, ...fileErrors, ...eventErrors];
      const found = { violations: checkHistory(recorder.history), audit: await auditLog(vault, recorder.history), unexpected };
      expect({ seed, ...found }).toEqual({ seed, violations: [], audit: { lost: [], doubled: [] }, unexpected: [] });
      expect(reseals).toBeGreaterThan(0);
      const texts = await sealedTexts(vault);
      expect(await openUnder(await newestKeyOf(vault), texts)).toHaveLength(texts.length);
    },
  );
});
