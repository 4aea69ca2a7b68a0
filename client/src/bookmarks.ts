/** The states of the database that a client has seen (contract 8.14), so that it reads its own writes and never goes back. */

export const HEADER = "Item-Vault-Bookmark";

/** How many a request may send. */
const BOOKMARKS_MAX = 8;

export interface Bookmarks {
  /** The value of the header of a request; absent before the first answer with a state. */
  readonly header: () => string | undefined;
  /** Takes over the state of an answer. In: the header of its request. */
  readonly record: (sent: string | undefined, response: Response) => void;
}

export function createBookmarks(): Bookmarks {
  // The service seals them, so that only it can tell which of two is later. An answer includes the states that its request has sent.
  const seen = new Set<string>();
  return {
    header: () => (seen.size === 0 ? undefined : [...seen].join(", ")),
    record(sent = "", { headers, status }) {
      const state = headers.get(HEADER);
      // They may be those of another service at the same address, which cannot open them.
      if (status === 400) seen.clear();
      if (state === null) return;
      for (const text of sent.split(", ")) seen.delete(text);
      seen.add(state);
      for (const text of [...seen].slice(0, -BOOKMARKS_MAX)) seen.delete(text);
    },
  };
}
