import { createHash } from "node:crypto";

/** Requests to a Worker, and their answers in a form that can be stored and compared. */

export interface Asked {
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

/** Sends one request. A status of an error is an answer too. */
export async function ask(base: string, { method = "GET", path, token, headers, body }: Asked): Promise<Answer> {
  const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(base + path, {
    method,
    body: raw ? body : JSON.stringify(body),
    headers: { ...(raw ? {} : { "Content-Type": JSON_TYPE }), ...headers, Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("Content-Type")?.startsWith(JSON_TYPE) ?? false;
  return { status: response.status, body: bodyOf(bytes, isJson) };
}

/** Sends reads at the same time. Out: an answer for each, by its name. */
export async function askAll(base: string, reads: Readonly<Record<string, Asked>>): Promise<Record<string, Answer>> {
  const answers = Object.entries(reads).map(async ([name, read]) => [name, await ask(base, read)] as const);
  return Object.fromEntries(await Promise.all(answers));
}

/** Sends a request that has to succeed. Out: its JSON. Errors: throws the answer. */
export async function need<Body>(base: string, request: Asked): Promise<Body> {
  const { status, body } = await ask(base, request);
  if (status >= 300) throw new Error(`${request.method ?? "GET"} ${request.path} answered ${status}: ${JSON.stringify(body)}`);
  return body as Body;
}

function bodyOf(bytes: Buffer, isJson: boolean): unknown {
  if (bytes.length === 0) return null;
  return isJson ? JSON.parse(bytes.toString(), comparable) : summary(bytes);
}

/** Stands for a content. */
export const summary = (bytes: Uint8Array) => ({
  bytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

/** The code of a one-time password depends on the time, so only its form is compared. Of an inlined content, the hash is. */
function comparable(key: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (key === "totp") return value.replaceAll(/\d/g, "0");
  return key === "content" ? summary(Buffer.from(value, "base64")) : value;
}
