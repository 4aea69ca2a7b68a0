import type { ItemSummary } from "@item-vault/client";
import { type Outcome, runAll } from "../bulk/run.ts";
import { titleOf } from "../ui/texts.ts";
import { loadItem } from "../state/opened.ts";
import { plural } from "../ui/plural.ts";
import { GROUP_LIST, type GroupName, passwordOf } from "./groups.ts";
import { compareNames } from "../state/search.ts";

/** The password check. It reads each Item as a whole, because only that shows which field has the password. */

/** One Item, or a group of Items that belong together, with a note. It has no value. */
export interface Finding {
  readonly items: readonly ItemSummary[];
  readonly note: string;
}

export interface CheckResult {
  readonly findings: Readonly<Record<GroupName, readonly Finding[]>>;
  readonly read: number;
  /** Number of read Items without a password. A field of another kind may hold one, but is ignored. */
  readonly without: number;
  readonly failed: readonly Outcome[];
  readonly waiting: number;
}

/** Reads Items, and compares their passwords here: nothing outside gets a value. Ends early as `runAll` does. `onRead` gets the number of tried Items. */
export async function checkItems(
  items: readonly ItemSummary[],
  { signal, onRead }: { readonly signal: AbortSignal; readonly onRead: (count: number) => void },
): Promise<CheckResult> {
  const now = Date.now();
  const read: { readonly summary: ItemSummary; readonly password: string | undefined }[] = [];
  const findings: Record<GroupName, Finding[]> = { reused: [], weak: [], old: [], due: [] };
  const readOne = async (summary: ItemSummary): Promise<undefined> => {
    const { data: item } = await loadItem(summary.vault.id, summary.id);
    read.push({ summary, password: passwordOf(item)?.value });
    for (const [name, { noteOf }] of GROUP_LIST) {
      const note = noteOf?.(item, now);
      if (note !== undefined) findings[name].push({ items: [summary], note });
    }
  };
  const onChange = (all: readonly Outcome[]) => onRead(all.filter(({ state }) => state !== "waiting").length);
  const outcomes = await runAll(
    items.map((item) => ({ item, state: "waiting" })),
    readOne,
    { signal, onChange },
  );
  const withPassword = read.filter(({ password }) => password !== undefined);
  for (const same of Map.groupBy(withPassword, ({ password }) => password).values()) {
    const note = `In ${plural(same.length, "item")}`;
    if (same.length > 1) findings.reused.push({ items: same.map(({ summary }) => summary).toSorted(byTitle), note });
  }
  for (const rows of Object.values(findings)) rows.sort((one, other) => byTitle(one.items[0]!, other.items[0]!));
  return {
    findings,
    read: read.length,
    without: read.length - withPassword.length,
    failed: outcomes.filter(({ state }) => state === "failed"),
    waiting: outcomes.filter(({ state }) => state === "waiting").length,
  };
}

const byTitle = (one: ItemSummary, other: ItemSummary): number => compareNames(titleOf(one), titleOf(other));
