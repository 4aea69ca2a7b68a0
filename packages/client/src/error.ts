/** What a request failed with. */

export interface Fault {
  /** The kind of failure: the header `Item-Vault-Error` (contract 4.3), `network` without an answer, `http` when another server answered, `host` for a malformed URL. */
  readonly kind: string;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The id of the request in the log of the service. */
  readonly requestId?: string | undefined;
  /** How long the service asks to wait before a retry, in seconds. */
  readonly retryAfter?: number | undefined;
  /** Of the kind `job_exists`: the id of the job that excludes the requested one. */
  readonly job?: string | undefined;
}

/** A failed request. The message is that of the service; it contains neither the token nor a value. */
export class ItemVaultError extends Error implements Fault {
  override readonly name = "ItemVaultError";
  readonly kind: string;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly job: string | undefined;

  constructor(message: string, { kind, status, requestId, retryAfter, job }: Fault) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.job = job;
  }
}

/** Returns the JSON of an answer. Throws an ItemVaultError of kind `network` when it ends early or is no JSON, and the reason of an aborted `signal`. */
export const jsonOf = async <T>(response: Response, signal?: AbortSignal): Promise<T> =>
  (await jsonTextOf<T>(response, signal)).data;

/** As `jsonOf`, with the text that was parsed. */
export async function jsonTextOf<T>(response: Response, signal?: AbortSignal): Promise<{ text: string; data: T }> {
  try {
    const text = await response.text();
    return { text, data: JSON.parse(text) as T };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ItemVaultError) throw error;
    const fault = error instanceof SyntaxError ? "is no JSON, or ended early" : "ended early";
    throw new ItemVaultError(`The answer of the service ${fault}`, { kind: "network", status: 0 });
  }
}

/** The error of an answer that is not a success. Reads the body. */
export async function errorOf(response: Response): Promise<ItemVaultError> {
  // A browser shows 0 in place of the status of a redirect.
  const status = response.status || 302;
  const body = (await response.json().catch(() => undefined)) as { message?: unknown } | undefined;
  const message = typeof body?.message === "string" ? body.message : `The server answered ${status}`;
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new ItemVaultError(message, {
    kind: response.headers.get("Item-Vault-Error") ?? "http",
    status,
    requestId: response.headers.get("Request-Id") ?? undefined,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    job: response.headers.get("Item-Vault-Job") ?? undefined,
  });
}
