import { type Client, ItemVaultError } from "@item-vault/client";
import { setTimeout } from "node:timers/promises";
import { request } from "../../api/answers.ts";
import { CliError } from "../../frame/failure.ts";
import type { Finding } from "../verify/service.ts";

/** The requests of backups (contract 21). */

export const BACKUPS = "/v1/admin/backups";

/** How far the snapshot of a vault is. */
export interface VaultStep {
  readonly state: "planned" | "reading" | "copying" | "done" | "unchanged" | "busy";
  readonly number: number;
  readonly rows: number;
  readonly bytes: number;
  readonly contents: number;
  readonly missing: number;
  /** The rows of the snapshot that did not open when they were read. */
  readonly findings: readonly Finding[];
}

/** How far the snapshot of the registry is. */
export interface RegistryStep {
  readonly state: "reading" | "waiting" | "pruning" | "done" | "busy" | "unrestored";
  readonly number: number;
  readonly vaults: number;
  readonly behind: number;
  /** The rows that belong to no vault and did not open when they were read. */
  readonly findings: readonly Finding[];
  readonly waiting?: { readonly vault: string; readonly missing: boolean };
}

export interface StepOptions {
  readonly full?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Another driver, for example the nightly backup, works on the same snapshot. */
const BUSY_RETRY_MS = 1_000;

/**
 * Repeats the step of a vault until its snapshot is done. Out: the last answer; `undefined` when the vault was deleted. `onStep` gets each
 * answer. `full` holds for the first step that begins a snapshot.
 */
export async function backUpVault(
  client: Client,
  vault: string,
  { full, dryRun }: StepOptions,
  onStep: (step: VaultStep) => void = () => undefined,
): Promise<VaultStep | undefined> {
  for (;;) {
    const step = await sendStep(client, vault, { full, dryRun });
    if (!step) return undefined;
    onStep(step);
    if (step.state === "busy") await setTimeout(BUSY_RETRY_MS);
    else if (step.state !== "reading" && step.state !== "copying") return step;
  }
}

async function sendStep(client: Client, vault: string, json: StepOptions): Promise<VaultStep | undefined> {
  try {
    return await request<VaultStep>(client, "POST", `${BACKUPS}/vaults/${vault}`, { json });
  } catch (error) {
    if (error instanceof ItemVaultError && error.kind === "vault_not_found") return undefined;
    throw error;
  }
}

const UNRESTORED = { exit: "conflict", hint: "Restore them first: `item-vault admin restore`." } as const;

/** Repeats the step of the registry until it is done; vaults that were made meanwhile are backed up. Out: the last answer. */
export async function backUpRegistry(client: Client): Promise<RegistryStep> {
  for (;;) {
    const step = await request<RegistryStep>(client, "POST", BACKUPS);
    if (step.state === "unrestored")
      throw new CliError("The database is new, and the bucket has the backups of another one", UNRESTORED);
    if (step.state === "done") return step;
    if (step.waiting) await backUpVault(client, step.waiting.vault, {});
    if (step.state === "busy") await setTimeout(BUSY_RETRY_MS);
  }
}
