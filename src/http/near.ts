import { openBookmark, sealBookmark } from "../crypto/bookmark.ts";
import type { FailureKind } from "../model/failure.ts";
import { LIMITS } from "../model/limits.ts";
import { invalid, ok, type Result } from "../model/result.ts";
import { SECOND } from "../model/time.ts";
import type { Store } from "../store/d1/database.ts";
import { type KnownStates, recordState, nearDatabase, type Served } from "../store/d1/near-reads.ts";
import type { Context } from "./context.ts";
import type { Caller, Reply } from "./route.ts";

/** Reads that a replica of the database may answer, for a token with `stale` (contract 8.12 to 8.14). */

/** The header with the state of an answer. A client sends it to ask for a state that is no earlier. */
const BOOKMARK = "Item-Vault-Bookmark";

/** The headers of an answer to a near read, and of a write. An error has none of them. */
export const NEAR_HEADERS = ["Item-Vault-Served-By", "Item-Vault-Age", BOOKMARK];

/** The bookmarks of a request; `undefined` if one of them is sealed under a root key that the service does not have. */
export type Bookmarks = readonly string[] | undefined;

/** Parses the bookmarks of a request. Fails with `invalid`. */
export async function parseBookmarks({ c, store }: Caller): Promise<Result<Bookmarks>> {
  const texts = (c.req.header(BOOKMARK) ?? "").split(",").flatMap((text) => text.trim() || []);
  if (texts.length > LIMITS.bookmarks) return invalid(`${BOOKMARK}: has more than ${LIMITS.bookmarks} entries`);
  const bookmarks: string[] = [];
  let complete = true;
  for (const text of texts) {
    const opened = await openBookmark(store.keyring, text);
    if (!opened.ok) return opened;
    if (opened.value === undefined) complete = false;
    else bookmarks.push(opened.value);
  }
  return ok(complete ? bookmarks : undefined);
}

/** Returns true if a replica may answer the caller's reads. */
export const readsNear = ({ claims }: Caller): boolean => claims.stale !== undefined && claims.session === undefined;

/**
 * Refusals that only the primary can make. A replica may lack a token that was just issued, and may still have the row of a
 * content that is gone.
 */
const REFUSED_BY_PRIMARY: ReadonlySet<FailureKind> = new Set(["unauthorized", "integrity"]);

/**
 * Answers a near read. `answer` gets a store whose calls a replica can run. Each call sets the headers with the maximum age of the answer.
 */
export async function answerNear(
  caller: Caller,
  bookmarks: Bookmarks,
  answer: (store: Store) => Promise<Result<Reply>>,
): Promise<Result<Reply>> {
  const served: Served[] = [];
  const result = await answer(openNearStore(caller, bookmarks, served));
  const isSound = result.ok ? !result.value.broken : !REFUSED_BY_PRIMARY.has(result.failure.kind);
  return isSound || served.at(-1)?.by === "primary" ? result : answer(openNearStore(caller, undefined, []));
}

function openNearStore({ c, store, claims }: Caller, bookmarks: Bookmarks, calls: Served[]): Store {
  let latest = 0;
  const clock = (now = Date.now()): number => {
    latest = Math.max(latest, now);
    return now;
  };
  const db = nearDatabase(store.db, {
    stale: claims.stale!,
    bookmarks,
    clock,
    waitUntil: (promise) => c.executionCtx.waitUntil(promise),
    onServed: (served) => {
      calls.push(served);
      clock();
      return setServed(c, store, calls, latest);
    },
  });
  return { ...store, db };
}

/**
 * Sets the headers of the calls made so far. The answer is as old as the oldest call, and shows the state of the last call.
 * `latest` is the latest time shown by the clock, which may have gone back since the answer was chosen.
 */
async function setServed(c: Context, { keyring, now }: Store, calls: readonly Served[], latest: number): Promise<void> {
  // A list that is streamed makes further calls when its headers are sent.
  if (c.finalized) return;
  const at = Math.min(...calls.map((call) => call.at));
  c.header("Item-Vault-Served-By", calls.some(({ by }) => by === "replica") ? "replica" : "primary");
  c.header("Item-Vault-Age", String(Math.ceil((latest - at) / SECOND)));
  c.header(BOOKMARK, await sealBookmark(keyring, calls.at(-1)!.bookmark, now));
}

/** Records the state that a write has made, and sets the header with it. `known` has the states known before the write was sent. */
export async function setBookmark({ c, store }: Caller, known: KnownStates, bookmark: string | undefined): Promise<void> {
  if (bookmark === undefined) return;
  recordState(store.db, bookmark, known, Date.now());
  c.header(BOOKMARK, await sealBookmark(store.keyring, bookmark, store.now));
}
