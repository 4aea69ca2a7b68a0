import { type Client, ItemVaultError } from "@item-vault/client";
import { request } from "../../api/answers.ts";

/** The requests of `admin verify` (contract 22). */

export interface Finding {
  readonly kind: string;
  readonly vault?: string;
  readonly item?: string;
  readonly file?: string;
  readonly version?: number;
  readonly id?: string;
  readonly table?: string;
  readonly snapshot?: number;
  readonly detail: string;
  readonly repairable: boolean;
  readonly repaired?: boolean;
}

/** A finding in one line, without a text of a user. */
export function lineOf({ kind, vault, item, file, version, table, id, detail }: Finding): string {
  const named = { vault, item, version, file, table, record: id };
  const words = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `${kind}: ${[...words, detail].join(", ")}`;
}

export interface Checked {
  rows: number;
  items: number;
  contents: number;
  bytes: number;
}

export const NOTHING: Checked = { rows: 0, items: 0, contents: 0, bytes: 0 };

/** What a run found. */
export interface Found {
  readonly findings: Finding[];
  readonly checked: Checked;
}

interface Wanted {
  readonly vault?: string;
  readonly quick: boolean;
  readonly backup: boolean;
  readonly repair: boolean;
  readonly acceptLoss?: true;
}

type Slice = Found & { readonly next: string | null };

/** Slice after slice, until everything is checked. Errors: those of the service, when it does not recover. */
export async function* runSlices(admin: Client, wanted: Wanted): AsyncGenerator<Slice> {
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const json = { ...wanted, ...(cursor !== undefined && { cursor }) };
    const slice = await withRetries(() => request<Slice>(admin, "POST", "/v1/admin/verify", { json }));
    cursor = slice.next ?? null; // also where an answer has none, so that the command ends
    yield slice;
  }
}

/** Milliseconds before each further try of a slice. A slice may be repeated: a repair is done once, and then there is nothing left. */
const WAITS = [500, 2_000, 8_000];

async function withRetries<T>(send: () => Promise<T>): Promise<T> {
  for (const wait of WAITS) {
    try {
      return await send();
    } catch (error) {
      const passes = error instanceof ItemVaultError && (error.status === 0 || error.status === 429 || error.status >= 500);
      if (!passes) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return send();
}
