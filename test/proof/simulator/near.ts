import { ADMIN_TOKEN, createBindings, runWorld } from "./run-world.ts";
import { createCoordinators } from "./coordinators.ts";
import type { Reply } from "./history.ts";
import { createLogQueue } from "./log-queue.ts";
import { createOperator } from "./operator.ts";
import { NO_PLANT, type Plant } from "./plants.ts";
import { createReplicas } from "./replicas.ts";
import { requestOf } from "./requests.ts";
import { type Violation, violation } from "./violations.ts";
import { createGateway } from "./worker.ts";
import type { World } from "./world.ts";

/** Runs with replicas of D1 and stalls of the primary: writers, and readers whose tokens have a `stale` (contract 8.12 to 8.14). */

export interface NearRun {
  readonly violations: readonly Violation[];
  /** The reads of tokens with `stale`, those that a replica has answered, and those that were sent while the primary stalled. */
  readonly reads: number;
  readonly fromReplicas: number;
  readonly duringStalls: Waits;
  /** The reads of tokens without `stale` that were sent while the primary stalled. */
  readonly plainDuringStalls: Waits;
}

/** How many reads were sent, and the milliseconds until each that was answered with an Item. */
interface Waits {
  readonly sent: number;
  readonly answered: readonly number[];
}

/** Seconds: each reader has a token of one of them. */
const STALES = [1, 5, 20, 60, 300];
const ISOLATES = 3;
const WRITERS = 2;
const ITEMS = 6;
/** Milliseconds between two requests of a client, at most. */
const PAUSE = 2_000;
/** Milliseconds between two stalls of the primary, and of a stall, at most. */
const BETWEEN_STALLS = 60_000;
const STALL = 45_000;
/** The share of the reads after which a token is revoked. */
const REVOKED = 0.01;
const TRIES = 1_000;

/** A read that succeeded or was refused, of one Item. */
interface Read {
  readonly client: string;
  readonly token: string;
  readonly item: string;
  readonly stale: number | undefined;
  /** Unix milliseconds. */
  readonly start: number;
  readonly reply: Reply;
  /** The version that the reader has to be shown at least, because it has seen or written it. */
  readonly least: number;
}

/** In: how many reads are sent. */
export const runNear = (seed: number, reads: number, plant: Plant = NO_PLANT): Promise<NearRun> =>
  runWorld(seed, plant, (world) => play(world, reads));

async function play(world: World, most: number): Promise<NearRun> {
  const { clock, random, pick, database, faults } = world;
  const replicas = createReplicas(world);
  world.replicas = replicas;
  const bindings = createBindings(world.seed);
  const coordinators = createCoordinators(world, bindings);
  const history = { calls: [], adminCalls: [], quotas: new Map(), shortages: [], deliveries: new Map() };
  const queue = createLogQueue(world, bindings);
  const parts = { bindings, coordinators, history, queue, operator: createOperator(world, bindings, coordinators) };
  const gateways = Array.from({ length: ISOLATES }, (_, n) => createGateway(world, `isolate ${n}`, parts));
  let sent = 0;

  /** Sends a request until it is carried out. */
  async function send(token: string, method: string, path: string, body?: string): Promise<Reply> {
    const headers = { Authorization: `Bearer ${token}`, "Idempotency-Key": `request-${++sent}`, "User-Agent": "near" };
    for (let tries = 0; tries < TRIES; tries++) {
      const reply = await pick(gateways).send(method, path, { headers, body });
      if (reply && reply.status < 500) return reply;
      await clock.sleep(1_000 * random());
    }
    throw new Error(`${method} ${path} was refused ${TRIES} times`);
  }
  const asAdmin = (method: string, path: string, body?: object) =>
    send(ADMIN_TOKEN, method, `/v1/admin/${path}`, body && JSON.stringify(body));

  const vault: string = (await asAdmin("POST", "vaults", { name: "Vault" })).body.id;
  const issue = async (stale?: number): Promise<{ id: string; token: string }> =>
    (await asAdmin("POST", "tokens", { name: "client", vaults: { [vault]: "rw" }, stale })).body;
  const writer = await issue();
  const write = (item: string | undefined, token: string): Promise<Reply> => {
    const value = `value-${sent}`;
    const { method, path, body } = requestOf({ kind: item === undefined ? "create" : "patch", vault, item, value, keyed: true });
    return send(token, method, path, body);
  };
  const items: string[] = [];
  while (items.length < ITEMS) items.push((await write(undefined, writer.token)).body.id);

  const reads: Read[] = [];
  const stalls: { readonly start: number; readonly end: number }[] = [];
  const isOver = () => reads.length >= most;

  async function runWriter(): Promise<void> {
    while (!isOver()) {
      await clock.sleep(PAUSE * random());
      await write(pick(items), writer.token);
    }
  }

  async function runStalls(): Promise<void> {
    while (!isOver()) {
      await clock.sleep(BETWEEN_STALLS * random());
      const length = STALL * random();
      stalls.push({ start: clock.now(), end: clock.now() + length });
      replicas.stallFor(length);
      await clock.sleep(length);
    }
  }

  /** Reads Items, and writes now and then. In: seconds; whether the client sends the bookmarks of its answers back. */
  async function runReader(client: string, stale: number | undefined, sendsBack: boolean): Promise<void> {
    let token = await issue(stale);
    const seen = new Map<string, number>();
    let bookmark: string | null = null;
    while (!isOver()) {
      await clock.sleep(PAUSE * random());
      const item = pick(items);
      if (random() < 0.2) {
        const written = await write(item, token.token);
        if (written.status !== 200) continue;
        seen.set(item, Math.max(written.body.version, seen.get(item) ?? 0));
        // A client has to send what it had before too: the state of the write has it, because it is that of the primary.
        bookmark = written.bookmark;
        continue;
      }
      const headers = {
        Authorization: `Bearer ${token.token}`,
        ...(sendsBack && bookmark !== null && { "Item-Vault-Bookmark": bookmark }),
      };
      const start = clock.now();
      const reply = await pick(gateways).send("GET", `/v1/vaults/${vault}/items/${item}`, { headers });
      if (!reply) continue;
      const least = sendsBack ? (seen.get(item) ?? 0) : 0;
      reads.push({ client, token: token.id, item, stale, start, reply, least });
      if (reply.status === 200) {
        seen.set(item, Math.max(reply.body.version, seen.get(item) ?? 0));
        ({ bookmark } = reply);
      }
      if (reply.status === 401) token = await issue(stale);
      else if (random() < REVOKED) await asAdmin("DELETE", `tokens/${token.id}`);
    }
  }

  const readers = [...STALES, undefined].flatMap((stale) => [
    runReader(`reader ${stale}`, stale, false),
    runReader(`reader ${stale} with bookmarks`, stale, true),
  ]);
  await Promise.all([...readers, ...Array.from({ length: WRITERS }, runWriter), runStalls()]);
  faults.stop();
  await clock.sleep(120_000);
  const [near, plain] = [reads.filter(({ stale }) => stale !== undefined), reads.filter(({ stale }) => stale === undefined)];
  const waitsDuringStalls = (some: readonly Read[]): Waits => {
    const stalled = some.filter(({ start }) => stalls.some((stall) => start >= stall.start && start < stall.end));
    const answered = stalled.filter(({ reply }) => reply.status === 200).map(({ start, reply }) => reply.time - start);
    return { sent: stalled.length, answered };
  };
  const violations = checkReads(world, reads);
  for (const storage of [...coordinators.storages.values(), parts.operator.storage]) storage.close();
  replicas.close();
  return {
    violations,
    reads: near.length,
    fromReplicas: near.filter(({ reply }) => reply.servedBy === "replica").length,
    duringStalls: waitsDuringStalls(near),
    plainDuringStalls: waitsDuringStalls(plain),
  };

  function checkReads({ timeOf }: World, all: readonly Read[]): Violation[] {
    const versions = new Map<string, { readonly time: number; readonly version: number }[]>();
    const revoked = new Map<string, number>();
    for (const { kind, id, tick, item, version } of database.effects()) {
      if (kind === "revoked") revoked.set(id, timeOf(tick));
      if (item !== null && version !== null) versions.set(item, [...(versions.get(item) ?? []), { time: timeOf(tick), version }]);
    }
    /** The version of an Item that was written before a time. */
    const versionAt = (item: string, time: number): number =>
      versions.get(item)!.findLast((one) => one.time < time)?.version ?? 0;
    return all.flatMap(({ client, token, item, stale, start, reply, least }) => {
      const { status, body, servedBy, age, time } = reply;
      const place = `${client} at ${start}: ${status} ${servedBy} ${age} ${status === 200 ? body.version : reply.failure}`;
      const oldest = start - (stale ?? 0) * 1_000;
      if (status !== 200) {
        const isKnown = status === 503 || (status === 401 && revoked.has(token));
        return isKnown ? [] : [violation("unexpected answer", place)];
      }
      const found: Violation[] = [];
      if ((revoked.get(token) ?? Infinity) < oldest) found.push(violation("accepted although the token was revoked", place));
      if (body.version < versionAt(item, oldest)) found.push(violation("read is older than `stale`", place));
      if (age !== null && body.version < versionAt(item, time - Number(age) * 1_000))
        found.push(violation("read is older than its age", place));
      if (body.version < least) found.push(violation("read goes back behind a bookmark", place));
      if (stale === undefined && (servedBy !== null || age !== null))
        found.push(violation("read of a token without `stale` from a replica", place));
      return found;
    });
  }
}
