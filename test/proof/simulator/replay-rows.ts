import { type RowCommit, VAULT_ROW } from "./row-log.ts";
import { type Violation, violation } from "./violations.ts";

/** Repeats what the transactions have changed of a vault, and compares each backup with the vault at the write of the backup. */

/** The rows of a backup in the bucket. */
export interface StoredBackup {
  readonly name: string;
  readonly vault: string;
  /** The state of its vault, as `stateName`. */
  readonly state: string;
  /** The rows of Items, by name. */
  readonly rows: ReadonlyMap<string, string>;
  /** The row of the vault. */
  readonly row: string;
}

/**
 * The texts of each row, by name. So a row has all texts that were written since the write that changed it.
 */
type Rows = Map<string, Set<string>>;

/** In: the commits of a vault in their order; the backups of it; whether it was ever restored. */
export function replayVault(
  vault: string,
  commits: readonly RowCommit[],
  backups: readonly StoredBackup[],
  isRestored: boolean,
): Violation[] {
  const violations: Violation[] = [];
  const rows: Rows = new Map();
  const ofStates = Map.groupBy(backups, ({ state }) => state);
  /** By backup, how it differs from its vault; `undefined`: it does not. */
  const differences = new Map<string, string | undefined>(
    backups.map(({ name, state }) => [name, `the vault was never in ${state}`]),
  );
  /** The rows of all states of a vault that was restored: a restore brings one of them back. */
  const known = new Map<string, Rows>();
  let [state, wasThere]: [string | undefined, boolean] = [undefined, false];

  function compare(): void {
    const ofState = state === undefined ? undefined : ofStates.get(state);
    for (const { name, rows: found, row } of ofState ?? []) {
      const isEqual = differences.has(name) && differences.get(name) === undefined;
      if (!isEqual) differences.set(name, differenceOf(new Map([...found, [VAULT_ROW, row]]), rows));
    }
    if (isRestored && state !== undefined) known.set(state, new Map([...rows].map(([name, texts]) => [name, new Set(texts)])));
  }

  for (const commit of commits) {
    const isWrite = commit.state !== state;
    if (isWrite) compare();
    const before = rows.size;
    const added = applyCommit(rows, commit, isWrite || commit.isReset || state === undefined);
    if (!isWrite && !commit.isReset && state !== undefined && (added || rows.size !== before))
      violations.push(violation("rows changed without a write", `${vault} in ${state} at ${commit.time}`));
    if (isWrite && !commit.isReset && state === undefined && wasThere) {
      const restored = known.get(commit.state!);
      const difference = restored ? differenceOf(newestTexts(rows), restored) : "it never had this state";
      if (difference !== undefined)
        violations.push(violation("restored vault is not complete", `${vault} in ${commit.state}: ${difference}`));
    }
    state = commit.state;
    wasThere ||= state !== undefined;
  }
  compare();
  for (const [name, difference] of differences)
    if (difference !== undefined) violations.push(violation("backup of no state of its vault", `${name}: ${difference}`));
  return violations;
}

/** In: whether the texts of before are gone. Out: whether a row was added. */
function applyCommit(rows: Rows, { changes }: RowCommit, replaces: boolean): boolean {
  let isAdded = false;
  for (const { row, text } of changes) {
    const texts = rows.get(row);
    isAdded ||= texts === undefined && text !== undefined;
    if (text === undefined) rows.delete(row);
    else if (texts && !replaces) texts.add(text);
    else rows.set(row, new Set([text]));
  }
  return isAdded;
}

/** The rows of a vault that was restored, without its own, which a restore changes. */
const newestTexts = (rows: Rows): Map<string, string> =>
  new Map([...rows].flatMap(([name, texts]) => (name === VAULT_ROW ? [] : [[name, [...texts].at(-1)!]])));

/** Out: how rows differ from those of the vault. In: rows that may lack that of the vault itself. */
function differenceOf(found: ReadonlyMap<string, string>, rows: Rows): string | undefined {
  const lacking = [...rows.keys()].filter((name) => name !== VAULT_ROW && !found.has(name));
  const wrong = [...found].filter(([name, text]) => !rows.get(name)?.has(text)).map(([name]) => name);
  if (lacking.length + wrong.length === 0) return undefined;
  return `lacks ${lacking.slice(0, 3).join()} (${lacking.length}), differs in ${wrong.slice(0, 3).join()} (${wrong.length})`;
}
