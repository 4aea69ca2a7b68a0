import { jsonTextOf } from "./error.ts";

/**
 * The lists that a client keeps in memory (contract 11.11). It asks for a list again with its entity tag, and reads a 304 as "the kept
 * list".
 */

/** The characters of all kept lists together, with their names and tags. The least recently used lists are dropped first. */
const CHARACTERS_MAX = 16 * 1024 * 1024;

interface KeptList {
  readonly tag: string;
  /** The JSON. It is parsed for each answer, because a caller may change the parsed list. */
  readonly text: string;
  /** The `Link` of a page, which a 304 does not have. */
  readonly link: string | null;
}

interface AnswerWithList {
  readonly data: unknown;
  readonly headers: Headers;
}

/** Returns a function that reads a list by its name. The function sends the request with further headers. Throws as `send` does. */
export function createKeptLists() {
  const kept = new Map<string, KeptList>();
  let characters = 0;

  const sizeOf = (list: string, { tag, text, link }: KeptList): number =>
    list.length + tag.length + text.length + (link?.length ?? 0);

  function drop(list: string): void {
    const entry = kept.get(list);
    if (entry) characters -= sizeOf(list, entry);
    kept.delete(list);
  }

  function keep(list: string, entry: KeptList): void {
    drop(list);
    if (sizeOf(list, entry) > CHARACTERS_MAX) return;
    kept.set(list, entry);
    characters += sizeOf(list, entry);
    for (const oldest of kept.keys()) if (characters > CHARACTERS_MAX) drop(oldest);
  }

  return async (
    list: string,
    send: (headers: Readonly<Record<string, string>>) => Promise<Response>,
    signal?: AbortSignal,
  ): Promise<AnswerWithList> => {
    const known = kept.get(list);
    const response = await send(known ? { "If-None-Match": known.tag } : {});
    const headers = new Headers(response.headers);
    if (response.status === 304 && known && opaqueTag(headers.get("ETag")) === opaqueTag(known.tag)) {
      keep(list, known);
      if (known.link !== null) headers.set("Link", known.link);
      return { data: JSON.parse(known.text), headers };
    }
    const { text, data } = await jsonTextOf<unknown>(response, signal);
    const tag = headers.get("ETag");
    if (tag === null) drop(list);
    else keep(list, { tag, text, link: headers.get("Link") });
    return { data, headers };
  };
}

/** An entity tag as it is compared (RFC 9110 section 8.8.3.2): a proxy that compresses an answer makes its tag weak. */
const opaqueTag = (tag: string | null): string | undefined => tag?.replace(/^W\//, "");
