import type { Call, Outcome } from "./facts.ts";
import type { Reply } from "../../support/service.ts";

/** Writes down what clients ask and are answered, for check.ts. */

/** What a client is about to ask. */
export type Asked = Pick<Call, "kind" | "item" | "value" | "ifMatch">;

/** Who asks: what became of the revocation of its token. */
export interface Asker {
  readonly revocation: "none" | "asked" | "done";
}

export interface Recorder {
  readonly history: Call[];
  /** Answers that the contract does not know here. */
  readonly strange: string[];
  /** Every Item that somebody knows to have been made. */
  readonly known: Set<string>;
  /** Those that somebody found gone. */
  readonly gone: Set<string>;
  /** Asks one thing. */
  ask(asked: Asked, asker: Asker, send: () => Promise<Reply>): Promise<Reply>;
  /** Asks for the list of all Items: that one is there is a sight, and that one is missing is, too. */
  askList(asker: Asker, send: () => Promise<Reply>): Promise<void>;
}

export function createRecorder(): Recorder {
  const history: Call[] = [];
  const strange: string[] = [];
  const known = new Set<string>();
  const gone = new Set<string>();
  let ticks = 0;

  /** Sends a request. What is sent after the revocation was acknowledged does nothing, whatever it is answered. */
  async function timed(kind: string, asker: Asker, send: () => Promise<Reply>) {
    const start = ++ticks;
    const late = asker.revocation === "done";
    const reply = await send();
    const end = ++ticks;
    const denied = reply.status === 401 && asker.revocation !== "none";
    const outcome = denied || (late && reply.status === 503) ? "refused" : late ? undefined : outcomeOf(reply);
    if (!outcome) strange.push(`${kind}${late ? " with a revoked token" : ""}: ${reply.status} ${reply.text}`);
    return { start, end, reply, outcome: outcome ?? "unknown" };
  }

  return {
    history,
    strange,
    known,
    gone,
    async ask(asked, asker, send) {
      const { start, end, reply, outcome } = await timed(asked.kind, asker, send);
      const { body, text } = reply;
      const item: string | undefined = outcome === "ok" ? (body?.id ?? asked.item) : asked.item;
      if (outcome === "ok" && item !== undefined) known.add(item);
      const seen = outcome === "ok" && body ? { version: body.version as number, content: contentOf(body) } : undefined;
      if (item !== undefined && (outcome === "gone" || (outcome === "ok" && !seen))) gone.add(item);
      history.push({ ...asked, item, start, end, outcome, seen, text: seen && text });
      return reply;
    },
    async askList(asker, send) {
      const missing = new Set(known);
      const { start, end, reply, outcome } = await timed("list", asker, send);
      if (outcome !== "ok") return;
      const read = { kind: "read", start, end } as const;
      for (const { id, version, tags } of reply.body as { id: string; version: number; tags: string[] }[]) {
        missing.delete(id);
        known.add(id);
        history.push({ ...read, item: id, outcome: "ok", seen: { version, content: tags } });
      }
      for (const item of missing) history.push({ ...read, item, outcome: "gone" });
    },
  };
}

/** The tags of an Item; its fields, which lie apart in storage, must tell the same. */
function contentOf({ tags, fields }: { tags: string[]; fields: { id: string; value: string }[] }): readonly string[] {
  const told = fields.map(({ id, value }) => (id === value ? id : `${id} with the value ${value}`));
  return told.join() === tags.join() ? tags : [`torn: the tags ${tags.join()}, the fields ${told.join()}`];
}

function outcomeOf({ status, headers, body }: Reply): Outcome | undefined {
  if (status === 200 || status === 204) return "ok";
  if (status === 404 && (body.message as string).startsWith("item ")) return "gone";
  if (status === 412) return "stale";
  // Only one that does not ask to come back leaves open what became of the write (docs/api.md).
  if (status === 503) return headers.has("Retry-After") ? "refused" : "unknown";
  if (status === 409 && /took effect and was overtaken/.test(body.message)) return "unknown";
  return undefined;
}
