import { ItemVaultError } from "@item-vault/client";
import { CliError, failureOf } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { createPace } from "./pace.ts";
import type { PlannedItem } from "./plan.ts";
import { inParallel } from "./pool.ts";
import { countOfItems, startProgress } from "../output/progress.ts";
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

/** Requests in flight. A vault's coordinator writes what waits as one group. */
const IN_FLIGHT = 16;

/** Failures of one Item; the import goes on with the next one. Any other failure would be that of every Item. */
const OF_ONE_ITEM = new Set([400, 409, 412, 413, 500]);

export async function writeItems(io: Pick<Io, "stderr">, planned: readonly PlannedItem[], signal: AbortSignal): Promise<Counts> {
  const counts = new Map<string, number>();
  const [differing, failures]: [Counts["differing"], Counts["failures"]] = [[], []];
  const progress = startProgress(io, "imported", planned.length, countOfItems);
  const count = (outcome: string) => {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    progress.add(1);
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
    await inParallel(planned, writeOne, { most: IN_FLIGHT, signal });
    return { counts, differing, failures, fatal: undefined };
  } catch (error) {
    return { counts, differing, failures, fatal: signal.aborted ? undefined : continued(error as Error) };
  } finally {
    progress.end();
  }
}

const isOfOneItem = (error: unknown): error is Error =>
  error instanceof CliError || (error instanceof ItemVaultError && OF_ONE_ITEM.has(error.status));

function continued(error: Error): Error {
  const failure = failureOf(error);
  if (!failure) return error;
  return new CliError(failure.message, {
    exit: failure.exit,
    hint: `${failure.hint ?? "The import ended early."}\nThe same command continues where this one stopped.`,
  });
}
