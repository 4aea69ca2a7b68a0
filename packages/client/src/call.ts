import { ItemVaultError, jsonOf } from "./error.ts";
import { createKeptLists } from "./kept-lists.ts";
import type { Bytes, Operations } from "./schema.ts";
import type { Policy, RequestOptions, Send } from "./send.ts";

/** Typed requests: every operation of the API's document, by its method and path. */

type Name = keyof Operations;
/** Conditional reads and streams are left to `send` and `events`: their answers have no data of this type. */
type Declared<N extends Name> =
  Operations[N]["headers"] extends Record<string, never>
    ? {}
    : Omit<Operations[N]["headers"], "If-None-Match" | "Last-Event-ID" | "Accept">;
/** A stream does not know its length. */
type Headers<N extends Name> = Declared<N> & (Bytes extends Operations[N]["body"] ? { "Content-Length"?: string } : {});

/** An attribute that is omitted if an operation takes nothing in that place, and optional if it requires nothing there. */
type Place<Key extends string, Value> = [Value] extends [undefined] | [Record<string, never>]
  ? unknown
  : [undefined] extends [Value]
    ? { readonly [K in Key]?: Value }
    : [Partial<Value>] extends [Value]
      ? { readonly [K in Key]?: Value }
      : { readonly [K in Key]: Value };

/** What a request to an operation has, in the shape of the document. */
export type CallOptions<N extends Name> = Place<"path", Operations[N]["path"]> &
  Place<"query", Operations[N]["query"]> &
  Place<"headers", Headers<N>> &
  Place<"body", Operations[N]["body"]> &
  Policy;

export interface Answer<N extends Name> {
  /** The JSON of the answer; `undefined` for a 204; the Response itself where the answer is a file's content or a text. */
  readonly data: string extends Operations[N]["answer"]
    ? Response
    : Bytes extends Operations[N]["answer"]
      ? Response
      : Operations[N]["answer"];
  /** The entity tag, for `If-Match`, where the answer has one. */
  readonly etag: string | undefined;
  readonly headers: Response["headers"];
}

/** A request to an operation, for example `call("GET /v1/vaults/{vault}/items", { path: { vault } })`. Throws as `send` does. */
export type Call = <N extends Name>(
  operation: N,
  ...options: {} extends CallOptions<N> ? [CallOptions<N>?] : [CallOptions<N>]
) => Promise<Answer<N>>;

interface UntypedOptions extends Policy {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: NonNullable<RequestOptions["query"]>;
  readonly headers?: NonNullable<RequestOptions["headers"]>;
  readonly body?: unknown;
}

type Raw = {
  [N in Name]: Bytes extends Operations[N]["answer"] ? (Operations[N]["answer"] extends Bytes ? N : never) : never;
}[Name];

/** The operations whose answer is no JSON. The content of a File or of a backup may be JSON of its own. */
const RAW: Readonly<Record<Raw, true>> = {
  "GET /v1/vaults/{vault}/items/{item}/files/{file}/content": true,
  "GET /v1/vaults/{vault}/deleted-items/{item}/files/{file}/content": true,
  "GET /v1/admin/backups/object": true,
  "GET /v1/events": true,
  "GET /heartbeat": true,
  "GET /metrics": true,
};

const withBytes = ({ headers, ...options }: RequestOptions, body: NonNullable<RequestOptions["body"]>): RequestOptions => ({
  ...options,
  headers: { "Content-Type": "application/octet-stream", ...headers },
  body,
});

/** The operation whose answers are kept, and asked for again by their entity tag. */
const KEPT: Name = "GET /v1/vaults/{vault}/items";

export function createCall(send: Send): Call {
  const readList = createKeptLists();
  return (async (operation: string, { path = {}, body, ...options }: UntypedOptions = {}) => {
    const [method, template] = operation.split(" ") as [string, string];
    const url = template.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(path[name]!));
    if (operation === KEPT) {
      const sendIf = (condition: object) => send(method, url, { ...options, headers: { ...options.headers, ...condition } });
      const { data, headers } = await readList(JSON.stringify([url, options.query]), sendIf, options.signal);
      return { data, etag: headers.get("ETag") ?? undefined, headers };
    }
    const response = await send(method, url, isBytes(body) ? withBytes(options, body) : { ...options, json: body });
    const { headers, status } = response;
    const data: unknown =
      status === 204 ? undefined : Object.hasOwn(RAW, operation) ? response : await jsonOf(response, options.signal);
    return { data, etag: headers.get("ETag") ?? undefined, headers };
  }) as Call;
}

/**
 * Returns one segment of a path. Throws an ItemVaultError for `.` and `..`, which also encoded would lead to another resource (WHATWG
 * URL, section 4.4), and for an empty text.
 */
export function segmentOf(value: string | number): string {
  if (/^\.{0,2}$/.test(String(value)))
    throw new ItemVaultError("An id in the path is malformed", { kind: "invalid", status: 400 });
  return encodeURIComponent(value);
}

const isBytes = (body: unknown): body is NonNullable<RequestOptions["body"]> =>
  typeof body === "string" ||
  body instanceof ArrayBuffer ||
  ArrayBuffer.isView(body) ||
  body instanceof Blob ||
  body instanceof ReadableStream;
