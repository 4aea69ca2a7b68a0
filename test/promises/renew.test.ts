import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { KEYS_MAX } from "../../src/crypto/key-list.ts";
import { HEADER_LENGTH, headerOf } from "../../src/crypto/seal.ts";
import { openText } from "../../src/crypto/vault-seal.ts";
import { columnsOfKind, TABLES_OF_VAULT } from "../../src/store/tables/tables.ts";
import { rebindCoordinator, renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { alternatingCoordinators } from "../support/concurrent-patches.ts";
import { advanceClock } from "../support/faults.ts";
import { everythingIn, type FullVault, fullVault, passwordTo } from "../support/full-vault.ts";
import { runHourly } from "../support/jobs.ts";
import { snapshotDatabase } from "../support/restore.ts";
import {
  dataKeyOf,
  giveLastKey,
  keyNumbersOf,
  keysOfVault,
  newestKeyOf,
  openUnder,
  renewKey,
  sealedTexts,
} from "../support/sealed-columns.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, outcome } from "../support/service.ts";
import { unwrap } from "../support/versions.ts";
import { newReceiver } from "../support/webhooks.ts";

/** New data keys of a vault (contract 20.20 to 20.25). */

/** Only the vaults of a test have several keys: a run of the hour draws some of them. */
beforeEach(async () => {
  await env.DB.exec("UPDATE vaults SET keys = substr(keys, 1, instr(keys, char(10)) - 1) WHERE instr(keys, char(10)) > 0");
});

const expectSame = async (full: FullVault, before: unknown) => expect(await everythingIn(full)).toEqual(before);
const patch = ({ call, items, kept }: FullVault, value: string, bindings: Partial<Env> = {}) =>
  call("PATCH", `${items}/${kept}`, { body: passwordTo(value), env: bindings });

/** Where the texts of a vault are that are under its newest key. */
const underNewest = async (vault: string) => openUnder(await newestKeyOf(vault), await sealedTexts(vault));

/** The columns with sealed texts under the keys of vaults. */
const COLUMNS = TABLES_OF_VAULT.flatMap((table) => columnsOfKind(table, "sealed").map((column) => [table.name, column] as const));

/** Gives the texts of a column the header of a key, as if they were under it. */
const moveTo = (vault: string, [table, column]: readonly [string, string], key: number) =>
  env.DB.prepare(`UPDATE ${table} SET ${column} = ?2 || substr(${column}, ${HEADER_LENGTH + 1}) WHERE vault_id = ?1`)
    .bind(vault, headerOf(key))
    .run();

describe("a request for a new key", () => {
  it("adds one, under which later writes are, and changes nothing that was stored (20.21, 20.23)", async () => {
    const full = await fullVault();
    const before = await everythingIn(full);
    const { status, body } = await renewKey(full.vault);
    expect([status, body.earlierKeys, body.dataKey.id]).toEqual([200, 1, await dataKeyOf(full.vault)]);
    expect(await keyNumbersOf(full.vault)).toEqual([2, 1]);
    await expectSame(full, before);
    expect((await underNewest(full.vault)).every((where) => where.startsWith("vaults"))).toBe(true);
    const made = await full.make("New");
    const newest = await underNewest(full.vault);
    expect(newest).toEqual(expect.arrayContaining([expect.stringContaining(made)]));
  });

  it("adds no second one when it is repeated, and has the same answer (20.22)", async () => {
    const vault = await makeVault();
    const replaces = await dataKeyOf(vault);
    const first = await renewKey(vault, { replaces });
    expect((await renewKey(vault, { replaces })).body).toEqual(first.body);
    const headers = { "Idempotency-Key": "once" };
    const second = await renewKey(vault, { headers });
    expect((await renewKey(vault, { replaces: first.body.dataKey.id, headers })).body).toEqual(second.body);
    expect(await keyNumbersOf(vault)).toEqual([3, 2, 1]);
  });

  it("adds one when several come at the same time", async () => {
    const vault = await makeVault();
    const replaces = await dataKeyOf(vault);
    const answers = await Promise.all(Array.from({ length: 5 }, () => renewKey(vault, { replaces })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await keyNumbersOf(vault)).toEqual([2, 1]);
  });

  it("is an UPDATE in the log and the event vault.updated, and raises attributeVersion", async () => {
    const { vault, call } = await freshVault();
    const { last } = (await call("GET", `/v1/vaults/${vault}/events?after=0`)).body;
    const before = (await call("GET", `/v1/vaults/${vault}`)).body.attributeVersion;
    await renewKey(vault);
    expect((await call("GET", `/v1/vaults/${vault}`)).body.attributeVersion).toBe(before + 1);
    const { events } = (await call("GET", `/v1/vaults/${vault}/events?after=${last}`)).body;
    expect(events.map(({ type }: { type: string }) => type)).toEqual(["vault.updated"]);
  });

  it("is refused when the vault has 16 keys, or has had 255 (20.22)", async () => {
    const [vault, last] = [await makeVault(), await makeVault()];
    for (let keys = 1; keys < KEYS_MAX; keys++) expect((await renewKey(vault)).status).toBe(200);
    expect(outcome(await renewKey(vault))).toEqual([409, "keys_used_up"]);
    expect(await keyNumbersOf(vault)).toHaveLength(KEYS_MAX);
    await giveLastKey(last);
    expect(outcome(await renewKey(last))).toEqual([409, "keys_used_up"]);
    expect((await renewKey(last, { replaces: crypto.randomUUID() })).status).toBe(200);
    expect(await keyNumbersOf(last)).toEqual([255]);
  });
});

describe("an earlier key", () => {
  it.each(COLUMNS)("stays while one text of %s.%s names it, and then leaves (20.24)", async (...column) => {
    const { vault } = await fullVault();
    await renewKey(vault);
    for (const each of COLUMNS) await moveTo(vault, each, 2);
    expect((await moveTo(vault, column, 1)).meta.changes).toBeGreaterThan(0);
    await runHourly();
    expect(await keyNumbersOf(vault)).toEqual([2, 1]);
    await moveTo(vault, column, 2);
    await runHourly();
    expect(await keyNumbersOf(vault)).toEqual([2]);
  });

  it("leaves in the hourly run when the Items that named it were written again", async () => {
    const vault = await makeVault();
    const [items, call] = [`/v1/vaults/${vault}/items`, client((await makeToken({ [vault]: "rwd" })).token)];
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await renewKey(vault);
    await renewKey(vault);
    await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: "Again" }] });
    await runHourly();
    expect(await keyNumbersOf(vault)).toEqual([3, 1]);
    expect((await call("DELETE", `${items}/${id}/versions/1`)).status).toBe(204);
    await runHourly();
    expect(await keyNumbersOf(vault)).toEqual([3]);
    expect((await renewKey(vault)).body.earlierKeys).toBe(1);
    expect((await call("GET", `${items}/${id}`)).body.title).toBe("Again");
  });

  it("stays when a damaged text has its number, whether the text can be decrypted or not", async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await renewKey(vault);
    await env.DB.prepare("UPDATE items SET details = substr(details, 1, 30) || 'x' WHERE id = ?").bind(id).run();
    await runHourly();
    expect(await keyNumbersOf(vault)).toEqual([2, 1]);
  });

  it("stays while a text has a form of a later release, which may need the key", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await renewKey(vault);
    for (const header of [Uint8Array.of(2, 1, 2), Uint8Array.of(1, 2, 2)]) {
      for (const each of COLUMNS) await moveTo(vault, each, 2);
      const later = "UPDATE items SET details = ?1 || substr(details, 5) WHERE vault_id = ?2";
      await env.DB.prepare(later).bind(header.toBase64(), vault).run();
      await runHourly();
      expect(await keyNumbersOf(vault)).toEqual([2, 1]);
    }
  });

  it("comes back with no commit that read the vault before the key left", async () => {
    const full = await fullVault();
    await renewKey(full.vault);
    for (const each of COLUMNS) await moveTo(full.vault, each, 2);
    await runHourly();
    expect((await renewKey(full.vault)).body.earlierKeys).toBe(1);
    expect(await keyNumbersOf(full.vault)).toEqual([3, 2]);
  });
});

describe("beside a new key", () => {
  it("a second coordinator whose cache has the rows of before writes under the new key", async () => {
    const full = await fullVault();
    const second = { COORDINATOR: alternatingCoordinators([`${full.vault} again`]) };
    expect((await patch(full, "warm", second)).status).toBe(200);
    await renewKey(full.vault);
    expect((await patch(full, "after", second)).status).toBe(200);
    expect(await underNewest(full.vault)).toEqual(
      expect.arrayContaining([expect.stringMatching(`^items .*${full.kept}.*details`)]),
    );
    expect((await full.call("GET", `${full.items}/${full.kept}`)).body.fields[0].value).toBe("after");
  });

  it("a version with Files that is restored keeps the key of their rows", async () => {
    const full = await fullVault();
    await renewKey(full.vault);
    expect((await full.call("POST", `${full.items}/${full.kept}/versions/3/restore`)).status).toBe(200);
    await runHourly();
    expect(await keyNumbersOf(full.vault)).toEqual([2, 1]);
    expect((await full.call("GET", `${full.items}/${full.kept}/files/${full.file}/content`)).status).toBe(200);
  });

  it("a content that is replaced gets a key of its own, and its row the new key (20.25)", async () => {
    const full = await fullVault();
    const contentKey = async () => {
      const keys = await keysOfVault(full.vault);
      const { place, sealed } = (await sealedTexts(full.vault)).find(
        ({ where }) => where.startsWith("files ") && where.includes(full.file),
      )!;
      return JSON.parse(unwrap(await openText(keys, place, sealed))).key as string;
    };
    const before = await contentKey();
    await renewKey(full.vault);
    expect(await contentKey()).toBe(before);
    expect((await full.upload("PUT", `${full.items}/${full.kept}/files/${full.file}/content`, 10)).status).toBe(200);
    expect(await contentKey()).not.toBe(before);
    expect(await underNewest(full.vault)).toEqual(expect.arrayContaining([expect.stringMatching(/^files /)]));
  });

  it.each([
    ["a File", "f", 0],
    ["a field, with keys that are not cached", "password", 6 * 60_000],
  ])("a reference to %s is resolved, of which every further call finds another key", async (_, part, later) => {
    const full = await fullVault();
    if (later > 0) advanceClock(later);
    let calls = 0;
    const before = async () => {
      if (++calls === 2) await renewKey(full.vault);
    };
    const body = { references: [`op://${full.vault}/kept/${part}`] };
    const { values } = (await full.call("POST", "/v1/resolve", { body, env: { DB: wrapDatabase(env.DB, { before }) } })).body;
    expect([values[0].message, calls > 2]).toEqual([undefined, true]);
  });

  it("webhooks are created and changed under the new key, when the client sends the request again", async () => {
    const full = await fullVault();
    let [armed, pending] = [false, false];
    const DB = wrapDatabase(env.DB, {
      rewrite: (sql) => (/(INSERT INTO|UPDATE) webhooks/.test(sql) && armed ? ((armed = false), (pending = true), sql) : sql),
      before: async () => {
        if (!pending) return;
        pending = false;
        await renewKey(full.vault, { env: { COORDINATOR: alternatingCoordinators([`${full.vault} again`]) } });
      },
    });
    await rebindCoordinator(full.vault, { DB });
    const requests = [
      () => admin("POST", full.hooks, { body: { url: newReceiver().url, enabled: false } }),
      () => admin("PATCH", `${full.hooks}/${full.hook}`, { body: { url: newReceiver().url } }),
    ];
    for (const request of requests) {
      armed = true;
      expect((await request()).headers.get("Item-Vault-Error")).toBe("busy");
      expect((await request()).status).toBe(200);
    }
    await rebindCoordinator(full.vault, {});
    expect(await keyNumbersOf(full.vault)).toEqual([3, 2, 1]);
    expect((await admin("GET", full.hooks)).body.every(({ url }: { url?: string }) => url !== undefined)).toBe(true);
    expect(await underNewest(full.vault)).toEqual(expect.arrayContaining([expect.stringContaining(`webhooks  ${full.hook}`)]));
  });
});

describe("D1", () => {
  it("that fails before or after each call of a renewal leaves the vault whole, with one key more at most", async () => {
    const full = await fullVault();
    const before = await everythingIn(full);
    const replaces = await dataKeyOf(full.vault);
    for (const lost of [false, true])
      for (let step = 1; step < 5; step++) {
        let count = 0;
        const kill = (when: boolean) => {
          if (when && count === step) throw new Error("D1_ERROR: Network connection lost.");
        };
        const DB = wrapDatabase(env.DB, { before: () => (count++, kill(!lost)), after: () => kill(lost) });
        await renewCoordinator(full.vault, { DB });
        await renewKey(full.vault, { replaces });
        await renewCoordinator(full.vault, {});
        await expectSame(full, before);
      }
    expect((await renewKey(full.vault, { replaces })).status).toBe(200);
    expect(await keyNumbersOf(full.vault)).toEqual([2, 1]);
  });

  it("that goes back to before or after a renewal serves everything, and the key is renewed again", async () => {
    const full = await fullVault();
    const replaces = await dataKeyOf(full.vault);
    const moments = [[await snapshotDatabase(), await everythingIn(full)] as const];
    for (const value of ["two", "three"]) {
      await renewKey(full.vault);
      expect((await patch(full, value)).status).toBe(200);
      moments.push([await snapshotDatabase(), await everythingIn(full)]);
    }
    for (const [place, [restore, before]] of [...moments.toReversed(), ...moments].entries()) {
      await restore();
      if (place % 2 === 0) await evictDurableObject(env.COORDINATOR.getByName(full.vault));
      await expectSame(full, before);
      expect((await patch(full, `restored ${place}`)).status).toBe(200);
      expect((await renewKey(full.vault, { replaces })).status).toBe(200);
      await renewKey(full.vault);
      expect((await patch(full, `renewed ${place}`)).status).toBe(200);
      await runHourly();
      expect((await full.call("GET", `${full.items}/${full.kept}`)).body.fields[0].value).toBe(`renewed ${place}`);
      expect((await full.call("GET", `${full.items}/${full.kept}/versions/1`)).status).toBe(200);
    }
  });
});

describe("a damaged list of keys", () => {
  it.each([
    ["characters outside of the BMP", "😀".repeat(20)],
    ["NUL", "01900000\0"],
    ["nothing", ""],
  ])("keeps no vault from its deletion, and no other vault from losing a key: %s at its begin", async (_, text) => {
    const [{ vault }, other] = [await freshVault(), await makeVault()];
    for (const each of [vault, other]) await renewKey(each);
    await env.DB.prepare("UPDATE vaults SET keys = ?2 || substr(keys, 10) WHERE id = ?1").bind(vault, text).run();
    await env.DB.prepare("DELETE FROM replays WHERE vault_id = ?").bind(other).run();
    await runHourly();
    expect(await keyNumbersOf(other)).toEqual([2]);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
  });
});
