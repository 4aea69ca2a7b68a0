import type { Change } from "../../model/operation.ts";
import { COUNTS, parseCount, parseVersionOf } from "../../model/query.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { loadVersions, loadVersion } from "../../store/items/versions.ts";
import { nextPage } from "../optional-headers.ts";
import { presentVersion, sourceOfVersion } from "../present/history.ts";
import { presentItem } from "../present/items.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { eraseItem, sendItem, writeItem } from "./items.ts";

/** Endpoint 15: the versions of an Item (contract 14). */

interface Page {
  readonly limit: number;
  /** The page has the versions before this one; absent: the newest versions. */
  readonly before: number | undefined;
}

export const listVersions = serveBy({
  parse({ query: { rest } }: ParseCall): Result<Page> {
    const limit = parseCount(rest, COUNTS.VersionLimit);
    if (!limit.ok) return limit;
    return map(parseVersionOf(rest, "cursor"), (before) => ({ limit: limit.value, before }));
  },
  async handle({ c, store, dialect, claims: token, vault, item }: Call, { limit, before }: Page): ReplyTo<"listVersions"> {
    const page = await loadVersions(store, { token, vault }, item, before, limit);
    if (!page.ok) return page;
    const { versions, next } = page.value;
    const link = nextPage(c, next === undefined ? undefined : `limit=${limit}&cursor=${next}`);
    const presented = versions.map((version) => presentVersion(version, dialect));
    return ok({ json: presented, headers: link });
  },
});

export async function getVersion(call: Call): ReplyTo<"getVersion"> {
  const { store, dialect, claims: token, vault, item, version } = call;
  const stored = await loadVersion(store, { token, vault }, item, version);
  if (!stored.ok) return stored;
  return sendItem(call, stored.value, () => presentItem(stored.value, dialect, store.now, sourceOfVersion(version)));
}

export const restoreVersion = serveBy({
  parse: ({ item, version, ifMatch }: ParseCall): Result<Change> => ok({ kind: "restore-version", item, version, ifMatch }),
  handle: writeItem(presentItem, ({ version }) => ["restore-version", String(version)]),
});

export const destroyVersion = serveBy({
  parse: ({ item, version }: ParseCall): Result<Change> => ok({ kind: "destroy-version", item, version }),
  handle: eraseItem(({ version }) => ["destroy-version", String(version)]),
});
