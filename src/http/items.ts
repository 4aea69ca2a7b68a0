import { parseFilter } from "../model/filter.ts";
import { ok } from "../model/result.ts";
import { readItem, readSummaries } from "../store/items.ts";
import { entityTag, isCurrent } from "./conditions.ts";
import { enter, enterItem, refuseInOrder } from "./enter.ts";
import { rawQuery } from "./path.ts";
import { presentItem, presentSummary } from "./present.ts";
import type { Handler } from "./route.ts";

/** Endpoints 1 and 3: reading the Items of a vault. */

export const listItems: Handler = async (c) => {
  const entry = await enter(c, "r", "vault_not_found");
  if (!entry.ok) return entry;
  const { store, claims } = entry.value;
  const filter = parseFilter(rawQuery(c.req.url), "items");
  if (!filter.ok) return refuseInOrder(entry.value, undefined, filter);
  const items = await readSummaries(store, entry.value, filter.value);
  return items.ok ? ok(c.json(items.value.map((item) => presentSummary(item, claims.dialect)))) : items;
};

export const getItem: Handler = async (c) => {
  const entry = await enterItem(c, "r", "out_of_scope");
  if (!entry.ok) return entry;
  const { store, claims } = entry.value;
  const item = await readItem(store, entry.value, entry.value.item);
  if (!item.ok) return item;
  const headers = { ETag: entityTag(item.value.version) };
  if (isCurrent(c.req.header("If-None-Match"), item.value.version)) return ok(c.body(null, 304, headers));
  return ok(c.json(presentItem(item.value, claims.dialect, store.now), 200, headers));
};
