import { hasTag } from "@item-vault/model/item";
import { LIMITS } from "@item-vault/model/limits";
import type { HeldVault } from "./copy.ts";

/** Requests that the copy may answer, and its answers. */

export interface Answer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** The vaults that it depends on. */
  readonly vaults: readonly HeldVault[];
  /** The ids of the Items of which it shows a value, for the log. */
  readonly items: readonly string[];
}

export interface LocalRequest {
  readonly method: string;
  /** Decoded, without doubled slashes and without one at the end. */
  readonly path: string;
  /** The text after the `?`, as it was sent. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Only for `POST /v1/resolve`. */
  readonly body?: Buffer | undefined;
}

/** The service's default limit for the content of a File in an answer (contract 9.9), and its limit for the whole answer. In bytes. */
export const INLINE_BYTES_MAX = { file: 100 * 1024, answer: LIMITS.inlined };

type Rest = Partial<Omit<Answer, "body">> & Pick<Answer, "vaults">;

/** A 200 with a JSON text. */
export const json = (body: string, { headers = {}, ...rest }: Rest): Answer => ({
  status: 200,
  headers: { "Content-Type": "application/json", ...headers },
  body,
  items: [],
  ...rest,
});

/** A 304 (RFC 9110 section 15.4.5). */
export const notModified = (headers: Answer["headers"], rest: Rest): Answer => ({
  status: 304,
  headers,
  body: "",
  items: [],
  ...rest,
});

/** Returns true if the client already has the answer with this entity tag, given with its quotes. */
export function isUnmodified({ headers }: LocalRequest, tag: string): boolean {
  const header = headers["if-none-match"];
  return typeof header === "string" && hasTag(header, tag);
}
