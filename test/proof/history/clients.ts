import { type Hooks, sleep } from "../../support/bindings.ts";
import { freshItem } from "../../support/files.ts";
import { admin, type Client, client, makeToken } from "../../support/service.ts";
import type { Kind, PlannedCall } from "./calls.ts";
import { createFaultPlan, faultyDatabase, type FaultPlan, type FaultRates } from "./fault-plan.ts";
import { faultyCoordinators } from "./faulty-coordinators.ts";
import { writeFiles } from "./files.ts";
import { checkEvents, startListener } from "./listener.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { drawKind, requestFor } from "./requests.ts";

/** The load: many clients of a few Items of one vault, with two coordinators and the faults of a plan. Records the history. */

export interface Load {
  readonly seed: number;
  readonly operations: number;
  readonly clients: number;
  /** How many further clients write and read Files of one more Item of the vault, with as many operations each. */
  readonly fileClients: number;
  readonly rates: FaultRates;
  /** Changes the SQL of the coordinators' D1 calls. */
  readonly rewrite?: Hooks["rewrite"];
}

export interface Run {
  readonly vault: string;
  readonly recorder: Recorder;
  readonly plan: FaultPlan;
  /** The names of the coordinators. */
  readonly names: readonly string[];
  /** Descriptions of wrong answers to the clients that write Files. */
  readonly fileErrors: readonly string[];
  /** How the events that a listener got differ from the writes. */
  readonly eventErrors: readonly string[];
}

/** The number of Items to which most requests go. */
const SLOTS = 4;
/** `VERSIONS_KEPT` of wrangler.toml. */
const VERSIONS_KEPT = 10;
/** How often a client retries a write with an Idempotency-Key after a 503. */
const RETRIES = 3;
/** How many 401 answers a client gets before it takes another token. */
const DENIALS = 3;
/** The share of the large Items among those that a POST or PUT writes. */
const LARGE = 0.05;

/** A client with its token. */
interface Session {
  readonly id: string;
  readonly call: Client;
  /** `acknowledged` when the revocation of the token was answered. */
  revocation: "none" | "requested" | "acknowledged";
  denials: number;
  /** Its acknowledged writes that had an Idempotency-Key. */
  readonly keyed: PlannedCall[];
}

export async function runLoad({ seed, operations, clients, fileClients, rates, rewrite }: Load): Promise<Run> {
  const plan = createFaultPlan(seed, rates);
  const fixture = await freshItem();
  const { vault, items } = fixture;
  const recorder = createRecorder(plan.poisoned, fixture.item);
  const names = [vault, `${vault} again`];
  const coordinators = faultyCoordinators(plan, names, rewrite);
  const slots: string[] = [];
  const sessions = new Map<number, Session>();

  const login = async (): Promise<Session> => {
    const { id, token } = await makeToken({ [vault]: "rwd" });
    return { id, call: client(token), revocation: "none", denials: 0, keyed: [] };
  };

  /** Sends one request. */
  async function send(session: Session, planned: PlannedCall, keyed: boolean, bindings: Partial<Env>) {
    const { path, method, body } = requestFor(items, vault, planned);
    const headers = {
      ...(planned.ifMatch !== undefined && { "If-Match": recorder.tagOf(planned.item, planned.ifMatch)! }),
      ...(keyed ? { "Idempotency-Key": planned.value! } : {}),
    };
    const reply = await recorder.record(planned, session, () => session.call(method, path, { body, headers, env: bindings }));
    if (reply.status === 401) session.denials++;
    return reply;
  }

  /** A version of an Item whose content an answer has shown; not the newest one, to restore or destroy it. */
  function drawVersion(item: string, random: number, kind: Kind): number | undefined {
    const shown = recorder.versionsOf(item);
    const from = kind === "look" ? shown : shown.slice(0, -1);
    // Most of the others were trimmed.
    const recent = from.slice(-VERSIONS_KEPT - 2);
    return recent[Math.floor(random * recent.length)];
  }

  /** The slot for a new Item: one whose Item was deleted, or a random one. */
  function nextSlot(): number {
    const free = slots.findIndex((item) => recorder.deletedItems.has(item));
    return free === -1 ? Math.floor(plan.randomFor("slots")() * SLOTS) : free;
  }

  /** Sends a write. After a 503 it retries if the Idempotency-Key makes that safe (contract 10.15). */
  async function write(session: Session, planned: PlannedCall, keyed: boolean, bindings: Partial<Env>) {
    let reply = await send(session, planned, keyed, bindings);
    for (let retries = keyed ? RETRIES : 0; retries > 0 && reply.status === 503; retries--) {
      await sleep(2);
      reply = await send(session, planned, keyed, bindings);
    }
    if (keyed && (reply.status === 200 || reply.status === 204)) session.keyed.push(planned);
    return reply;
  }

  async function work(name: number, steps: number): Promise<void> {
    const random = plan.randomFor(`client ${name}`);
    const bindings = {
      DB: faultyDatabase(plan, { name: `client ${name}` }),
      COORDINATOR: coordinators.namespaceFor(`client ${name}`),
    };
    /** The version of each Item that was seen last with its entity tag. */
    const versions = new Map<string, number>();
    sessions.set(name, await login());
    for (let step = 0; step < steps; step++) {
      if (sessions.get(name)!.denials >= DENIALS) sessions.set(name, await login());
      const session = sessions.get(name)!;
      const [forKind, forItem, forSlot, forIfMatch, forKey, forRepeat, forSize] = [
        random(),
        random(),
        random(),
        random(),
        random(),
        random(),
        random(),
      ];
      const all = [...recorder.knownItems];
      const item = (forSlot < 0.9 ? slots[Math.floor(forItem * slots.length)] : all[Math.floor(forItem * all.length)])!;
      const ifMatch = forIfMatch < 0.3 ? versions.get(item) : undefined;
      const kind = drawKind(forKind);
      const ofDeleted = kind === "undelete" || kind === "purge";
      const deleted = [...recorder.deletedItems];
      const ofItem = (ofDeleted ? deleted[Math.floor(forItem * deleted.length)] : undefined) ?? item;
      const ofVersion = kind === "look" || kind === "restore" || kind === "destroy";
      const source = ofVersion ? drawVersion(item, forSize, kind) : undefined;
      const repeated = session.keyed[Math.floor(forRepeat * session.keyed.length)];
      const large = forSize < LARGE && (kind === "create" || kind === "put");
      if (large) plan.countFault("large Item");
      const value = `${large ? "large-" : ""}c${name}n${step}`;
      if (kind === "list") await recorder.recordList(session, () => session.call("GET", items, { env: bindings }));
      else if (kind === "repeat" && repeated) await send(session, repeated, true, bindings);
      else if (kind === "repeat" || kind === "read" || (ofVersion && source === undefined))
        await send(session, { kind: "read", item }, false, bindings);
      else if (kind === "look" || kind === "versions") await send(session, { kind, item, source }, false, bindings);
      else if (kind === "create") {
        const { status, body } = await write(session, { kind, value }, forKey < 0.6, bindings);
        if (status === 200) slots[nextSlot()] = body.id;
      } else if (ofDeleted || kind === "destroy") {
        const { status } = await write(session, { kind, item: ofItem, value, source }, forKey < 0.6, bindings);
        if (kind === "undelete" && status === 200) slots[nextSlot()] = ofItem;
      } else await write(session, { kind, item, value, ifMatch, source }, forKey < 0.6, bindings);
      const state = recorder.history.findLast((call) => call.item === item && call.state)?.state;
      if (state?.tag !== undefined) versions.set(item, state.version);
      if (name === 0 && step === steps >> 1) await revoke(sessions.get(1));
    }
  }

  async function revoke(session: Session | undefined): Promise<void> {
    if (!session) return;
    session.revocation = "requested";
    const { status } = await admin("DELETE", `/v1/admin/tokens/${session.id}`);
    if (status !== 204) throw new Error(`a token was not revoked: ${status}`);
    session.revocation = "acknowledged";
    plan.countFault("token revoked");
  }

  const first = await login();
  const listener = startListener((await login()).call, vault, { DB: faultyDatabase(plan, { name: "listener" }) });
  for (let n = 0; n < SLOTS; n++) slots[n] = (await send(first, { kind: "create", value: `first${n}` }, false, {})).body.id;
  const share = Math.ceil(operations / (clients + fileClients));
  const writers = Array.from({ length: clients }, (_, name) => work(name, share));
  const load = { fixture, plan, coordinators, clients: fileClients, steps: share };
  const [{ errors: fileErrors }] = await Promise.all([writeFiles(load), ...writers]);
  await coordinators.release();
  await listener.stop();
  const eventErrors = [...listener.unexpected, ...checkEvents(recorder.history, listener.events)];
  await recorder.recordList(first, () => first.call("GET", items));
  for (const item of recorder.knownItems) await send(first, { kind: "read", item }, false, {});
  return { vault, recorder, plan, names, fileErrors, eventErrors };
}
