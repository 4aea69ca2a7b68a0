import { type Hooks, sleep } from "../../support/bindings.ts";
import { type Asked, createRecorder, type Recorder } from "./record.ts";
import { drawKind, requestFor } from "./requests.ts";
import { createPlan, faultyDatabase, type Plan, type Rates } from "./plan.ts";
import { plannedCoordinators } from "./plan-coordinators.ts";
import { admin, type Client, client, makeToken, makeVault } from "../../support/service.ts";

/** Many clients at a few Items of one vault, two coordinators over it, and faults as planned: what each was answered. */

export interface Load {
  readonly seed: number;
  readonly operations: number;
  readonly clients: number;
  readonly rates: Rates;
  /** Changes the SQL of the coordinators. */
  readonly rewrite?: Hooks["rewrite"];
}

export interface Run {
  readonly vault: string;
  readonly recorder: Recorder;
  readonly plan: Plan;
}

/** So many Items are fought for. */
const SLOTS = 4;
/** So often a client comes back with a write of unknown outcome, when it has an Idempotency-Key. */
const TRIES = 3;
/** So often a client learns that its token is revoked before it gets another. */
const DENIALS = 3;

/** A client's token. */
interface Session {
  readonly id: string;
  readonly call: Client;
  /** `done` when its revocation was acknowledged. */
  revocation: "none" | "asked" | "done";
  denials: number;
  /** Its acknowledged writes that had an Idempotency-Key. */
  readonly keyed: Asked[];
}

export async function runLoad({ seed, operations, clients, rates, rewrite }: Load): Promise<Run> {
  const plan = createPlan(seed, rates);
  const recorder = createRecorder();
  const vault = await makeVault();
  const items = `/v1/vaults/${vault}/items`;
  const coordinators = plannedCoordinators(plan, [vault, `${vault} again`], rewrite);
  const slots: string[] = [];
  const sessions = new Map<number, Session>();

  const login = async (): Promise<Session> => {
    const { id, token } = await makeToken({ [vault]: "rw" });
    return { id, call: client(token), revocation: "none", denials: 0, keyed: [] };
  };

  /** Sends one request. */
  async function ask(session: Session, asked: Asked, keyed: boolean, bindings: Partial<Env>) {
    const { path, method, body } = requestFor(items, vault, asked);
    const headers = {
      ...(asked.ifMatch === undefined ? {} : { "If-Match": `"${asked.ifMatch}"` }),
      ...(keyed ? { "Idempotency-Key": asked.value! } : {}),
    };
    const reply = await recorder.ask(asked, session, () => session.call(method, path, { body, headers, env: bindings }));
    if (reply.status === 401) session.denials++;
    return reply;
  }

  /** The slot for a new Item: one whose Item is gone, or any. */
  function nextSlot(): number {
    const free = slots.findIndex((item) => recorder.gone.has(item));
    return free === -1 ? Math.floor(plan.dice("slots")() * SLOTS) : free;
  }

  /** As a client should: after a 503 it comes back, if its key makes that safe. */
  async function write(session: Session, asked: Asked, keyed: boolean, bindings: Partial<Env>) {
    let reply = await ask(session, asked, keyed, bindings);
    for (let again = keyed ? TRIES : 0; again > 0 && reply.status === 503; again--) {
      await sleep(2);
      reply = await ask(session, asked, keyed, bindings);
    }
    if (keyed && (reply.status === 200 || reply.status === 204)) session.keyed.push(asked);
    return reply;
  }

  async function work(name: number, steps: number): Promise<void> {
    const random = plan.dice(`client ${name}`);
    const bindings = {
      DB: faultyDatabase(plan, { name: `client ${name}` }),
      COORDINATOR: coordinators.seenBy(`client ${name}`),
    };
    /** The versions that were seen last. */
    const versions = new Map<string, number>();
    sessions.set(name, await login());
    for (let step = 0; step < steps; step++) {
      if (sessions.get(name)!.denials >= DENIALS) sessions.set(name, await login());
      const session = sessions.get(name)!;
      const [what, where, old, conditional, key, which] = [random(), random(), random(), random(), random(), random()];
      const all = [...recorder.known];
      const item = (old < 0.9 ? slots[Math.floor(where * slots.length)] : all[Math.floor(where * all.length)])!;
      const ifMatch = conditional < 0.3 ? versions.get(item) : undefined;
      const value = `c${name}n${step}`;
      const again = session.keyed[Math.floor(which * session.keyed.length)];
      const kind = drawKind(what);
      if (kind === "list") await recorder.askList(session, () => session.call("GET", items, { env: bindings }));
      else if (kind === "again" && again) await ask(session, again, true, bindings);
      else if (kind === "again" || kind === "read") await ask(session, { kind: "read", item }, false, bindings);
      else if (kind === "create") {
        const { status, body } = await write(session, { kind, value }, key < 0.6, bindings);
        if (status === 200) slots[nextSlot()] = body.id;
      } else await write(session, { kind, item, value, ifMatch }, key < 0.6, bindings);
      const seen = recorder.history.findLast((call) => call.item === item && call.seen)?.seen;
      if (seen) versions.set(item, seen.version);
      if (name === 0 && step === steps >> 1) await revoke(sessions.get(1));
    }
  }

  async function revoke(session: Session | undefined): Promise<void> {
    if (!session) return;
    session.revocation = "asked";
    const { status } = await admin("DELETE", `/v1/admin/tokens/${session.id}`);
    if (status !== 204) throw new Error(`a token was not revoked: ${status}`);
    session.revocation = "done";
    plan.count("token revoked");
  }

  const first = await login();
  for (let n = 0; n < SLOTS; n++) slots[n] = (await ask(first, { kind: "create", value: `first${n}` }, false, {})).body.id;
  const share = Math.ceil(operations / clients);
  await Promise.all(Array.from({ length: clients }, (_, name) => work(name, share)));
  await recorder.askList(first, () => first.call("GET", items));
  for (const item of recorder.known) await ask(first, { kind: "read", item }, false, {});
  return { vault, recorder, plan };
}
