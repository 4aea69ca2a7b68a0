import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ItemVaultError, type RequestOptions } from "@item-vault/client";

/** Server-sent events (WHATWG HTML, section 9.2.6), with connections one after the other. */

export interface ServerEvent {
  /** The cursor after the event; `""` without one. */
  readonly id: string;
  /** `""` for a block that only has an id. */
  readonly type: string;
  readonly data: string;
}

/** The events of a stream. A block that has no data is given with its id, because it says where the stream is. */
export async function* parseEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let event: ServerEvent = NOTHING;
  for await (const line of linesOf(bytes)) {
    if (line !== "") event = withLine(event, line);
    else if (event !== NOTHING) {
      yield event;
      event = NOTHING;
    }
  }
}

const NOTHING: ServerEvent = { id: "", type: "", data: "" };

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield line.replace(/\r$/, "");
  }
}

/** The event with one line more. A comment changes nothing. */
function withLine(event: ServerEvent, line: string): ServerEvent {
  const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line)!;
  if (name === "id") return { ...event, id: value };
  if (name === "event") return { ...event, type: value };
  if (name === "data") return { ...event, data: event.data === "" ? value : `${event.data}\n${value}` };
  return event;
}

export interface Following {
  readonly path: string;
  /** Where to begin: `0`, `latest` or a cursor. */
  readonly after: string;
  /** Whether to connect again when a stream ends. */
  readonly follow: boolean;
  /** Is told of a connection that failed, with the milliseconds until the next one. */
  readonly onFailure: (error: ItemVaultError, delay: number) => Promise<void>;
}

const FIRST_DELAY = 1000;
const LONGEST_DELAY = 30_000;
/** The service sends a comment every 15 seconds (contract 15.7): a connection without one is dead. */
const LONGEST_SILENCE = 45_000;
/** The stream of a vault ends with it (contract 15.8). */
const LAST_EVENT = "vault.deleted";

/**
 * Events, from one connection after the other, without a gap (contract 15.7 to 15.9). Errors: throws an ItemVaultError for a failure
 * that another connection does not mend, for example 401 or 410.
 */
export async function* followEvents(client: Client, { path, after, follow, onFailure }: Following): AsyncGenerator<ServerEvent> {
  let cursor: string | undefined;
  for (let failures = 0; ;) {
    try {
      const query = { after: cursor === undefined ? after : undefined, ...(!follow && { wait: 0 }) };
      const headers = { Accept: "text/event-stream", ...(cursor !== undefined && { "Last-Event-ID": cursor }) };
      for await (const event of parseEvents(connect(client, path, { query, headers }))) {
        cursor = event.id || cursor;
        failures = 0;
        yield event;
        if (event.type === LAST_EVENT && path !== ALL_EVENTS) return;
      }
      if (!follow) return;
      await sleep(FIRST_DELAY);
    } catch (error) {
      const failure = connectionFailure(error);
      if (!failure || !follow) throw failure ?? error;
      const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures++);
      await onFailure(failure, delay);
      await sleep(delay);
    }
  }
}

/** The bytes of one connection, which is closed after a long silence. */
async function* connect(client: Client, path: string, options: RequestOptions): AsyncGenerator<Uint8Array> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(broken()), LONGEST_SILENCE);
  try {
    const { body } = await client.send("GET", path, { ...options, signal: silence.signal });
    for await (const chunk of body!) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
    silence.abort(broken());
  }
}

/** The stream of all vaults goes on when one is deleted (contract 15.9). */
export const ALL_EVENTS = "/v1/events";

/** A failure that another connection may mend. A connection that breaks throws a TypeError. */
function connectionFailure(error: unknown): ItemVaultError | undefined {
  if (error instanceof TypeError) return broken();
  const mends = error instanceof ItemVaultError && (error.status === 0 || error.status === 429 || error.status >= 500);
  return mends ? error : undefined;
}

const broken = () => new ItemVaultError("The connection broke", { kind: "network", status: 0 });
