import { type Client, ItemVaultError } from "@item-vault/client";
import { setTimeout } from "node:timers/promises";
import { request } from "../../api/answers.ts";
import type { Finding } from "../verify/service.ts";

/** The requests of restores (contract 21.20). */

/** How far a restore is. */
export interface Restoration {
  readonly vault?: { readonly id: string };
  readonly snapshot: number;
  readonly takenAt: string;
  readonly state: "planned" | "running" | "done";
  readonly done: number;
  readonly total: number;
  readonly rows: number;
  readonly existing?: "none" | "deleted" | "older" | "newer";
  readonly items?: number;
  /** Only of what belongs to no vault: the vaults of the backup. */
  readonly vaults?: readonly { readonly id: string; readonly snapshot: number }[];
  /** Newer backups that are not restored: they are not authentic, or have no vaults. */
  readonly skipped?: readonly { readonly snapshot: number; readonly reason: string }[];
  /** What does not open, of this slice. */
  readonly findings?: readonly Finding[];
  /** Of a dry run: whether the database has room for the rows. */
  readonly room?: boolean;
  /** Of a dry run that has more to open. */
  readonly next?: string;
}

export interface RestoreBody {
  readonly vault?: string;
  readonly item?: string;
  readonly snapshot?: number;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
  readonly cursor?: string;
}

/** The time before a request that got no answer is sent again: a coordinator may be starting anew. */
const RETRY_MS = 2_000;
const TRIES_MAX = 5;

export const sendRestore = (client: Client, json: RestoreBody): Promise<Restoration> =>
  request<Restoration>(client, "POST", "/v1/admin/restores", { json });

/**
 * Sends requests until the restore is done. `onStep` gets each answer. Out: the last one. Errors: throws an ItemVaultError; running the
 * command again continues.
 */
export async function restoreAll(client: Client, body: RestoreBody, onStep: (step: Restoration) => void): Promise<Restoration> {
  for (let failures = 0; ;) {
    try {
      const step = await sendRestore(client, body);
      onStep(step);
      if (step.state !== "running") return step;
      failures = 0;
    } catch (error) {
      const passes = error instanceof ItemVaultError && (error.status === 0 || error.status >= 500);
      if (!passes || ++failures >= TRIES_MAX) throw error;
      await setTimeout(RETRY_MS);
    }
  }
}
