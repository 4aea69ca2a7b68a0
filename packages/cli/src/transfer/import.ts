import { compareItems } from "@item-vault/transfer/compare-items";
import { type Fitted, fitTransfer } from "@item-vault/transfer/fit";
import { OUTCOMES } from "@item-vault/transfer/outcomes";
import { type PlannedItem, planItems } from "@item-vault/transfer/plan";
import { countUnreadable } from "@item-vault/transfer/read-service";
import { sharedNames } from "@item-vault/transfer/shared-names";
import { isComplete } from "@item-vault/transfer/write-item";
import { type Counts, writeItems } from "@item-vault/transfer/write-items";
import { CliError, EXIT, failureOf } from "../frame/failure.ts";
import { write } from "../frame/io.ts";
import { printable, plural } from "../frame/printable.ts";
import { interruptible } from "../frame/signals.ts";
import { countOfItems, startProgress } from "../output/progress.ts";
import { type ImportCall, loadSource, type Source } from "./load-source.ts";
import * as report from "./report.ts";
import { findTargets, type Targets } from "./targets.ts";

/** `import`: reads and checks a whole source, finds existing Items, and writes the rest. */

export async function run(call: ImportCall): Promise<number> {
  return await interruptible(async (signal) => await runImport(call, signal));
}

async function runImport(call: ImportCall, signal: AbortSignal): Promise<number> {
  const source = await loadSource(call, signal);
  const code = await importSource(call, source, signal);
  const isIncomplete = countUnreadable(source.transfer.losses) > 0;
  return code === EXIT.ok && isIncomplete ? EXIT.found : code;
}

async function importSource(call: ImportCall, source: Source, signal: AbortSignal): Promise<number> {
  const { io, options } = call;
  const fitted = fitTransfer(source.transfer);
  await checkFit(call, fitted);
  checkVaults(call, fitted);
  const losses = fitted.losses.list();
  await write(io.stdout, report.describeSource(source.format, fitted.items) + report.describeLosses(losses));
  await write(io.stderr, report.describeExamples(losses));
  if (fitted.items.length === 0) return EXIT.ok;
  if (options["dry-run"]) return await describePlan(call, { source, fitted, signal });
  const targets = await chooseTargets(call, fitted);
  try {
    const planned = await planIn(targets, source, fitted);
    const progress = startProgress(call.io, "imported", planned.length, countOfItems);
    const counts = await writeItems(planned, { signal, onItem: () => progress.add(1) }).finally(() => progress.end());
    return await finish(call, counts, signal);
  } finally {
    await targets.close();
  }
}

/** Throws a CliError if Items do not fit and may not be left out. Nothing is written then. */
async function checkFit({ io, options }: ImportCall, { unfit, losses }: Fitted): Promise<void> {
  for (const { title, why } of unfit) await write(io.stderr, `“${printable(title)}” ${printable(why)}\n`);
  if (unfit.length === 0) return;
  if (!options["skip-invalid"])
    throw new CliError(`${plural(unfit.length, "Item")} cannot be imported. Nothing was imported.`, {
      exit: "usage",
      hint: "Change them in the source, or leave them out with --skip-invalid.",
    });
  losses.add("Items that cannot be read or written", undefined, unfit.length);
}

/** Throws a CliError if Items of several vaults of the source would unintentionally be in one vault. */
function checkVaults({ options }: ImportCall, { items }: Fitted): void {
  const shared = options.vault === undefined ? sharedNames(items) : [];
  if (shared.length === 0) return;
  const named = shared.map(({ name, count }) => `${report.quoteTitles([name])} (${count} vaults)`).join(", ");
  throw new CliError(`Several vaults of the source have one name: ${named}. Nothing was imported.`, {
    exit: "conflict",
    hint: "--vault puts all items into one vault. To keep the vaults apart, rename them in the source first; case does not count.",
  });
}

const chooseTargets = async ({ options, client, admin, issued }: ImportCall, { items }: Fitted): Promise<Targets> => {
  const { vault, "create-vaults": create = false, "dry-run": dryRun = false } = options;
  return await findTargets(
    items.map((item) => item.vault),
    { vault, create, dryRun, client, admin, issued },
  );
};

const planIn = async (targets: Targets, { format, transfer }: Source, { items }: Fitted): Promise<PlannedItem[]> => {
  const placed = items.map((item) => ({ item, vault: targets.of(item.vault) }));
  return await planItems(
    placed.filter(({ vault }) => vault !== undefined),
    { format, source: transfer.source },
  );
};

/** Prints existing Items, if the service answers: a dry run needs no service. */
async function describePlan(
  call: ImportCall,
  { source, fitted, signal }: { readonly source: Source; readonly fitted: Fitted; readonly signal: AbortSignal },
): Promise<number> {
  const { stdout, stderr } = call.io;
  try {
    const targets = await chooseTargets(call, fitted);
    const plan = await planIn(targets, source, fitted);
    const progress = startProgress(call.io, "compared", undefined, countOfItems);
    const planned = await compareItems(plan, { signal, onItem: progress.set }).finally(() => progress.end());
    const there = planned.filter(({ found, steps }) => found?.differs || isComplete(found, steps)).length;
    const differ = planned.filter(({ found }) => found?.differs).map(({ item }) => item.title);
    if (targets.missing.length > 0) await write(stdout, `Vaults that would be made: ${report.quoteTitles(targets.missing)}\n`);
    await write(stdout, `Dry run: ${fitted.items.length - there} to write, ${there} already there\n`);
    await write(stderr, report.describeDiffering(differ));
  } catch (error) {
    const failure = failureOf(error);
    if (!failure) throw error;
    await write(stderr, `What is there already is not known: ${printable(failure.message)}\n`);
    await write(stdout, `Dry run: nothing was written\n`);
  }
  return EXIT.ok;
}

async function finish({ io }: ImportCall, { counts, differing, failures, fatal }: Counts, signal: AbortSignal): Promise<number> {
  for (const { title, why } of failures) await write(io.stderr, `“${printable(title)}” failed: ${printable(why)}\n`);
  await write(io.stderr, report.describeDiffering(differing));
  await write(io.stdout, `Imported: ${report.describeCounts(counts, OUTCOMES)}`);
  if (signal.aborted) {
    await write(io.stderr, "Interrupted. The same command continues where this one stopped.\n");
    return EXIT_INTERRUPTED;
  }
  if (fatal) throw continued(fatal);
  return failures.length > 0 ? EXIT.failed : EXIT.ok;
}

function continued(error: Error): Error {
  const failure = failureOf(error);
  if (!failure) return error;
  return new CliError(failure.message, {
    exit: failure.exit,
    hint: `${failure.hint ?? "The import ended early."}\nThe same command continues where this one stopped.`,
  });
}

/** The exit code of shells for a command that SIGINT ended. */
const EXIT_INTERRUPTED = 130;
