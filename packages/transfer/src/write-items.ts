import { ItemVaultError } from "@item-vault/client";
import { TransferError } from "./error.ts";
import { createPace } from "./pace.ts";
import type { PlannedItem } from "./plan.ts";
import { inParallel } from "./pool.ts";
import { writeItem } from "./write-item.ts";

/** Writes the Items of an import. */

export interface Counts {
  /** By outcome; `failed` too. */
  readonly counts: Map<string, number>;
  /** The titles of the Items that are there with other content. */
  readonly differing: string[];
  readonly failures: { readonly title: string; readonly why: string }[];
  /** Why the import ended early. */
  readonly fatal: Error | undefined;
}

/** Requests in flight. A vault's coordinator writes waiting requests as one group. */
const REQUESTS_IN_FLIGHT_MAX = 16;

/** Failures of one Item, after which the import continues with the next Item. Any other failure would affect every Item. */
const OF_ONE_ITEM = new Set([400, 409, 412, 413, 500]);

/** Writes Items. `onItem` is called after each Item. An aborted signal ends the import after the Items in flight. */
export async function writeItems(
  planned: readonly PlannedItem[],
  { signal, onItem }: { readonly signal: AbortSignal; readonly onItem: () => void },
): Promise<Counts> {
  const counts = new Map<string, number>();
  const [differing, failures]: [Counts["differing"], Counts["failures"]] = [[], []];
  const count = (outcome: string) => {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    onItem();
  };
  const paced = createPace();
  const writeOne = async ({ item, vault, ...rest }: PlannedItem) => {
    try {
      const outcome = await writeItem({ client: paced(vault.client), vault: vault.id }, rest);
      if (outcome === "differs") differing.push(item.title);
      count(outcome);
    } catch (error) {
      if (!isOfOneItem(error)) throw error;
      failures.push({ title: item.title, why: error.message });
      count("failed");
    }
  };
  try {
    await inParallel(planned, writeOne, { most: REQUESTS_IN_FLIGHT_MAX, signal });
    return { counts, differing, failures, fatal: undefined };
  } catch (error) {
    return { counts, differing, failures, fatal: signal.aborted ? undefined : (error as Error) };
  }
}

const isOfOneItem = (error: unknown): error is Error =>
  error instanceof TransferError || (error instanceof ItemVaultError && OF_ONE_ITEM.has(error.status));
