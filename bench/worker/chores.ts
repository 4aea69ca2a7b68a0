import type { Item } from "../../src/model/item.ts";
import { login, seedItems } from "../../test/support/seed.ts";
import type { Route } from "./floors.ts";
import { tally } from "./variants.ts";

/** What is not measured: the table of the floors, large vaults, counters. */

const FLOOR = "CREATE TABLE IF NOT EXISTS floor (id TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID";

/** What the demo's Item has too: a name, a password, an address, a tag. */
const FILLED: Partial<Item> = {
  tags: ["bench"],
  urls: [{ href: "https://db.example.com", primary: true }],
  fields: [
    { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "ada" },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: "correct horse", entropy: 40 },
  ],
};

export const chores: Readonly<Record<string, Route>> = {
  /** Creates the table that the floors use. The migrations create the others. */
  "/bench/table": async ({ DB }) => {
    await DB.prepare(FLOOR).run();
    return Response.json("done");
  },

  /** Gives a vault the Items `Item <from>` to `Item <to - 1>`. */
  "/bench/items": async (env, query) => {
    const vault = query.get("vault")!;
    const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
    const items = Array.from({ length: to - from }, (_, index) => login(vault, `Item ${from + index}`, FILLED));
    await seedItems(env, vault, items);
    return Response.json(items.map(({ id }) => id));
  },

  /** The key of the one object whose name begins so. */
  "/bench/key": async (env, query) => Response.json((await env.FILES.list({ prefix: query.get("prefix")! })).objects[0]!.key),

  /** What was counted since the last time. */
  "/bench/tally": async () => {
    const counted = { ...tally };
    for (const name of Object.keys(tally) as (keyof typeof tally)[]) tally[name] = 0;
    return Response.json(counted);
  },
};
