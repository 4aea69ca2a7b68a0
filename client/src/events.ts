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
  /** Is called when the stream stands: from now on no write is missed. */
  readonly onOpen?: () => void;
}

const SILENCE = 45_000; // milliseconds: the service sends a comment every 15 s
const LONGEST_DELAY = 30_000; // milliseconds

/**
 * The writes to vaults, in their order, without a gap. The stream is opened again after a network error, an unavailable service and
 * at its hourly end, until `signal` aborts. Errors: throws an ItemVaultError that a new attempt would not mend, such as 401
 * `unauthorized` and 410 `cursor_gone`.
 */
export async function* followEvents(
  send: Send,
  { vault, after = "latest", signal, onOpen }: EventOptions = {},
): AsyncGenerator<VaultEvent> {
  const path = vault === undefined ? "/v1/events" : `/v1/vaults/${segmentOf(vault)}/events`;
  let cursor: string | undefined;
  for (let failures = 0; ;) {
    if (signal?.aborted) return;
    try {
      for await (const block of openStream(send, path, { after, cursor, signal })) {
        failures = 0;
        if (block.id !== "") cursor = block.id;
        if (block.data === "") onOpen?.();
        else yield { ...(JSON.parse(block.data) as object), type: block.event, cursor: block.id };
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isTemporary(error)) throw error;
    }
    const delay = Math.min(LONGEST_DELAY, 200 * 2 ** failures++) * (0.5 + Math.random() / 2);
    await wait(delay, signal).catch(() => undefined);
  }
}

async function* openStream(
  send: Send,
  path: string,
  { after, cursor, signal }: { after: string; cursor: string | undefined; signal: AbortSignal | undefined },
): AsyncGenerator<ServerSentEvent> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const { body } = await send("GET", path, {
      headers: { Accept: "text/event-stream", ...(cursor === undefined ? {} : { "Last-Event-ID": cursor }) },
      query: { after },
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    const watched = (async function* () {
      for await (const chunk of readChunks(body!)) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE);
        yield chunk;
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

/** An error without an HTTP status is a connection that broke. */
const isTemporary = (error: unknown): boolean =>
  !(error instanceof ItemVaultError) || error.status === 0 || error.status === 429 || error.status >= 500;
