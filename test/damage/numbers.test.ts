import { beforeAll, expect, it } from "vitest";
import { backUp, rowOf } from "../support/backup.ts";
import { renewCoordinator } from "../support/bindings.ts";
import { restore } from "../support/restores.ts";
import { sample } from "../support/runs.ts";
import { type Client, client, LOGIN, makeToken, makeVault } from "../support/service.ts";
import { copyStorage } from "../verify/support/restore.ts";
import type { Planted } from "../verify/support/vault.ts";
import { CASES, chooseRow, damage, type Row } from "./support/rows.ts";
import { plantWorld, type World } from "./support/world.ts";

/** A number that CHECK forbids damages its row as a whole, and no other one: each column with numbers, beside PUT, DELETE, backup and restore. */

const NUMBERS = CASES.filter(({ fault }) => ["an impossible number", "a negative number"].includes(fault));

let world: World;
let undo: () => Promise<void>;
/** Has no right to the damaged vault. */
let stranger: Client;

beforeAll(async () => {
  world = await plantWorld();
  stranger = client((await makeToken({ [await makeVault()]: "rwd" })).token);
  undo = await copyStorage();
});

/** What a restore of the vault brings back of each Item. */
async function contentOf({ items, item, other }: Planted): Promise<unknown[]> {
  const read = async (id: string) => {
    const { status, body } = await world.uuid("GET", `${items}/${id}`);
    return { id, status, title: body.title, fields: body.fields, files: body.files };
  };
  return [await read(item), await read(other)];
}

/** Replaces both Items and deletes them. Returns the statuses. */
async function replaceAndDelete({ vault, items, item, other }: Planted): Promise<number[]> {
  const statuses: number[] = [];
  for (const id of [item, other]) {
    const body = { ...LOGIN, id, vault: { id: vault } };
    statuses.push((await world.uuid("PUT", `${items}/${id}`, { body })).status);
    statuses.push((await world.uuid("DELETE", `${items}/${id}`)).status);
  }
  return statuses;
}

const TIMES = Object.fromEntries(["created_at", "updated_at"].map((column) => [column, expect.any(Number)]));

/** The row of a vault after its restore: counted again, or where no row tells a number, as that of a new vault. */
const mended = (sound: Row, column: string): object => ({
  ...sound,
  ...(column.startsWith("quota") && { [column]: null }),
  ...(/^(restored|destroyed)$/.test(column) && { [column]: 0 }),
  ...(column === "created" && { created: Number(sound["items"]) + Number(sound["deleted"]) }), // no row tells of an Item that was destroyed
  ...(column in TIMES && TIMES),
});

it.each(sample(NUMBERS, 5).map((one) => [`${one.table}.${one.column}`, one.fault, one] as const))(
  "with a damaged %s, Items are replaced, deleted, backed up and restored, and nobody else reads them: %s",
  async (_column, _fault, one) => {
    const [a, b] = world.vaults;
    const before = [await contentOf(a), await contentOf(b)];
    const sound = (await rowOf(a.vault))!;
    const row = await chooseRow(one, a.vault, world.readers);
    if (!(await damage(one, row))) return; // the key of another row
    try {
      await renewCoordinator(a.vault, {});
      for (const { vault } of world.vaults) expect(await backUp(vault)).toMatchObject({ state: "done" });
      const refused = one.table === "vaults" && row["id"] === a.vault; // the damaged row of a vault is that vault's 500
      expect(await replaceAndDelete(a)).toEqual(refused ? [500, 500, 500, 500] : [200, 204, 200, 204]);
      expect(await replaceAndDelete(b)).toEqual([200, 204, 200, 204]);
      for (const { vault } of world.vaults)
        expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
      const after = [await contentOf(a), await contentOf(b)];
      expect(await rowOf(a.vault)).toMatchObject(one.table === "vaults" ? mended(sound, one.column) : {});
      const isOwn = (id: unknown) => one.table === "items" && row["id"] === id;
      const others = (all: unknown[][]) => all.flat().filter((item) => !isOwn((item as { id: string }).id));
      expect(others(after)).toEqual(others(before));
      expect((await stranger("GET", `${a.items}/${a.item}`)).text).not.toContain("robots");
    } finally {
      await undo();
    }
  },
);
