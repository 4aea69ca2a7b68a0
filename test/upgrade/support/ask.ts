import { createHash } from "node:crypto";

/** Sends requests to a Worker. Requests and answers have a form that can be stored and compared. */

export interface StoredRequest {
  readonly method?: string;
  readonly path: string;
  /** Sent as `Authorization: Bearer`. */
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  /** The body: parsed JSON, or the size and hash of any other content. Null: no body. */
  readonly body: unknown;
}

export const JSON_TYPE = "application/json";

/** Sends one request. Out: the answer, also when it has the status of an error. */
export async function ask(base: string, { method = "GET", path, token, headers, body }: StoredRequest): Promise<Answer> {
  const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(base + path, {
    method,
    body: raw ? body : JSON.stringify(body),
    headers: { ...(raw ? {} : { "Content-Type": JSON_TYPE }), ...headers, Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(120_000),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("Content-Type")?.startsWith(JSON_TYPE) ?? false;
  return { status: response.status, body: bodyOf(bytes, isJson) };
}

/** Sends reads concurrently. Out: the answer to each, by the name of the read. */
export async function askAll(base: string, reads: Readonly<Record<string, StoredRequest>>): Promise<Record<string, Answer>> {
  const answers = Object.entries(reads).map(async ([name, read]) => [name, await ask(base, read)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

/** Sends a request that has to succeed. Out: its JSON. Errors: throws an Error with the status and body of any other answer. */
export async function need<Body>(base: string, request: StoredRequest): Promise<Body> {
  const { status, body } = await ask(base, request);
  if (status >= 300) throw new Error(`${request.method ?? "GET"} ${request.path} answered ${status}: ${JSON.stringify(body)}`);
  return body as Body;
}

function bodyOf(bytes: Buffer, isJson: boolean): unknown {
  if (bytes.length === 0) return null;
  return isJson ? JSON.parse(bytes.toString(), comparable) : summary(bytes);
}

/** The size and hash of a content, which are stored and compared instead of its bytes. */
export const summary = (bytes: Uint8Array) => ({
  bytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

/** A one-time password depends on the time, so zeros replace its digits. A summary replaces an inlined content. */
function comparable(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (key === "purpose") return purposeOf(key, value);
  if (key === "totp") return value.replaceAll(/\d/g, "0");
  return key === "content" ? summary(Buffer.from(value, "base64")) : value;
}

/** Releases before 0.3.0 answer an empty purpose, and later ones leave it out: it is not compared. */
export const purposeOf = (key: string, value: unknown): unknown => (key === "purpose" && value === "" ? undefined : value);
