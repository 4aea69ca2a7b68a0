import { WorkerEntrypoint } from "cloudflare:workers";
import * as z from "zod/mini";
import { failedBy, logRefusal } from "../log.ts";
import { closeShare, openShare } from "../memory-budget.ts";
import { describe, type Description } from "../model/failure.ts";
import { isId, parseId } from "../model/ids.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { createRequestId } from "../request-id.ts";
import { limitToken } from "../requests/rate-limit.ts";
import { type Entry, readEntries, sendEntry } from "../requests/read-entries.ts";
import {
  type Answered,
  answerReferences,
  entriesOf,
  parseReferences,
  presentAnswer,
  type Presented,
} from "../requests/references.ts";
import { openStore, type Store } from "../store/d1/database.ts";
import { checkSchema } from "../store/d1/schema.ts";
import { readWithToken } from "../store/tokens/binding-tokens.ts";

/**
 * The entrypoint that other Workers of the account bind (contract 18), with `props` that name a token: `{ token: "<id>" }`. Each
 * method throws an Error when the call is refused. The error has the `kind` and the `status` of the refusal (contract 4.3).
 */
export class Secrets extends WorkerEntrypoint<Env> {
  /**
   * Returns the value of a reference. A File whose content is not UTF-8 is returned as base64. Throws the refusal of the
   * reference, or of the call.
   */
  async get(reference: string): Promise<string> {
    const [answered] = await this.#answer([reference]);
    const { value } = answered!;
    if ("value" in value) return value.value;
    throw errorOf(value);
  }

  /** Returns the value or refusal of each reference, in request order, as `POST /v1/resolve` does (contract 16.1). */
  async resolve(references: readonly string[]): Promise<readonly Presented[]> {
    return (await this.#answer(references)).map(presentAnswer);
  }

  async #answer(references: unknown): Promise<readonly Answered[]> {
    const waitUntil = (promise: Promise<unknown>) => this.ctx.waitUntil(promise);
    const call = { env: this.env, props: this.ctx.props, now: Date.now(), waitUntil };
    const answers = await answerCall(call, references);
    if (answers.ok) return answers.value;
    const refused = describe(answers.failure);
    if (refused.status >= 500) logRefusal(answers);
    throw errorOf(refused);
  }
}

/** Returns an error with the description's properties, which cross RPC as plain data; the class of an error would not. */
const errorOf = ({ kind, status, message }: Description): Error => Object.assign(new Error(message), { kind, status });

/** A call through a service binding (contract 18). It does the work of `POST /resolve` for the token whose id the binding names. */

interface BindingCall {
  readonly env: Env;
  /** The `props` of the binding, as the operator of the other Worker has written them. */
  readonly props: unknown;
  /** Unix milliseconds. */
  readonly now: number;
  /** Keeps the isolate until the log entries are sent. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

const props = z.object({ token: z.string() });

/** Returns the id of the token, or undefined if the binding names none. */
function tokenOf(given: unknown): string | undefined {
  const parsed = props.safeParse(given);
  const id = parsed.success ? parseId(parsed.data.token) : undefined;
  return id !== undefined && isId(id) ? id : undefined;
}

/**
 * Answers a call and logs it. Refusals are checked in this order: `misconfigured`; `unauthorized` if the props name no token;
 * 400; `rate`; `unauthorized` or `unavailable`; `schema`. An exception is logged and refused with `internal`.
 */
async function answerCall(call: BindingCall, references: unknown): Promise<Result<readonly Answered[]>> {
  const share = openShare(call.now);
  try {
    const store = await openStore(call.env, call.now);
    return store.ok ? await answer(call, { ...store.value, share }, references) : store;
  } catch (error) {
    return failedBy("A call of a service binding", error);
  } finally {
    closeShare(share);
  }
}

async function answer(call: BindingCall, store: Store, references: unknown): Promise<Result<readonly Answered[]>> {
  const token = tokenOf(call.props);
  if (token === undefined) return fail("unauthorized");
  const parsed = parseReferences({ references });
  if (!parsed.ok) return parsed;
  // Before any I/O. The id alone would also match the token of a client, which the props may name.
  const limited = await limitToken(call.env, `binding/${token}`, call.now, Math.max(1, parsed.value.length));
  if (limited) return limited;
  const answered = await readWithToken(store, token, async (claims) => {
    const schema = await checkSchema(store.db);
    if (!schema.ok) return schema;
    const answers = await answerReferences({ env: call.env, store, claims }, parsed.value);
    return answers.ok ? ok({ answers: answers.value, entries: entriesOf(claims, answers.value) }) : answers;
  });
  if (answered.ok) log(call, token, answered.value.entries);
  return answered.ok ? ok(answered.value.answers) : answered;
}

/** The origin that the log shows for calls through a service binding. */
const ORIGIN = { userAgent: "service binding", requestIp: "" };

function log({ env, now, waitUntil }: BindingCall, actor: string, entries: readonly Entry[]): void {
  const requested = { requestId: createRequestId(now), actor, origin: ORIGIN };
  for (const activity of readEntries(requested, entries, now)) waitUntil(sendEntry(env, activity));
}
