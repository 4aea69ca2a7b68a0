import { must, ok, type Result } from "./model/result.ts";
import { HOUR } from "./model/time.ts";
import { parseSettings } from "./settings.ts";
import { type BackupStore, openBackupStore } from "./store/backup/ports.ts";
import { registryStep } from "./store/backup/registry.ts";
import { backupStep } from "./store/backup/vault.ts";
import { listVaultIds } from "./store/backup/vault-ids.ts";

/**
 * The nightly backup (contract 21.10). The cron trigger sends one message; its consumer sends one for each vault, and one for the
 * registry. A message is one step of a backup: its consumer sends it again until the backup is done.
 */

export type BackupMessage =
  /** Sends the messages of the vaults after an id. */
  | { readonly kind: "start"; readonly began: number; readonly after: string }
  | { readonly kind: "vault"; readonly began: number; readonly vault: string }
  | { readonly kind: "registry"; readonly began: number };

/** How long the registry waits for the vaults of the run. After that it is written with older backups of some vaults. */
const REGISTRY_WAIT_MS = 6 * HOUR;

/** The time until a step is repeated. `busy`: another driver works on it. `waiting`: the registry waits for vaults. */
const DELAY_SECONDS = { busy: 60, waiting: 600 };

interface Message {
  readonly body: BackupMessage;
  readonly delaySeconds?: number;
}

/** Begins the nightly backup when its hour has come. In: the time of the cron trigger, in Unix milliseconds. */
export async function startBackups(env: Partial<Env>, now: number): Promise<void> {
  const { backupHour } = must("read the settings", parseSettings(env as Env));
  // A deployment may go without backups: its wrangler.toml has neither the bucket nor the queue.
  if (!env.BACKUPS || !env.JOBS || new Date(now).getUTCHours() !== backupHour) return;
  await env.JOBS.send({ kind: "start", began: now, after: "" } satisfies BackupMessage);
}

/** Carries out one message. In: Unix milliseconds. Throws when storage fails or a setting is malformed: the queue delivers again. */
export async function runMessage(env: Env, message: BackupMessage, now: number): Promise<void> {
  const store = must("open the buckets", await openBackupStore(env, now));
  const [first, ...others] = must("make a step of a backup", await messagesAfter(store, message));
  if (first) await env.JOBS.sendBatch([first, ...others]);
}

/** After this time a run is given up: the next one has begun, or is about to. */
const GIVE_UP_MS = 20 * HOUR;

/** Carries out a message. Out: the messages that follow it. */
async function messagesAfter(store: BackupStore, message: BackupMessage): Promise<Result<Message[]>> {
  if (store.now > message.began + GIVE_UP_MS) return ok([]);
  if (message.kind === "start") return startVaults(store, message);
  return message.kind === "vault" ? continueVault(store, message) : continueRegistry(store, message);
}

/** Vaults of one message: a queue accepts 100 messages at once. */
const MESSAGE_VAULTS_MAX = 90;

async function startVaults(store: BackupStore, { began, after }: BackupMessage & { kind: "start" }): Promise<Result<Message[]>> {
  const ids = await listVaultIds(store.db, after, MESSAGE_VAULTS_MAX);
  if (!ids.ok) return ids;
  const last = ids.value.length === MESSAGE_VAULTS_MAX ? ids.value.at(-1)! : undefined;
  const following: BackupMessage = last === undefined ? { kind: "registry", began } : { kind: "start", began, after: last };
  return ok([...ids.value.map((vault): Message => ({ body: { kind: "vault", began, vault } })), { body: following }]);
}

async function continueVault(store: BackupStore, message: BackupMessage & { kind: "vault" }): Promise<Result<Message[]>> {
  const step = await backupStep(store, message.vault);
  if (!step.ok) return step;
  const { state } = step.value;
  if (state === "busy") return ok([{ body: message, delaySeconds: DELAY_SECONDS.busy }]);
  return ok(state === "reading" || state === "copying" ? [{ body: message }] : []);
}

async function continueRegistry(store: BackupStore, message: BackupMessage & { kind: "registry" }): Promise<Result<Message[]>> {
  const step = await registryStep(store, { began: message.began, until: message.began + REGISTRY_WAIT_MS });
  if (!step.ok) return step;
  const { state, waiting } = step.value;
  if (state === "done" || state === "unrestored") return ok([]);
  if (!waiting) return ok([{ body: message, ...(state === "busy" && { delaySeconds: DELAY_SECONDS.busy }) }]);
  // A vault that was made after the run began has no message.
  const missing: Message[] = waiting.missing ? [{ body: { kind: "vault", began: message.began, vault: waiting.vault } }] : [];
  return ok([...missing, { body: message, delaySeconds: DELAY_SECONDS.waiting }]);
}
