import { ok } from "../model/result.ts";
import { readItem } from "../store/items.ts";
import { note } from "./audit.ts";
import { entityTag, isCurrent } from "./conditions.ts";
import { enterItem } from "./enter.ts";
import { presentItem } from "./present.ts";
import type { Handler } from "./route.ts";

/** Endpoint 3: reading an Item. */

export const getItem: Handler = async (c) => {
  const entry = await enterItem(c, "r", "out_of_scope");
  if (!entry.ok) return entry;
  const { store, claims } = entry.value;
  const item = await readItem(store, entry.value, entry.value.item);
  if (!item.ok) return item;
  note(c, { version: item.value.version });
  const headers = { ETag: entityTag(item.value.version) };
  if (isCurrent(c.req.header("If-None-Match"), item.value.version)) return ok(c.body(null, 304, headers));
  return ok(c.json(presentItem(item.value, claims.dialect, store.now), 200, headers));
};
