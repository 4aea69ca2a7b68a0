import type { Item } from "../../src/model/item.ts";
import { login, seedItems } from "../../test/support/seed.ts";
import type { BenchRoute } from "./baselines.ts";
import { counters } from "./variants.ts";

/** Routes that prepare a run and read the counters. They are not measured. */

const CREATE_TABLE =
  "CREATE TABLE IF NOT EXISTS baseline (id TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID";

/** The attributes of a typical Login, so that the Items have a realistic size. */
const ATTRIBUTES: Partial<Item> = {
  tags: ["bench"],
  urls: [{ href: "https://db.example.com", primary: true }],
  fields: [
    { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "ada" },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: "correct horse", entropy: 40 },
  ],
};

export const setupRoutes: Readonly<Record<string, BenchRoute>> = {
  /** Creates the table of the baselines. The migrations create the tables of the service. */
  "/bench/table": async ({ DB }) => {
    await DB.prepare(CREATE_TABLE).run();
    return Response.json("done");
  },

  /** Inserts the Items `Item <from>` to `Item <to - 1>` into a vault. Returns their ids. */
  "/bench/items": async (env, query) => {
    const vault = query.get("vault")!;
    const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
    const items = Array.from({ length: to - from }, (_, index) => login(vault, `Item ${from + index}`, ATTRIBUTES));
    await seedItems(env, vault, items);
    return Response.json(items.map(({ id }) => id));
  },

  /** Returns the R2 key of the first object whose key has the prefix. */
  "/bench/key": async (env, query) => Response.json((await env.FILES.list({ prefix: query.get("prefix")! })).objects[0]!.key),

  /** Returns the counters. Resets them. */
  "/bench/counters": async () => {
    const counted = { ...counters };
    for (const name of Object.keys(counters) as (keyof typeof counters)[]) counters[name] = 0;
    return Response.json(counted);
  },
};
