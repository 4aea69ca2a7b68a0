import { retryDelayOf } from "./backoff.ts";
import { segmentOf } from "./call.ts";
import { ItemVaultError } from "./error.ts";
import type { Send } from "./send.ts";
import { parseEventStream, type ServerSentEvent } from "./server-sent-events.ts";
import { wait } from "./wait.ts";

/** A write to a vault (contract 15.2): ids, numbers and times, never a value. */
export interface VaultEvent {
  /** For example `item.updated`; `vault.deleted`; `reset` after a restore of the database: read the Items again. */
  readonly type: string;
  /** Continues after this event: the `after` of a later call. */
  readonly cursor: string;
  /** The id of the vault; in the events of one vault only where the vault is deleted. */
  readonly vault?: string;
  readonly sequence?: number;
  readonly item?: string;
  readonly version?: number;
  readonly actor?: string;
  readonly at?: string;
}

export interface EventOptions {
  /** The id of a vault. Absent: all vaults that the token reads. */
  readonly vault?: string | undefined;
  /** A cursor, `0` or `latest` (contract 15.4). Default `latest`. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether to stay for later events, and to open the stream again when it breaks. Default `true`. */
  readonly follow?: boolean | undefined;
  /** Is called when the stream stands, with the cursor where it stands: from now on no write is missed. */
  readonly onOpen?: (cursor: string) => void;
  /** Is called before the stream is opened again after an error. `delay`: until then, in milliseconds. */
  readonly onRetry?: (error: ItemVaultError, delay: number) => void;
}

const SILENCE = 45_000; // milliseconds: the service sends a comment every 15 s
/** The stream of a vault ends with it (contract 15.8). A stream of all vaults continues (15.9). */
const LAST_EVENT = "vault.deleted";

/**
 * The writes to vaults, in their order, without a gap. The stream is opened again after a network error, an unavailable service and at its
 * hourly end, until `signal` aborts or the one vault is deleted. Without `follow` it ends after the events that there are. Throws an
 * ItemVaultError that a retry cannot fix, such as 401 `unauthorized` and 410 `cursor_gone`; without `follow` every ItemVaultError.
 */
export async function* followEvents(
  send: Send,
  { vault, after = "latest", follow = true, signal, onOpen, onRetry }: EventOptions = {},
): AsyncGenerator<VaultEvent> {
  const path = vault === undefined ? "/v1/events" : `/v1/vaults/${segmentOf(vault)}/events`;
  let cursor: string | undefined;
  for (let failures = 0; ;) {
    if (signal?.aborted) return;
    let failure: ItemVaultError | undefined;
    try {
      for await (const block of openStream(send, path, { after, cursor, follow, signal })) {
        failures = 0;
        if (block.id !== "") cursor = block.id;
        if (block.data === "") onOpen?.(block.id);
        else yield { ...(JSON.parse(block.data) as object), type: block.event, cursor: block.id };
        if (block.event === LAST_EVENT && vault !== undefined) return;
      }
      if (!follow) return;
    } catch (error) {
      if (signal?.aborted) return;
      failure = error instanceof ItemVaultError ? error : broken();
      if (!follow || !isTemporary(failure)) throw failure;
    }
    const delay = retryDelayOf(failures++, failure);
    if (failure) onRetry?.(failure, delay);
    await wait(delay, signal).catch(() => undefined);
  }
}

interface Position {
  readonly after: string;
  readonly cursor: string | undefined;
  readonly follow: boolean;
  readonly signal: AbortSignal | undefined;
}

async function* openStream(
  send: Send,
  path: string,
  { after, cursor, follow, signal }: Position,
): AsyncGenerator<ServerSentEvent> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const { body, headers } = await send("GET", path, {
      headers: { Accept: "text/event-stream", ...(cursor === undefined ? {} : { "Last-Event-ID": cursor }) },
      query: { after, ...(follow ? {} : { wait: 0 }) },
      // A caller that stays reopens the stream, so the request itself is not repeated.
      attempts: follow ? 1 : undefined,
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    if (!headers.get("Content-Type")?.startsWith("text/event-stream")) throw broken();
    const watched = (async function* () {
      for await (const chunk of readChunks(body!)) {
        // While the caller works on the events, nothing is read, and that is no silence of the service.
        clearTimeout(timer);
        yield chunk;
        timer = setTimeout(() => silence.abort(), SILENCE);
      }
    })();
    yield* parseEventStream(watched);
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** The chunks of a stream. Not every browser iterates over a stream itself. */
async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

const broken = () => new ItemVaultError("The connection broke", { kind: "network", status: 0 });

const isTemporary = ({ status }: ItemVaultError): boolean => status === 0 || status === 429 || status >= 500;
