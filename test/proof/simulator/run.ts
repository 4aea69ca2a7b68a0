import { removeEarlierKeys } from "../../../src/store/rotation/earlier-keys.ts";
import { type Outcome, outcomeOf } from "./answers.ts";
import { checkBackups } from "./check-backups.ts";
import { checkLog, type Exported } from "./check-log.ts";
import { checkHistory } from "./check.ts";
import { type Admin, runClient, sendCall, type Token, type Vault } from "./clients.ts";
import { createCoordinators } from "./coordinators.ts";
import type { FaultName } from "./faults.ts";
import { connectDatabase } from "./faulty-database.ts";
import type { History, Read, Reply } from "./history.ts";
import { createLogQueue } from "./log-queue.ts";
import { checkJobs, createOperator } from "./operator.ts";
import { NO_PLANT, type Plant } from "./plants.ts";
import { createRestorer, RESTORER } from "./restores.ts";
import { ADMIN_TOKEN, createBindings, ROOT_KEYS, runWorld, withActiveKey } from "./run-world.ts";
import { sleepWithShortage } from "./shortages.ts";
import { checkKeys, checkStored, sweepContents } from "./stored.ts";
import type { Violation } from "./violations.ts";
import { createGateway } from "./worker.ts";
import type { World } from "./world.ts";

/** Runs the service under one seed: clients of some vaults, with faults, and then the checks. */

export interface Run {
  readonly seed: number;
  /** The requests of the clients. */
  readonly operations: number;
  /** The writes that took effect. */
  readonly effects: number;
  /** The entries that the log has at the end. */
  readonly entries: number;
  /** The snapshots of vaults that the bucket had before old ones were deleted, and the restores that are done. */
  readonly backups: number;
  readonly restores: number;
  readonly faults: ReadonlyMap<FaultName, number>;
  /** How many requests had each outcome. */
  readonly outcomes: ReadonlyMap<Outcome, number>;
  readonly violations: readonly Violation[];
  /** Of everything that happened, in order. */
  readonly hash: string;
}

/** The quota of each vault: Items. */
const QUOTAS = [100_000, 20];
const CLIENTS = 10;
/** The isolates that serve them: the last one most of the clients of each vault, and each other one a client of each. */
const ISOLATES = 5;
/** The share of the kept versions that are read at the end. */
const READ = 0.25;
/** Events of a page, when all are read. */
const PAGE = 200;
/** Entries of a page of the export. */
const EXPORTED = 1_000;
const ADMIN_TRIES = 50;
/** Refusals after which the admin does not try again. */
const DONE: ReadonlySet<string | null> = new Set(["job_exists", "keys_used_up"]);
/** Milliseconds of faults after the last request, in which isolates flush what they have logged and the queue delivers. */
const FLUSHES = 60_000;
/** Milliseconds after which nothing is on its way any more. */
const REST = 120_000;
/** Milliseconds after which a job whose steps failed has ended (src/jobs/engine.ts). */
const JOB_MAX = 45 * 60_000;

/** How often old backups are deleted at the end, and after how many milliseconds those of before are old (BACKUPS_KEPT). */
const PRUNED = 3;
const BETWEEN_PRUNINGS = 36 * 60 * 60_000;

/** Milliseconds from a new key to the hourly run, at most. */
const BEFORE_HOURLY = 10_000;

/** Milliseconds until a deployment has reached the operator, at most. */
const DEPLOYMENT = 20_000;

/** In: how many requests the clients send; a bug to plant. */
export const runSeed = (seed: number, operations: number, plant: Plant = NO_PLANT): Promise<Run> =>
  runWorld(seed, plant, (world) => play(world, operations));

async function play(world: World, operations: number): Promise<Run> {
  const { clock, random, faults, database } = world;
  const bindings = createBindings(world.seed);
  const coordinators = createCoordinators(world, bindings);
  const history: History = {
    calls: [],
    adminCalls: [],
    parents: new Map(),
    quotas: new Map(),
    shortages: [{ tick: 0, running: 0 }],
    deliveries: new Map(),
  };
  const queue = createLogQueue(world, bindings);
  const operator = createOperator(world, bindings, coordinators);
  const parts = { bindings, coordinators, history, queue, operator };
  const jobs: string[] = [];
  const gateway = createGateway(world, "admin", parts);

  /** Sends a request of the admin until it is carried out. A token that is revoked again does not exist, and a job may be under way. */
  async function asAdmin(method: string, path: string, body?: object, to = gateway): Promise<Reply> {
    for (let tries = 0; tries < ADMIN_TRIES; tries++) {
      const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, "User-Agent": "admin" };
      const reply = await to.send(method, `/v1/admin/${path}`, { headers, body: body && JSON.stringify(body) });
      if (reply) history.adminCalls.push({ actor: "admin", method, path, reply, tick: world.tick() });
      if (reply && (reply.status < 300 || reply.status === 404 || DONE.has(reply.failure))) return reply;
      await clock.sleep(100 * random());
    }
    throw new Error(`${method} ${path} was refused ${ADMIN_TRIES} times`);
  }

  /** Asks for a token below another one, once: that may have ended, or have none below it. */
  async function issueBelow({ id: parent, token }: Token, body: object): Promise<Token | undefined> {
    const headers = { Authorization: `Bearer ${token}`, "User-Agent": "admin" };
    const reply = await gateway.send("POST", "/v1/tokens", { headers, body: JSON.stringify(body) });
    if (!reply) return undefined;
    history.adminCalls.push({ actor: parent, method: "POST", path: "tokens", reply, tick: world.tick() });
    if (reply.status !== 200) return undefined;
    history.parents.set(reply.body.id, parent);
    return reply.body;
  }

  const admin: Admin = {
    async issueToken(vault, parent) {
      const body = { name: "client", vaults: { [vault]: "rwd" }, delegate: true };
      return (parent && (await issueBelow(parent, body))) ?? (await asAdmin("POST", "tokens", body)).body;
    },
    revokeToken: async (id) => void (await asAdmin("DELETE", `tokens/${id}`)),
    renameVault: async (id) => void (await asAdmin("PATCH", `vaults/${id}`, { name: `Renamed ${random()}` })),
    backUp: async (vault) => {
      const { status, body } = await asAdmin("POST", "jobs", { kind: "backup", vault });
      if (status === 202) jobs.push(body.id);
    },
    rewrap: () => rewrap(world.pick(Object.keys(ROOT_KEYS))),
    renewKey: async (id) => {
      const listed: { id: string; dataKey: { id: string } }[] = (await asAdmin("GET", "vaults")).body;
      const dataKey = listed.find((vault) => vault.id === id)?.dataKey.id;
      if (dataKey === undefined) return; // a restore of it has failed: checkJobs and the restorer report that
      await asAdmin("POST", `vaults/${id}/keys`, { replaces: dataKey });
      await clock.sleep(BEFORE_HOURLY * random());
      await removeEarlierKeys(connectDatabase(world, { name: "hourly", hasEnded: () => false })).catch(() => undefined);
    },
  };

  /** Makes another root key the active one of the operator, as the end of a deployment does, after a Worker with it has started a job. */
  async function rewrap(active: string): Promise<void> {
    const withKey = createGateway(world, `admin ${active}`, { ...parts, bindings: withActiveKey(bindings, active) });
    const { status, body } = await asAdmin("POST", "jobs", { kind: "rewrap" }, withKey);
    if (status === 202) jobs.push(body.id);
    if (status === 202) clock.after(DEPLOYMENT * random(), () => operator.restart(active));
  }

  const makeVault = async (items: number): Promise<Vault> => {
    const { id } = (await asAdmin("POST", "vaults", { name: "Simulated", quota: { items } })).body;
    history.quotas.set(id, items);
    return { id, items: [], hot: [], deleted: [], versions: new Map(), tags: new Map(), files: [], tokens: new Map() };
  };

  const vaults = await Promise.all(QUOTAS.map(makeVault));
  const more = () => history.calls.length < operations;
  const gateways = Array.from({ length: ISOLATES }, (_, n) => createGateway(world, `isolate ${n}`, parts));
  const clients = vaults.flatMap((vault, v) =>
    Array.from({ length: CLIENTS }, (_, n) => {
      const ofClient = gateways[Math.min(n, ISOLATES - 1)]!;
      return runClient(world, `client-${v}-${n}`, vault, { gateway: ofClient, history, admin, more });
    }),
  );
  const restorer = createRestorer(world, createGateway(world, RESTORER, parts), operator, ADMIN_TOKEN);
  const restoring = restorer.run(more);
  await Promise.all(clients);
  const sent = history.calls.length;

  await sleepWithShortage(world, history, FLUSHES);
  faults.stop();
  await clock.sleep(REST);
  await clock.sleep(JOB_MAX);
  await restoring;
  await clock.sleep(JOB_MAX);
  for (const id of [...vaults.map((vault) => vault.id), ...restorer.vaults]) await admin.renewKey(id);
  await rewrap("k1");
  await clock.sleep(REST);
  await readEverything();
  await clock.sleep(REST);
  while (!queue.isEmpty()) await clock.sleep(REST);
  const entries = await exportLog();
  const effects = effectsOf();
  const arrivals = coordinators.instances.map(({ arrived }) => arrived);
  const { violations, reference } = checkHistory(history, effects, arrivals);
  violations.push(...checkLog(history, reference, entries), ...queue.violations);
  violations.push(...checkStored(world, reference, [...history.quotas.keys()]), ...checkKeys(world));
  violations.push(...checkJobs(operator, jobs, world), ...restorer.violations);
  violations.push(...(await checkBackups(world, bindings.ROOT_KEYS, restorer.vaults)));
  const backups = world.backups.keys().filter((key) => key.endsWith(".manifest")).length;
  await pruneBackups();
  violations.push(...(await sweepContents(world, coordinators)));
  for (const storage of [...coordinators.storages.values(), operator.storage]) storage.close();
  const outcomes = new Map<Outcome, number>();
  for (const { reply } of history.calls) outcomes.set(outcomeOf(reply), (outcomes.get(outcomeOf(reply)) ?? 0) + 1);
  return {
    seed: world.seed,
    operations: sent,
    effects: effects.length,
    entries: entries.length,
    backups,
    restores: restorer.restored(),
    faults: faults.counts,
    outcomes,
    violations,
    hash: world.hash(),
  };

  /** The effects in the vaults that the history knows. */
  function effectsOf() {
    return database.effects().filter(({ vault }) => !restorer.vaults.has(vault));
  }

  /** Deletes old backups, under faults, and looks at the others. */
  async function pruneBackups(): Promise<void> {
    for (let round = 0; round < PRUNED; round++) {
      await clock.sleep(BETWEEN_PRUNINGS);
      for (const { id } of vaults) if (random() < 0.5) await admin.renameVault(id);
      faults.resume();
      await admin.backUp(undefined);
      await clock.sleep(REST);
      faults.stop();
      await clock.sleep(JOB_MAX);
    }
    violations.push(...(await checkBackups(world, bindings.ROOT_KEYS, restorer.vaults)));
  }

  /** Exports the log. Reading it is not logged. */
  async function exportLog(): Promise<Exported[]> {
    const exported: Exported[] = [];
    for (let path: string | undefined = `activity/export?limit=${EXPORTED}`; path !== undefined;) {
      const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, "User-Agent": "admin" };
      const { body, link }: Reply = (await gateway.send("GET", `/v1/admin/${path}`, { headers }))!;
      exported.push(...body.filter(({ log, actor }: Exported) => !restorer.vaults.has(log) && actor?.userAgent !== RESTORER));
      path = link?.slice(link.indexOf("activity/"), link.indexOf(">"));
    }
    return exported;
  }

  /** Reads every Item that there ever was, so that the check compares the last states too. */
  async function readEverything(): Promise<void> {
    const tokens = new Map(await Promise.all(vaults.map(async ({ id }) => [id, await admin.issueToken(id)] as const)));
    const items = new Map(effectsOf().flatMap(({ item, vault }) => (item === null ? [] : [[item, vault] as const])));
    const send = (vault: string, read: Read) => sendCall({ history, world }, gateway, vault, tokens.get(vault)!, read);
    for (const [item, vault] of items) {
      for (const kind of ["item", "versions", "deleted"] as const) {
        const { reply } = await send(vault, { kind, item });
        if (kind !== "versions" || reply?.status !== 200) continue;
        for (const { version } of reply.body) if (random() < READ) await send(vault, { kind: "version", item, version });
      }
    }
    for (const { id } of vaults) {
      let after = "0";
      for (let full = true; full;) {
        const { reply } = await send(id, { kind: "events", after, limit: PAGE });
        after = reply!.body.last;
        full = reply!.body.events.length === PAGE;
      }
    }
  }
}
