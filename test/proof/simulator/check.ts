import { type Outcome, outcomeOf, WITHOUT_EFFECT } from "./answers.ts";
import { checkArrivals } from "./check-order.ts";
import { checkEvents, checkRead } from "./check-reads.ts";
import type { Effect } from "./database.ts";
import type { Call, History, Write } from "./history.ts";
import { applyEffects, changesNothing, contentOfState, OF_DELETED, type Reference, type State } from "./reference.ts";
import { contentOf } from "./requests.ts";
import { type Rule, violation, type Violation } from "./violations.ts";

/**
 * Checks a history against the effects that D1 had, in the order of its transactions. The order gives the moment of each
 * write, so the check of linearizability (Herlihy and Wing 1990) needs no search: every answer has to be true at some
 * moment between its request and itself. Out: the violations, and the reference model.
 */
export function checkHistory(
  history: History,
  effects: readonly Effect[],
  arrivals: readonly (readonly string[])[],
): { violations: Violation[]; reference: Reference } {
  const violations: Violation[] = [];
  const reference = applyEffects(history, effects, violations);
  const firstAnswers = new Map<Write, string>();
  const starts = new Map<Write, number>();
  for (const call of history.calls) {
    if (call.write && !starts.has(call.write)) starts.set(call.write, call.start);
    const outcome = outcomeOf(call.reply);
    const report = (rule: Rule) =>
      violations.push(violation(rule, `${describe(call)}: ${call.reply?.status} ${call.reply?.text.slice(0, 300)}`));
    for (const rule of call.write
      ? checkWrite(call, call.write, outcome, reference, history, starts.get(call.write)!)
      : readRules(call, outcome, reference))
      report(rule);
    for (const rule of checkRefusal(call, outcome, reference, history)) report(rule);
    if (!call.write || outcome !== "ok" || mayLackRecord(call, reference, history)) continue;
    const answer = withoutVaultName(call.reply!.text);
    const first = firstAnswers.get(call.write) ?? answer;
    firstAnswers.set(call.write, first);
    if (first !== answer) report("different answers to one write");
  }
  violations.push(...checkAncestors(history));
  const mayLackRoom = (call: Call) => Object.values(LACKS_ROOM).some((lacks) => lacks(call, reference, history));
  violations.push(...checkArrivals(history, arrivals, reference, mayLackRoom));
  return { violations, reference };
}

const describe = ({ number, write, read, item, start, end }: Call): string =>
  `call ${number}, ${write ? `${write.kind} ${write.version} ${write.value} (If-Match ${write.tag})` : JSON.stringify(read)} of ${item} at ticks ${start}–${end}`;

/** The vault of an Item has its present name in each answer, also to a repeated request. */
const withoutVaultName = (text: string): string => text.replace(/("vault":\{"id":"[^"]*"),"name":"[^"]*"\}/, "$1}");

/** No token works after the revocation of one above it was answered. The answers tell, and not the rows. */
function* checkAncestors({ calls, adminCalls, parents }: History): Iterable<Violation> {
  const ends = adminCalls.filter(
    ({ method, path, reply }) => method === "DELETE" && path.startsWith("tokens/") && reply.status === 204,
  );
  const answered = new Map(ends.toReversed().map(({ path, tick }) => [path.slice("tokens/".length), tick]));
  for (const call of calls) {
    if (outcomeOf(call.reply) !== "ok") continue;
    for (let above = parents.get(call.actor); above !== undefined; above = parents.get(above))
      if ((answered.get(above) ?? Infinity) < call.start)
        yield violation("accepted although a token above was revoked", describe(call));
  }
}

/** What a read shows is true at some moment of it. */
function* readRules(call: Call, outcome: Outcome, reference: Reference): Iterable<Rule> {
  if (outcome !== "ok") return;
  if ((reference.revoked.get(call.actor) ?? Infinity) < call.start) yield "accepted although the token was revoked";
  const { read } = call;
  if (read!.kind === "events") yield* checkEvents(call, read!, reference);
  else if (!statesDuring(call, reference).some((state) => checkRead(read!, call.reply!.body, state)))
    yield "read of no current state";
}

/** The states that an Item had at some moment of a call. */
const statesDuring = (call: Pick<Call, "item" | "start" | "end">, { states }: Reference): Generator<State> =>
  during(call, states.get(call.item ?? "") ?? []);

/** In: what was known from one tick until that of the next. */
function* during<T extends { readonly tick: number }>(
  { start, end }: Pick<Call, "start" | "end">,
  known: readonly T[],
): Generator<T> {
  for (let n = known.length - 1; n >= 0; n--) {
    const state = known[n]!;
    if (state.tick < end) yield state;
    if (state.tick <= start) return;
  }
}

/**
 * A write that was acknowledged took effect before its answer, which shows its state; or it changed nothing, with a key at a moment of one
 * of its calls so far. In: when its first call started.
 */
function* checkWrite(
  call: Call,
  write: Write,
  outcome: Outcome,
  reference: Reference,
  history: History,
  first: number,
): Iterable<Rule> {
  const { applied, operations } = reference;
  if (WITHOUT_EFFECT.has(outcome) && [...call.operations].some((id) => operations.has(id))) yield "refused write took effect";
  if (outcome !== "ok" && outcome !== "overtaken") return;
  const done = mayLackRecord(call, reference, history) ? undefined : applied.get(write);
  const shown = call.reply!.body;
  const isShown = (state: State) =>
    outcome === "overtaken" || (state.version === shown?.version && contentOfState(state) === contentOf(shown));
  const possible = statesDuring({ ...call, start: write.keyed ? first : call.start }, reference);
  if (!done && possible.some((state) => changesNothing(state, write) && isShown(state))) return;
  if (!done) {
    yield "acknowledged write is lost";
    return;
  }
  if (done.effect.tick > call.end) yield "effect after its answer";
  const { body } = call.reply!;
  const wasCurrent = statesDuring({ ...call, item: done.effect.item! }, reference).every((state) => state === done.state);
  if (outcome === "overtaken" && wasCurrent) yield "overtaken by no other write";
  if (outcome !== "ok" || !body) return;
  const { item, version } = done.effect;
  const same =
    write.kind === "add-file"
      ? body.name === write.value && body.size === write.value.length
      : body.id === item && body.version === version && contentOf(body) === contentOfState(done.state);
  if (!same) yield "answer of another state";
}

/** A refusal was justified at some moment of the call. */
function* checkRefusal(call: Call, outcome: Outcome, reference: Reference, history: History): Iterable<Rule> {
  const { write, reply, actor, end } = call;
  const states = () => statesDuring(call, reference);
  const matches = ({ version, tick }: State) => reference.tags.mustMatch(call.item!, write!.tag!, version, tick);
  if (outcome === "unexpected") yield "unexpected answer";
  const isCurrent = ({ version }: State) => version !== undefined && version === write?.version;
  if (outcome === "current version" && !(write?.kind === "destroy-version" && states().some(isCurrent)))
    yield "unexpected answer";
  if (outcome === "failed" && !write?.spoiled) yield "unexpected answer";
  if (outcome === "revoked" && !((reference.revoked.get(actor) ?? Infinity) < end))
    yield "refused although the token was not revoked";
  if (outcome === "no room" && !LACKS_ROOM[reply!.failure!]!(call, reference, history)) yield "refused although there was room";
  if (outcome === "missing" && !states().some((state) => isMissing(state, call, reply!.failure!)))
    yield "missing without a deletion";
  if (outcome === "exists" && !states().some(({ version, deleted }) => version !== undefined || deleted))
    yield "refused although the Item-Id was free";
  if (outcome === "precondition failed" && !states().some((state) => state.version !== undefined && !matches(state)))
    yield "refused although If-Match matched";
}

/**
 * Whether the write had no effect yet when the call ended, and D1 may have had no room for the record of its key. Then the answer
 * did not use the key (contract 10.12): the same request may be answered otherwise, or take effect, later.
 */
const mayLackRecord = (call: Call, { applied }: Reference, { shortages }: History): boolean =>
  (applied.get(call.write!)?.effect.tick ?? Infinity) > call.end && hasShortage(call, shortages);

const hasShortage = (call: Call, shortages: History["shortages"]): boolean =>
  during(call, shortages).some(({ running }) => running > 0);

/** By the kind of the failure, whether the service may have refused a write for lack of room, in an attempt at least. */
const LACKS_ROOM: Readonly<Record<string, (call: Call, reference: Reference, history: History) => boolean>> = {
  database_full: (call, _, { shortages }) => hasShortage(call, shortages),
  quota: (call, { counts }, { quotas }) =>
    call.write?.kind === "create" &&
    during(call, counts.get(call.vault) ?? []).some(({ items }) => items >= quotas.get(call.vault)!),
};

/** Whether an Item in this state lacks what a refused request named. */
function isMissing({ version, deleted, files, kept, lacked }: State, { write, read }: Call, failure: string): boolean {
  if (OF_DELETED.has(write?.kind ?? "") || read?.kind === "deleted") return !deleted;
  if (version === undefined || failure === "item_not_found") return version === undefined && failure === "item_not_found";
  if (failure === "file_not_found") return !files.includes(write!.file!.name);
  const named = write?.version ?? (read?.kind === "version" ? read.version : 0);
  return version !== named && (lacked || !kept.has(named));
}
