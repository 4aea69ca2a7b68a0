import type { Cursor } from "../../model/cursor.ts";
import type { VaultEvent } from "../../model/event.ts";
import { SECOND } from "../../model/time.ts";
import { closeSession, type News, type Session } from "./subscription.ts";
import { waitForNews } from "./wait.ts";

/** Server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) of the vaults of a session. */

export interface Format {
  /** The `id` of an event: where a reader that got it continues. */
  readonly id: (positions: ReadonlyMap<string, Cursor>) => string;
  /** The `data` of an event. */
  readonly event: (vault: string, event: VaultEvent) => object;
  /** The `data` of `vault.deleted` and `reset`. */
  readonly vault: (vault: string) => object;
  /** True if the stream ends with its last vault. */
  readonly endsEmpty: boolean;
}

/** After this time without an event a comment is sent, so that both sides notice a lost connection. */
const HEARTBEAT_MS = 15 * SECOND;

/** The time after which a reader connects again. */
const RECONNECT_MS = 2 * SECOND;

/**
 * Returns the body of a stream. Nothing is read ahead of the client: `pull` is called when it takes more. The stream ends when
 * the token is revoked, with `reset`, and when its time is over. `first` is the news of the first read. `starts` has the position
 * of each vault before them. `seconds` is the time until the end.
 */
export function streamNews(
  session: Session,
  first: readonly News[],
  starts: ReadonlyMap<string, Cursor>,
  seconds: number,
  format: Format,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const end = Date.now() + seconds * SECOND;
  const sent = new Map(starts);
  let queue: readonly News[] | undefined = first;
  const write = (news: readonly News[]) => news.map((one) => textOf(one, sent, format)).join("");

  /** Returns the position, if it has moved past events that the token may not see. */
  function moved(): string {
    const before = format.id(sent);
    for (const [vault, position] of session.positions) sent.set(vault, position);
    return format.id(sent) === before ? "" : `${idLine(sent, format)}\n`;
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const opening = queue && `retry: ${RECONNECT_MS}\n${idLine(sent, format)}\n`;
    const outcome = queue ? { news: queue } : await waitForNews(session, Math.min(end, Date.now() + HEARTBEAT_MS));
    queue = undefined;
    if (session.closed) return;
    const news = "news" in outcome ? outcome.news : [];
    const text = (opening ?? "") + write(news) + moved();
    const isOver = "ended" in outcome || Date.now() >= end || news.some(({ kind }) => kind === "reset");
    if (text !== "" || !isOver) controller.enqueue(encoder.encode(text || ":\n\n"));
    if (!isOver && !(format.endsEmpty && session.positions.size === 0)) return;
    closeSession(session);
    controller.close();
  }

  return new ReadableStream(
    {
      async pull(controller) {
        try {
          await pull(controller);
        } catch (error) {
          closeSession(session);
          throw error;
        }
      },
      cancel: () => closeSession(session),
    },
    { highWaterMark: 0 },
  );
}

const idLine = (sent: ReadonlyMap<string, Cursor>, { id }: Format): string => `id: ${id(sent)}\n`;

const block = (type: string, id: string, data: object): string => `event: ${type}\n${id}data: ${JSON.stringify(data)}\n\n`;

/** Returns the text of news. `sent` has the position of each vault after the sent events, and is updated. */
function textOf(news: News, sent: Map<string, Cursor>, format: Format): string {
  const { kind, vault } = news;
  if (kind === "deleted") {
    sent.delete(vault);
    return block("vault.deleted", idLine(sent, format), format.vault(vault));
  }
  if (kind === "reset") {
    sent.set(vault, news.position);
    return block("reset", idLine(sent, format), format.vault(vault));
  }
  const blocks = news.events.map((event) => {
    const { sequence, at, type } = event;
    sent.set(vault, { sequence, at });
    return block(type, idLine(sent, format), format.event(vault, event));
  });
  return blocks.join("");
}
