import * as z from "zod";
import { logFailure } from "../log.ts";
import { isId, parseId } from "../model/ids.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { type Entry, readEntries, sendEntry } from "../requests/entries.ts";
import { limitToken } from "../requests/rate-limit.ts";
import { answerReferences, type Answered, entriesOf, parseReferences } from "../requests/references.ts";
import { createRequestId } from "../requests/request-id.ts";
import { readWithToken } from "../store/tokens/binding-tokens.ts";
import { openStore, type Store } from "../store/d1/database.ts";
import { checkSchema } from "../store/d1/schema.ts";

/** A call of a service binding (contract 18): what `POST /resolve` does, for a token that the binding names by its id. */

export interface BindingCall {
  readonly env: Env;
  /** The `props` of the binding, as the operator of the other Worker has written them. */
  readonly props: unknown;
  /** Unix milliseconds. */
  readonly now: number;
  /** Keeps the isolate until the log entries are sent. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

const props = z.object({ token: z.string() });

/** The id of the token; `undefined` when the binding names none. */
function tokenOf(given: unknown): string | undefined {
  const parsed = props.safeParse(given);
  const id = parsed.success ? parseId(parsed.data.token) : undefined;
  return id !== undefined && isId(id) ? id : undefined;
}

/**
 * Answers a call and logs it. In: the references, as the other Worker gave them. Errors, in this order: `misconfigured`;
 * `unauthorized`, when the props name no token; 400; `rate`; `unauthorized`, `unavailable`; `schema`. An exception is logged and
 * is `internal`.
 */
export async function answerCall(call: BindingCall, references: unknown): Promise<Result<readonly Answered[]>> {
  try {
    const store = await openStore(call.env, call.now);
    return store.ok ? await answer(call, store.value, references) : store;
  } catch (error) {
    logFailure("A call of a service binding", error);
    return fail("internal");
  }
}

async function answer(call: BindingCall, store: Store, references: unknown): Promise<Result<readonly Answered[]>> {
  const token = tokenOf(call.props);
  if (token === undefined) return fail("unauthorized");
  const asked = parseReferences({ references });
  if (!asked.ok) return asked;
  // Before any I/O. The id alone would count for the token of a client, which the props may also name.
  const limited = await limitToken(call.env, `binding/${token}`, call.now, Math.max(1, asked.value.length));
  if (limited) return limited;
  const answered = await readWithToken(store, token, async (claims) => {
    const schema = await checkSchema(store.db);
    if (!schema.ok) return schema;
    const answers = await answerReferences({ env: call.env, store, claims }, asked.value);
    return answers.ok ? ok({ answers: answers.value, entries: entriesOf(claims, answers.value) }) : answers;
  });
  if (answered.ok) log(call, store, token, answered.value.entries);
  return answered.ok ? ok(answered.value.answers) : answered;
}

/** What stands in the log in place of a client's program. */
const ORIGIN = { userAgent: "service binding", requestIp: "" };

function log({ env, now, waitUntil }: BindingCall, store: Store, actor: string, entries: readonly Entry[]): void {
  const requested = { requestId: createRequestId(now), actor, origin: ORIGIN };
  for (const activity of readEntries(requested, entries, now)) waitUntil(sendEntry(env, store, activity));
}
