import { faultOf, schemaNamed } from "./documented.ts";
import { fetchRaw } from "./service.ts";

/** A client of server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6). */

export interface Received {
  /** The id of the last event, as the client sends it in `Last-Event-ID`. */
  readonly id: string;
  readonly type: string;
  readonly data: any;
}

export interface Stream {
  readonly response: Response;
  /** The next event. Out: `undefined` when the stream has ended. */
  readonly next: () => Promise<Received | undefined>;
  /** Events until one has the given data, or until there are so many. */
  readonly take: (count: number) => Promise<Received[]>;
  /** The id that the client would send now. */
  readonly lastId: () => string;
  /** The comments so far. */
  readonly comments: () => number;
  readonly close: () => Promise<void>;
}

/** Opens a stream. In: the path with its query; the id of the last event that the client got. */
export async function openEvents(
  token: string,
  path: string,
  { lastId, env }: { lastId?: string | undefined; env?: Partial<Env> } = {},
): Promise<Stream> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
  if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
  const response = await fetchRaw("GET", path, { headers, ...(env && { env }) });
  return readEvents(response);
}

/** The events whose data is about a whole vault. */
const NOTICES = new Set(["vault.deleted", "reset"]);

/** Throws when the data of an event is not as in the document: of one vault, of all vaults, or about a whole vault. */
function checkEvent({ type, data }: Received): void {
  const name = NOTICES.has(type) ? "VaultNotice" : "vault" in data ? "VaultEvent" : "Event";
  const fault = faultOf(schemaNamed(name), data);
  if (fault !== undefined) throw new Error(`The document differs from the event ${type}: ${fault}`);
}

export function readEvents(response: Response): Stream {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let [buffer, id, comments] = ["", "", 0];
  const next = async (): Promise<Received | undefined> => {
    for (;;) {
      const end = buffer.indexOf("\n\n");
      if (end < 0) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        buffer += value;
        continue;
      }
      const block = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      const fields = new Map(
        block.split("\n").map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      if (fields.has("")) comments++;
      id = fields.get("id") ?? id;
      const data = fields.get("data");
      if (data === undefined) continue;
      const event = { id, type: fields.get("event")!, data: JSON.parse(data) };
      checkEvent(event);
      return event;
    }
  };
  return {
    response,
    next,
    async take(count) {
      const events: Received[] = [];
      while (events.length < count) events.push((await next())!);
      return events;
    },
    lastId: () => id,
    comments: () => comments,
    close: () => reader.cancel(),
  };
}
