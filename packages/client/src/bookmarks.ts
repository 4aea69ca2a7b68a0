/** The states of the database that a client has seen (contract 8.14), so that it reads its own writes and never goes back. */

export const HEADER = "Item-Vault-Bookmark";

/** How many a request may send: `bookmarks` in src/model/limits.ts, which this package cannot import. A test compares them. */
const BOOKMARKS_MAX = 8;

export interface Bookmarks {
  /** The value of the header of a request; absent before the first answer with a state. */
  readonly header: () => string | undefined;
  /** Takes over the state of an answer. In: the header of its request. */
  readonly record: (sent: string | undefined, response: Response) => void;
}

export function createBookmarks(): Bookmarks {
  // The service seals them, so that only it can tell which of two is later. An answer includes the states that its request has sent.
  const seen: { readonly text: string; readonly isWrite: boolean }[] = [];
  return {
    header: () => (seen.length === 0 ? undefined : seen.map(({ text }) => text).join(", ")),
    record(sent = "", { headers }) {
      const text = headers.get(HEADER);
      // They may be those of another service at the same address, which cannot open them.
      if (headers.get("Item-Vault-Error") === "bookmark") seen.length = 0;
      if (text === null) return;
      const included = new Set(sent.split(", "));
      const kept = seen.filter((one) => !included.has(one.text));
      kept.push({ text, isWrite: headers.get("Item-Vault-Served-By") === null });
      // A client has to see its own writes: the oldest state of a read is forgotten first.
      const oldestRead = kept.findIndex(({ isWrite }) => !isWrite);
      if (kept.length > BOOKMARKS_MAX) kept.splice(Math.max(0, oldestRead), 1);
      seen.splice(0, seen.length, ...kept);
    },
  };
}
