import { outcomeOf } from "./answers.ts";
import type { AdminCall, Call, History, Isolate, Reply, WriteKind } from "./history.ts";
import type { Reference } from "./reference.ts";
import { type Violation, violation } from "./violations.ts";

/** What the log must have of requests that no commit logs: reads, denials, and what the admin does (contract 13.7, 13.8). */

/** An entry of an export of the log (contract 23.2). */
export interface Exported {
  readonly requestId: string;
  /** The id of the vault, or `admin`. */
  readonly log: string;
  readonly action: string;
  readonly result: string;
  readonly actor: { readonly id: string; readonly userAgent?: string };
  readonly resource: {
    readonly item?: { readonly id: string };
    readonly itemVersion?: number;
    readonly token?: { readonly id: string };
  };
  readonly broken?: string;
}

/** The entry that a request must have, in one text; whether it may have none. */
interface Wanted {
  readonly entry: string;
  readonly optional?: boolean;
}

/** The window of a flush in milliseconds, and the entries that it has at most (src/store/activity/flush.ts). */
const WINDOW = 2_000;
const FLUSH_ENTRIES = 64;

/**
 * Compares the log with the answers: a request has exactly the entry that it must have, and every entry is of a request. Only an isolate
 * that ended may have lost entries: those of its last two seconds, and those of each flush that it had not completed.
 * In: all entries.
 */
export function* checkLog(history: History, reference: Reference, entries: readonly Exported[]): Iterable<Violation> {
  const events = [...reference.events.values()].flat();
  const written = new Set(events.map(({ vault, id }) => `${vault} ${id}`));
  // The commit of a write has logged it, in one row.
  const others = entries.filter(({ log, requestId }) => !written.delete(`${log} ${requestId}`));
  for (const id of written) yield violation("request is not in the log", `the write ${id}`);
  const requested = new Set([...history.calls, ...history.adminCalls].map(({ reply }) => reply?.requestId));
  // Also of one whose issue was not answered.
  const isEnd = ({ requestId, resource, action }: Exported) =>
    !requested.has(requestId) && resource.token !== undefined && action === "DELETE";
  yield* checkEnds(history, reference, others.filter(isEnd));
  const ofRequests = Map.groupBy(
    others.filter((entry) => !isEnd(entry)),
    ({ requestId }) => requestId,
  );
  const lost = new Map<Isolate, Reply[]>();
  for (const { reply, wanted, name } of requestsOf(history, reference)) {
    const [entry, ...repeated] = ofRequests.get(reply.requestId) ?? [];
    ofRequests.delete(reply.requestId);
    if (repeated.length > 0) yield violation("entry is in the log twice", `${name}: ${entry!.requestId}`);
    const isRight = wanted !== undefined && entry !== undefined && wanted.entry === textOf(entry);
    if (entry && !isRight) yield violation("entry of another request", `${name}: ${textOf(entry)}, not ${wanted?.entry}`);
    if (entry || !wanted || wanted.optional) continue;
    if (reply.isolate.ended === undefined) yield violation("request is not in the log", `${name}: ${wanted.entry}`);
    else lost.set(reply.isolate, [...(lost.get(reply.isolate) ?? []), reply]);
  }
  for (const [isolate, replies] of lost) yield* checkLost(isolate, replies);
  yield* checkUnanswered(history, [...ofRequests.values()].flat());
}

/** The requests that were answered, and the entry of each; absent: it must have none. */
function* requestsOf({ calls, adminCalls }: History, reference: Reference) {
  const sent = new Set<unknown>();
  for (const call of calls) {
    const isRepeated = sent.has(call.write);
    if (call.write) sent.add(call.write);
    const { reply } = call;
    if (reply) yield { reply, wanted: wantedOf(call, reply, reference, isRepeated), name: `call ${call.number}` };
  }
  for (const call of adminCalls) yield { reply: call.reply, wanted: wantedOfAdmin(call), name: `${call.method} of the admin` };
}

const OF_ADMIN: Readonly<Record<string, string>> = { GET: "READ", POST: "CREATE", PATCH: "UPDATE", DELETE: "DELETE" };

function wantedOfAdmin({ actor, method, path, reply }: AdminCall): Wanted | undefined {
  // The batch that issues or revokes a token has the entry, also when its answer was lost.
  const isUncertain = reply.status === 503;
  // The log of a token that has ended takes no entry.
  if (reply.status === 401) return { entry: join(actor, "CREATE", "DENY", actor), optional: true };
  if (reply.status >= 300 && !isUncertain) return undefined;
  const action = path.endsWith("/keys") ? "UPDATE" : OF_ADMIN[method];
  return { entry: join("admin", action!, "SUCCESS", actor), optional: isUncertain };
}

/**
 * A token that ended with one above it has one entry, with an id of its own; none where D1 has had no room. In: the entries about tokens that
 * others have issued, and that are of no request.
 */
function* checkEnds({ parents, shortages }: History, { revoked }: Reference, entries: readonly Exported[]): Iterable<Violation> {
  const ends = Map.groupBy(entries, ({ resource }) => resource.token!.id);
  for (const [id, [end, ...repeated]] of ends) {
    if (textOf(end!) !== join("admin", "DELETE", "SUCCESS", "admin") || !revoked.has(id))
      yield violation("entry without a request", `${end!.requestId}: ${textOf(end!)} of the token ${id}`);
    if (repeated.length > 0) yield violation("entry is in the log twice", `the end of the token ${id}`);
  }
  for (const [id, tick] of revoked) {
    const endedAbove = parents.has(id) && revoked.get(parents.get(id)!) === tick;
    if (endedAbove && !ends.has(id) && shortages.length === 1)
      yield violation("request is not in the log", `the end of the token ${id}`);
  }
}

/** The actions of writes that are no updates. */
const ACTIONS: Partial<Record<WriteKind, string>> = {
  create: "CREATE",
  delete: "DELETE",
  "destroy-version": "DELETE",
  "destroy-item": "DELETE",
};

function wantedOf(call: Call, reply: Reply, reference: Reference, isRepeated: boolean): Wanted | undefined {
  const { vault, write, read, actor } = call;
  const outcome = outcomeOf(reply);
  const item = write?.kind === "create" ? undefined : call.item;
  const textFor = (action: string, result: string, version?: number) => join(vault, action, result, actor, item, version);
  if (outcome === "revoked") return { entry: textFor(write ? (ACTIONS[write.kind] ?? "UPDATE") : "READ", "DENY") };
  if (outcome !== "ok" || read?.kind === "events") return undefined;
  if (read) return { entry: textFor("READ", "SUCCESS", reply.body.version) };
  // A write that changed nothing only reads. One that is repeated with its key adds no entry. Its key may be without a record where D1 had no
  // room (contract 10.12): then a later request with it may take effect.
  const effect = reference.applied.get(write!)?.effect;
  if ((effect && effect.tick <= call.end) || reply.body?.version === undefined) return undefined;
  return { entry: textFor("READ", "SUCCESS", reply.body.version), optional: write!.keyed || isRepeated };
}

const textOf = ({ log, action, result, actor, resource, broken }: Exported): string =>
  broken ?? join(log, action, result, actor.id, resource.item?.id, resource.itemVersion);

const join = (log: string, action: string, result: string, actor: string, item?: string, version?: number): string =>
  [log, action, result, "by", actor, item, version].filter((part) => part !== undefined).join(" ");

/** An entry that was older than the window when its isolate ended was in a flush, which was not complete. */
function* checkLost({ ended, waiting }: Isolate, replies: readonly Reply[]): Iterable<Violation> {
  const before = ended! - WINDOW;
  const old = replies.filter(({ time }) => time < before);
  const flushes = [...waiting].filter(({ since }) => since < before).length;
  if (old.length > flushes * FLUSH_ENTRIES)
    yield violation(
      "more entries lost than an isolate may lose",
      `${old.length} from before ${before}, with ${flushes} flushes: ${old.map(({ requestId }) => requestId).join()}`,
    );
}

/** A request without an answer may have an entry. The `User-Agent` of an entry names its call. */
function* checkUnanswered({ calls }: History, entries: readonly Exported[]): Iterable<Violation> {
  const known = new Set<Call>();
  for (const entry of entries) {
    const call = entry.broken === undefined ? calls[Number(entry.actor.userAgent)] : undefined;
    if (!call || call.reply || call.vault !== entry.log || call.actor !== entry.actor.id)
      yield violation("entry without a request", `${entry.requestId}: ${textOf(entry)}`);
    else if (known.has(call)) yield violation("entry is in the log twice", `call ${call.number}: ${entry.requestId}`);
    if (call) known.add(call);
  }
}
