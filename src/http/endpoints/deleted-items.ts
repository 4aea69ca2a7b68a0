import { LIMITS } from "../../model/limits.ts";
import type { Change } from "../../model/operation.ts";
import { type Page, parsePage, writeCursor } from "../../model/query.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadDeletedFile, loadDeletedItem, loadDeletedItems } from "../../store/items/deleted-items.ts";
import { nextPage } from "../headers.ts";
import { presentItem } from "../present/items.ts";
import { presentDeletedItem, presentDeletedSummary } from "../present/history.ts";
import type { Call, ParseCall, Reply } from "../route.ts";
import { sendFile } from "./files.ts";
import { reportName, sendItem, writeItem } from "./items.ts";

/** Endpoint 16: the deleted Items of a vault (contract 14). */

export const listDeletedItems = {
  parse: ({ query }: ParseCall): Result<Page> => parsePage(query),
  async handle(call: Call, { limit = LIMITS.page, after }: Page): Promise<Result<Reply>> {
    const { c, store, dialect, claims: token, vault } = call;
    const page = await loadDeletedItems(store, { token, vault }, after, limit);
    if (!page.ok) return page;
    const { items, vaultName, next } = page.value;
    reportName(call, page.value);
    const link = nextPage(c, next && `limit=${limit}&cursor=${writeCursor(next, dialect)}`);
    const presented = items.map((item) => presentDeletedSummary({ ...item, vaultName }, dialect));
    return ok({ response: c.json(presented, 200, link) });
  },
};

export async function getDeletedItem(call: Call): Promise<Result<Reply>> {
  const { store, dialect, claims: token, vault, item: id } = call;
  const item = await loadDeletedItem(store, { token, vault }, id);
  return item.ok ? sendItem(call, item.value, () => presentDeletedItem(item.value, dialect, store.now)) : item;
}

export async function getDeletedContent(call: Call): Promise<Result<Reply>> {
  const { store, claims: token, vault, item } = call;
  return sendFile(call, await loadDeletedFile(store, { token, vault }, item, call.file));
}

/** In: a change of a deleted Item as a whole. */
const write = (kind: "restore-item" | "destroy-item") => ({
  parse: ({ item }: ParseCall): Result<Change> => ok({ kind, item }),
  handle: writeItem(presentItem, () => [kind]),
});

export const restoreItem = write("restore-item");
export const destroyItem = write("destroy-item");
