import type { Change } from "../../model/operation.ts";
import { COUNTS, type Page, parsePage, writeCursor } from "../../model/query.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadDeletedFile, loadDeletedItem, loadDeletedItems } from "../../store/items/deleted-items.ts";
import { nextPage } from "../optional-headers.ts";
import { presentDeletedItem, presentDeletedSummary } from "../present/history.ts";
import { presentItem } from "../present/items.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { sendFile } from "./files.ts";
import { accessOf, eraseItem, reportName, sendItem, writeItem } from "./items.ts";

/** Endpoint 16: the deleted Items of a vault (contract 14). */

export const listDeletedItems = serveBy({
  parse: ({ query }: ParseCall): Result<Page> => parsePage(query),
  async handle(call: Call, { limit = COUNTS.DeletedLimit.default, after }: Page): ReplyTo<"listDeletedItems"> {
    const { c, store, dialect } = call;
    const page = await loadDeletedItems(store, accessOf(call), after, limit);
    if (!page.ok) return page;
    const { items, vaultName, next } = page.value;
    reportName(call, page.value);
    const link = nextPage(c, next && `limit=${limit}&cursor=${writeCursor(next, dialect)}`);
    const presented = items.map((item) => presentDeletedSummary({ ...item, vaultName }, dialect));
    return ok({ json: presented, headers: link });
  },
});

export async function getDeletedItem(call: Call): ReplyTo<"getDeletedItem"> {
  const { store, dialect, claims: token, vault, item: id } = call;
  const item = await loadDeletedItem(store, { token, vault }, id);
  return item.ok ? sendItem(call, item.value, () => presentDeletedItem(item.value, dialect, store.now)) : item;
}

export async function getDeletedFileContent(call: Call): ReplyTo<"getDeletedFileContent"> {
  const { store, claims: token, vault, item } = call;
  return sendFile(call, await loadDeletedFile(store, { token, vault }, item, call.file));
}

export const restoreDeletedItem = serveBy({
  parse: ({ item }: ParseCall): Result<Change> => ok({ kind: "restore-item", item }),
  handle: writeItem(presentItem, () => ["restore-item"]),
});

export const destroyDeletedItem = serveBy({
  parse: ({ item }: ParseCall): Result<Change> => ok({ kind: "destroy-item", item }),
  handle: eraseItem(() => ["destroy-item"]),
});
