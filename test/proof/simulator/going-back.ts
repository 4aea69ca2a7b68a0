import { newestKeyId } from "../../../src/crypto/key-list.ts";
import { removeEarlierKeys } from "../../../src/store/rotation/earlier-keys.ts";
import { checkBackups } from "./check-backups.ts";
import { createCoordinators } from "./coordinators.ts";
import type { Copy } from "./database.ts";
import { connectDatabase } from "./faulty-database.ts";
import { createLogQueue } from "./log-queue.ts";
import { createOperator } from "./operator.ts";
import { NO_PLANT, type Plant } from "./plants.ts";
import { requestOf } from "./requests.ts";
import { ADMIN_TOKEN, createBindings, runWorld, withActiveKey } from "./run-world.ts";
import { checkKeys } from "./stored.ts";
import { type Violation, violation } from "./violations.ts";
import { createGateway } from "./worker.ts";
import { never, type World } from "./world.ts";

/**
 * Runs in which D1 goes back to an earlier time while a job is under way, as Time Travel lets it. The reference model knows no such thing,
 * so these runs have a few writers without a history, and rules of their own.
 */

export const KINDS = ["backup", "restore", "rewrap"] as const;
export type Kind = (typeof KINDS)[number];

export interface GoingBack {
  readonly violations: readonly Violation[];
  /** How the job ended during which D1 went back, and why it failed. */
  readonly ended: string;
}

const ITEMS = 20;
const WRITERS = 4;
/** Requests after which the writers rest: a job whose steps fail waits for up to half an hour, in which the vault would grow without end. */
const REQUESTS_MAX = 2_000;
/** Milliseconds between two copies of D1, how many are kept, and until D1 goes back, at most. */
const COPY = 300;
const COPIES = 12;
const UNTIL = { backup: 1_500, restore: 1_500, rewrap: 60 };
const PAUSE = 20;
/** Milliseconds within which the answer to a call of D1 has arrived, and the job has been looked at. */
const ANSWER = 40;
const REST = 120_000;
const TRIES = 1_000;

/** Why a job of each kind may fail: by a fault, or because D1 went back. */
const FAULTS = ["unavailable", "uncertain", "database_full", "misconfigured", "database_restored"];
const REASONS: Readonly<Record<Kind, readonly string[]>> = {
  backup: FAULTS,
  rewrap: FAULTS,
  // D1 has the vault again, which the job had deleted.
  restore: [...FAULTS, "backup_newer"],
};

export const runGoingBack = (seed: number, kind: Kind, plant: Plant = NO_PLANT): Promise<GoingBack> =>
  runWorld(seed, plant, (world) => play(world, kind));

async function play(world: World, kind: Kind): Promise<GoingBack> {
  const { clock, random, pick, database, faults } = world;
  const before = createBindings(world.seed);
  const coordinators = createCoordinators(world, withActiveKey(before, "k2"));
  const history = { calls: [], adminCalls: [], parents: new Map(), quotas: new Map(), shortages: [], deliveries: new Map() };
  const parts = {
    coordinators,
    history,
    queue: createLogQueue(world, before),
    operator: createOperator(world, before, coordinators),
  };
  parts.operator.restart("k2");
  // The vault and its token are made under k1, and everything after it under k2: then a rewrap has rows to write, and no other ones appear.
  const first = createGateway(world, "first", { ...parts, bindings: before });
  const gateway = createGateway(world, "second", { ...parts, bindings: withActiveKey(before, "k2") });
  let sent = 0;

  async function send(token: string, method: string, path: string, body?: string, to = gateway) {
    const headers = { Authorization: `Bearer ${token}`, "Idempotency-Key": `request-${++sent}`, "User-Agent": "writer" };
    for (let tries = 0; tries < TRIES; tries++) {
      const reply = await to.send(method, path, { headers, body });
      if (reply && reply.status < 500 && reply.failure !== "job_exists") return reply;
      await clock.sleep(1_000 * random());
    }
    throw new Error(`${method} ${path} was refused ${TRIES} times`);
  }
  const asAdmin = (path: string, body: object, to = gateway) =>
    send(ADMIN_TOKEN, "POST", `/v1/admin/${path}`, JSON.stringify(body), to);

  const vault: string = (await asAdmin("vaults", { name: "Vault" }, first)).body.id;
  const { token } = (await asAdmin("tokens", { name: "writer", vaults: { [vault]: "rwd" } }, first)).body;
  const items: string[] = [];
  const write = async (what: "create" | "patch"): Promise<void> => {
    const item = what === "patch" ? pick(items) : undefined;
    const { method, path, body } = requestOf({ kind: what, vault, item, value: `value-${sent}`, keyed: true });
    const made = await send(token, method, path, body);
    if (what === "create" && made.status === 200) items.push(made.body.id);
  };
  while (items.length < ITEMS) await write("create");

  const jobOf = (id: string) =>
    parts.operator.storage.exec("SELECT state, reason FROM jobs WHERE id = ?", id)[0] as { state: string; reason: string | null };
  const hasEnded = (id: string): boolean => ["done", "failed", "stopped"].includes(jobOf(id).state);
  const keysOf = () => database.query<{ keys: string }>("SELECT keys FROM vaults WHERE id = ?", vault).map(({ keys }) => keys)[0];

  async function renewKey(): Promise<void> {
    const keys = keysOf();
    if (keys !== undefined) await asAdmin(`vaults/${vault}/keys`, { replaces: newestKeyId(keys) });
    await removeEarlierKeys(connectDatabase(world, { name: "hourly", hasEnded: () => false })).catch(() => undefined);
  }

  /** Returns the id of the job. */
  async function start(): Promise<string> {
    const input = { backup: { vault }, restore: { vault, overwrite: true }, rewrap: {} }[kind];
    const { status, text, body } = await asAdmin("jobs", { kind, ...input });
    if (status !== 202) throw new Error(`the job was refused: ${text}`);
    return body.id;
  }
  const waitFor = async (id: string): Promise<void> => {
    while (!hasEnded(id)) await clock.sleep(PAUSE);
  };

  if (kind === "restore") {
    const { body } = await asAdmin("jobs", { kind: "backup", vault });
    await waitFor(body.id);
    if (jobOf(body.id).state !== "done") return { violations: [], ended: "not begun" };
  }
  const state = { over: false, wentBack: false };
  const areBusy = (): boolean => !state.over && sent < REQUESTS_MAX;
  const writers = Array.from({ length: WRITERS }, async () => {
    while (areBusy()) {
      await clock.sleep(2 * PAUSE * random());
      await write(random() < 0.2 ? "create" : "patch");
      if (random() < 0.02) await renewKey();
    }
  });
  const copies: Copy[] = [];
  const copying = (async () => {
    for (; !state.wentBack; await clock.sleep(COPY)) if (copies.push(database.copy()) > COPIES) copies.shift();
  })();
  await clock.sleep(COPY * COPIES * random());

  const id = await start();
  await clock.sleep(UNTIL[kind] * random());
  const isDuring = !hasEnded(id);
  // What was carried out before, and whose answer is still on its way, is lost as after the end of the job: nobody can notice that.
  const wasDone = [...checkDone()].length === 0;
  const wentBack = clock.now();
  state.wentBack = true;
  if (isDuring) database.restore(pick(copies));
  await waitFor(id);
  const isOnItsWay = wasDone && clock.now() - wentBack <= ANSWER;
  const { state: ended, reason } = jobOf(id);
  const violations: Violation[] = [];
  if (ended === "done") violations.push(...(isOnItsWay ? [] : checkDone()));
  else if (!REASONS[kind].includes(reason!))
    violations.push(violation("job failed without a fault", `${kind} ${ended} ${reason}`));

  state.over = true;
  faults.stop();
  await clock.sleep(REST);
  await Promise.race([Promise.all([...writers, copying]), clock.sleep(REST), never()]);
  // Without a fault the same work is done in the end.
  const again = await start();
  await waitFor(again);
  const last = jobOf(again);
  if (last.state !== "done") violations.push(violation("job failed without a fault", `${kind} again: ${last.reason}`));
  violations.push(...(await checkBackups(world, before.ROOT_KEYS, new Set([vault]))));
  violations.push(...checkKeys(world));
  for (const storage of [...coordinators.storages.values(), parts.operator.storage]) storage.close();
  return { violations, ended: `${isDuring ? "" : "before: "}${ended} ${reason ?? ""}` };

  /** The work of a job that is done is there. That of a backup and of a restore is compared at the end. */
  function* checkDone(): Iterable<Violation> {
    const isWrong = {
      backup: () => !world.backups.keys().some((key) => key.endsWith(".manifest")),
      restore: () =>
        keysOf() === undefined ||
        database.query("SELECT 1 FROM restores").length > 0 ||
        database.query("SELECT 1 FROM activity WHERE event = 'restored'").length === 0,
      rewrap: () =>
        database.query("SELECT 1 FROM vaults WHERE root_key_id <> 'k2' UNION SELECT 1 FROM tokens WHERE root_key_id <> 'k2'")
          .length > 0,
    }[kind];
    if (isWrong()) yield violation("job is done without its work", `${kind} ${id}`);
  }
}
