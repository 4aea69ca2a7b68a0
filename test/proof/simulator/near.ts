import { hashToken } from "../../../src/crypto/token.ts";
import { removeEarlierKeys } from "../../../src/store/rotation/earlier-keys.ts";
import { createCoordinators } from "./coordinators.ts";
import { connectDatabase } from "./faulty-database.ts";
import type { ServedReply } from "./history.ts";
import { createLocalClocks, WRONG_MAX } from "./local-clocks.ts";
import { createLogQueue } from "./log-queue.ts";
import { type Clients, makeItems, runReader, runWriter, VAULT_NAME } from "./near-clients.ts";
import { checkNearReads, isRefused, isUnavailable, type NearRead } from "./near-rules.ts";
import { followStates } from "./near-states.ts";
import { createOperator } from "./operator.ts";
import { NO_PLANT, type Plant } from "./plants.ts";
import { createReplicas } from "./replicas.ts";
import { ADMIN_TOKEN, createBindings, runWorld } from "./run-world.ts";
import { trueClock } from "./serving.ts";
import { type Violation, violation } from "./violations.ts";
import { createGateway } from "./worker.ts";
import type { World } from "./world.ts";

/**
 * Runs with replicas of D1 and stalls of the primary: writers, and readers whose tokens have a `stale` (contract 8.12 to 8.14). The vault gets new keys
 * meanwhile. The clocks of the isolates and coordinators jump, and D1 is restored to an earlier time.
 */

export interface NearRun {
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<keyof typeof COUNTS | "operations" | "restores" | "clockJumps", number>>;
  /** The reads of tokens with a `stale` that were sent while the primary stalled, by its seconds; `undefined` of tokens without. */
  readonly duringStalls: ReadonlyMap<number | undefined, Waits>;
}

/** How many reads were sent, and the milliseconds until each that was answered with what it asks for. */
export interface Waits {
  readonly sent: number;
  readonly answered: readonly number[];
}

/** What is beside stalls of the primary. */
export interface Beside {
  readonly clocksJump: boolean;
  readonly restores: boolean;
}

export const EVERYTHING: Beside = { clocksJump: true, restores: true };
export const STALLS_ONLY: Beside = { clocksJump: false, restores: false };

/** Seconds: each reader has a token of one of them. */
const STALES = [1, 5, 20, 60, 300];
const ISOLATES = 3;
const WRITERS = 2;
/** Milliseconds after which every allowed state has the Items. */
const SETTLED = 320_000;
/** Milliseconds until the first stall of the primary, between two stalls, and of a stall, at most. */
const FIRST_STALL = 10_000;
const BETWEEN_STALLS = 60_000;
const STALL = 45_000;
/** Milliseconds between two restores of D1, and by how many it goes back, at most. */
const BETWEEN_RESTORES = 60_000;
const WENT_BACK = 60_000;
/** Milliseconds between two new keys of the vault, at most. */
const BETWEEN_RENEWALS = 60_000;
const REST = 120_000;
const TRIES = 1_000;

const isAnswered = (reply: ServedReply): boolean => reply.status === 200 && !reply.isCut;
const isNear = ({ stale }: NearRead): boolean => stale !== undefined;
const met = ({ reply }: NearRead, stall: boolean): boolean =>
  isUnavailable(reply) && reply.serving.troubles.size > 0 && reply.serving.troubles.has("stall") === stall;

/** What is counted of the near reads. A 503 is in a stall when a call of its request to the primary met one. */
const COUNTS = {
  nearReads: () => true,
  byReplica: ({ reply }: NearRead) => isAnswered(reply) && reply.servedBy === "replica",
  byPrimary: ({ reply }: NearRead) => isAnswered(reply) && reply.servedBy === "primary",
  refused: ({ reply }: NearRead) => isRefused(reply),
  unavailableInStalls: (read: NearRead) => met(read, true),
  unavailableByFaults: (read: NearRead) => met(read, false),
  unavailableOutside: ({ reply }: NearRead) => isUnavailable(reply) && reply.serving.troubles.size === 0,
};

/** In: how many requests are sent, also by writers and the admin. */
export const runNear = (seed: number, operations: number, beside = EVERYTHING, plant: Plant = NO_PLANT): Promise<NearRun> =>
  runWorld(seed, plant, (world) => play(world, operations, beside));

async function play(world: World, most: number, beside: Beside): Promise<NearRun> {
  const { clock, random, pick, database, faults } = world;
  const [replicas, clocks] = [createReplicas(world), createLocalClocks(world, ISOLATES)];
  world.replicas = replicas;
  const bindings = createBindings(world.seed);
  const states = followStates(world, bindings.ROOT_KEYS);
  const coordinators = createCoordinators(world, bindings);
  const history = { calls: [], adminCalls: [], parents: new Map(), quotas: new Map(), shortages: [], deliveries: new Map() };
  const queue = createLogQueue(world, bindings);
  const parts = { bindings, coordinators, history, queue, operator: createOperator(world, bindings, coordinators) };
  // No other isolate takes the tokens for tokens of the future, which the service refuses.
  world.startClock = () => ({ ahead: -2 * WRONG_MAX, jumps: [] });
  const admin = createGateway(world, "admin", parts);
  world.startClock = beside.clocksJump ? clocks.start : trueClock;
  const gateways = Array.from({ length: ISOLATES }, (_, n) => createGateway(world, `isolate ${n}`, parts));
  const violations: Violation[] = [];
  const reads: NearRead[] = [];
  const stalls: { readonly start: number; readonly end: number }[] = [];
  let [sent, restores] = [0, 0];
  const isOver = () => reads.length + sent >= most;

  async function send(token: string, method: string, path: string, body?: string): Promise<ServedReply> {
    const headers = { Authorization: `Bearer ${token}`, "Idempotency-Key": `request-${++sent}`, "User-Agent": "near" };
    for (let tries = 0; tries < TRIES; tries++) {
      const gateway = token === ADMIN_TOKEN ? admin : pick(gateways);
      const reply = (await gateway.send(method, path, { headers, body }))!;
      if (reply.serving.fromReplicas > 0)
        violations.push(violation("request that is no near read from a replica", `${method} ${path}`));
      if (reply.status < 500) return reply;
      await clock.sleep(1_000 * random());
    }
    throw new Error(`${method} ${path} was refused ${TRIES} times`);
  }
  const asAdmin = (method: string, path: string, body?: object) =>
    send(ADMIN_TOKEN, method, `/v1/admin/${path}`, body && JSON.stringify(body));

  const vault: string = (await asAdmin("POST", "vaults", { name: VAULT_NAME })).body.id;
  const clients: Clients = {
    world,
    gateways,
    states,
    vault,
    send,
    reads,
    isOver,
    async issue(stale) {
      const { body } = await asAdmin("POST", "tokens", { name: "client", vaults: { [vault]: "rw" }, stale });
      return { ...(body as { id: string; token: string }), hash: await hashToken(body.token) };
    },
    revoke: (id) => asAdmin("DELETE", `tokens/${id}`),
  };
  const writer = await clients.issue();
  const items = await makeItems(clients, writer.token);
  await clock.sleep(SETTLED);

  async function runStalls(): Promise<void> {
    for (let pause = FIRST_STALL; !isOver(); pause = BETWEEN_STALLS) {
      await clock.sleep(pause * random());
      const length = STALL * random();
      stalls.push({ start: clock.now(), end: clock.now() + length });
      replicas.stallFor(length);
      await clock.sleep(length);
    }
  }

  async function runRestores(): Promise<void> {
    while (!isOver()) {
      await clock.sleep(BETWEEN_RESTORES * random());
      const copy = database.copy();
      await clock.sleep(WENT_BACK * random());
      database.restore(copy, random() < 0.5 ? "go on" : "go back");
      restores++;
    }
  }

  /** Gives the vault new keys, and lets earlier ones go that no text needs. */
  async function renewKeys(): Promise<void> {
    while (!isOver()) {
      await clock.sleep(BETWEEN_RENEWALS * random());
      const { body } = await asAdmin("GET", "vaults");
      const { dataKey } = (body as { id: string; dataKey: { id: string } }[]).find(({ id }) => id === vault)!;
      await asAdmin("POST", `vaults/${vault}/keys`, { replaces: dataKey.id });
      await removeEarlierKeys(connectDatabase(world, { name: "hourly", hasEnded: () => false })).catch(() => undefined);
    }
  }

  await Promise.all([
    ...[...STALES, undefined].flatMap((stale) => [
      runReader(clients, items, stale, false),
      runReader(clients, items, stale, true),
    ]),
    ...Array.from({ length: WRITERS }, () => runWriter(clients, items, writer.token)),
    runStalls(),
    renewKeys(),
    ...(beside.restores ? [runRestores()] : []),
    ...(beside.clocksJump ? [clocks.run(isOver)] : []),
  ]);
  faults.stop();
  await clock.sleep(REST);
  const operations = reads.length + sent;
  violations.push(...checkNearReads(reads, states));
  for (const storage of [...coordinators.storages.values(), parts.operator.storage]) storage.close();
  replicas.close();
  const near = reads.filter(isNear);
  const counts = Object.fromEntries(Object.entries(COUNTS).map(([name, counted]) => [name, near.filter(counted).length]));
  return {
    violations,
    counts: { operations, ...(counts as Record<keyof typeof COUNTS, number>), restores, clockJumps: clocks.jumps() },
    duringStalls: waitsDuring(stalls, reads),
  };
}

function waitsDuring(
  stalls: readonly { readonly start: number; readonly end: number }[],
  reads: readonly NearRead[],
): NearRun["duringStalls"] {
  const stalled = reads.filter(({ start }) => stalls.some((stall) => start >= stall.start && start < stall.end));
  const waits = [...Map.groupBy(stalled, ({ stale }) => stale)].map(([stale, some]): [number | undefined, Waits] => {
    const answered = some.filter(({ reply }) => isAnswered(reply));
    return [stale, { sent: some.length, answered: answered.map(({ start, reply }) => reply.time - start) }];
  });
  return new Map(waits);
}
