import type { WriteKind } from "./history.ts";
import type { SimulatedOperator } from "./operator.ts";
import { requestOf } from "./requests.ts";
import { stateName } from "./row-log.ts";
import { type Violation, violation } from "./violations.ts";
import type { Gateway } from "./worker.ts";
import type { World } from "./world.ts";

/**
 * Backs a vault of its own up, changes or deletes it, and restores it, again and again. No client of the history writes to this vault, so
 * its rows have to be those of the backup when the job is done.
 */

export interface Restorer {
  /** The vaults that were made. */
  readonly vaults: ReadonlySet<string>;
  readonly violations: readonly Violation[];
  /** Goes on until `more` says that it is enough. */
  readonly run: (more: () => boolean) => Promise<void>;
  /** How many restores are done. */
  readonly restored: () => number;
}

/** The `User-Agent` of its requests, which identifies their entries in the log. */
export const RESTORER = "restorer";

const TRIES = 20_000;
/** Milliseconds between two tries, and between two looks at a job. */
const PAUSE = 500;
/** How often the vault is restored. */
const ROUNDS = 3;
const ITEMS = 4;
const PATCHES = 14;
/** The share of the jobs of restore that are asked to stop. */
const STOPPED = 0.2;

interface JobInStorage {
  readonly state: string;
  readonly reason: string | null;
  readonly data: string;
  readonly result: string | null;
}

export function createRestorer(world: World, gateway: Gateway, operator: SimulatedOperator, adminToken: string): Restorer {
  const { clock, random, pick, database } = world;
  const vaults = new Set<string>();
  const violations: Violation[] = [];
  let [sent, restored] = [0, 0];

  /** Sends a request until it was carried out, or refused for good. */
  async function send(token: string, method: string, path: string, body?: string) {
    const headers = { Authorization: `Bearer ${token}`, "User-Agent": RESTORER, "Idempotency-Key": `restorer-${++sent}` };
    let last: string | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const reply = await gateway.send(method, path, { headers, body });
      const isPassing = !reply || reply.status >= 500 || reply.failure === "job_exists" || reply.status === 429;
      if (!isPassing) return reply;
      last = reply?.text;
      await clock.sleep(PAUSE * random());
    }
    throw new Error(`${method} ${path} of the restorer was refused ${TRIES} times: ${last}`);
  }

  const asAdmin = (method: string, path: string, body?: object) =>
    send(adminToken, method, `/v1/admin/${path}`, body && JSON.stringify(body));

  const jobOf = (id: string): JobInStorage =>
    operator.storage.exec("SELECT state, reason, data, result FROM jobs WHERE id = ?", id)[0] as unknown as JobInStorage;

  /** Out: the job, when it has ended. */
  async function runJob(body: object): Promise<JobInStorage> {
    const { status, text, body: job } = await asAdmin("POST", "jobs", body);
    if (status !== 202) throw new Error(`a job was refused: ${text}`);
    if ("overwrite" in body && random() < STOPPED) {
      await clock.sleep(PAUSE * random());
      await asAdmin("DELETE", `jobs/${job.id}`);
    }
    while (!["done", "failed", "stopped"].includes(jobOf(job.id).state)) await clock.sleep(PAUSE);
    return jobOf(job.id);
  }

  /** Writes to the vault: makes Items, changes one so often that versions are destroyed, and deletes one. */
  async function writeItems(vault: string): Promise<void> {
    const { token } = (await asAdmin("POST", "tokens", { name: RESTORER, vaults: { [vault]: "rwd" } })).body;
    const write = async (kind: WriteKind, item?: string): Promise<string | undefined> => {
      const { method, path, body } = requestOf({ kind, vault, item, value: `restorer-${++sent}`, keyed: true });
      return (await send(token, method, path, body)).body?.id;
    };
    const items: string[] = [];
    for (let n = 0; n < ITEMS; n++) items.push((await write("create"))!);
    for (let n = 0; n < PATCHES * random(); n++) await write("patch", items[0]);
    await write("add-file", pick(items));
    if (random() < 0.5) await write("delete", items.at(-1));
  }

  async function changeVault(vault: string): Promise<void> {
    const change = random();
    if (change < 0.3) await asAdmin("DELETE", `vaults/${vault}`);
    else if (change < 0.9) await writeItems(vault);
  }

  async function restoreVault(vault: string): Promise<void> {
    const [job] = [await runJob({ kind: "restore", vault, overwrite: true })];
    if (job.state !== "done") return restoreVault(vault);
    restored++;
    const [row] = database.query<Record<string, unknown>>("SELECT * FROM vaults WHERE id = ?", vault);
    const marks = database.query("SELECT 1 FROM restores WHERE vault_id = ?", vault);
    const { input, result } = JSON.parse(job.data) as { input: { entry: string }; result: unknown };
    const entries = database.query(
      "SELECT 1 FROM activity WHERE vault_id = ? AND event = 'restored' AND id = ?",
      vault,
      input.entry,
    );
    const states = database.rows.commits.get(vault)!.map(({ state }) => state);
    const isThere = row !== undefined && states.at(-1) === stateName(row);
    if (!isThere || marks.length > 0 || entries.length !== 1)
      violations.push(
        violation(
          "job is done without its work",
          `restore of ${vault}: ${isThere ? "a vault" : "no vault"}, ${marks.length} marks, ${entries.length} entries, ${JSON.stringify(result)}`,
        ),
      );
  }

  async function runRounds(more: () => boolean): Promise<void> {
    const { id } = (await asAdmin("POST", "vaults", { name: "Restored" })).body;
    vaults.add(id);
    for (let round = 0; round < ROUNDS && more(); round++) {
      await writeItems(id);
      const backup = await runJob({ kind: "backup", vault: id });
      if (backup.state !== "done" && round === 0) break;
      await changeVault(id);
      await restoreVault(id);
    }
  }

  return {
    vaults,
    violations,
    restored: () => restored,
    run: (more) => runRounds(more).catch((error: Error) => void violations.push(violation("job was refused", error.message))),
  };
}
