import type { ItemSummary, Field, Item } from "@item-vault/client";
import { estimateEntropy } from "@item-vault/model/password";
import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Outcome, runAll } from "../bulk/run.ts";
import { explain } from "../failures/explain.ts";
import { remind } from "../state/health.ts";
import { keyOfItem } from "../state/item-key.ts";
import { entries, listError, listState, loadItems, may, vaultName, vaults } from "../state/items.ts";
import { loadItem } from "../state/opened.ts";
import { addressOf } from "../state/route.ts";
import { compareNames } from "../state/search.ts";
import { sessionState } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { VaultFilter } from "../ui/controls.tsx";
import { Failure } from "../ui/failure.tsx";
import { afterRender, focusTitle, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { titleOf } from "../ui/texts.ts";
import { DAY_MS, formatDate } from "../ui/time.ts";

type Running = Readonly<{ all: number; tried: number }>;

/** Runs one check at a time. What it has found is dropped when the view is left or the session ends. */
function useCheck() {
  const state = useSignal<{ readonly running?: Running; readonly result?: CheckResult }>({});
  const abort = useRef<AbortController>(undefined);
  const drop = () => {
    abort.current?.abort();
    abort.current = undefined;
    state.value = {};
  };
  // A page whose session has ended keeps its view for the input, but this view has no input.
  useSignalEffect(() => {
    if (sessionState.value !== "signed-in") drop();
  });
  useLayoutEffect(() => drop, []);
  const check = async (items: readonly ItemSummary[]) => {
    drop();
    const controller = (abort.current = new AbortController());
    const set = (next: typeof state.value) => abort.current === controller && (state.value = next);
    const onRead = (tried: number) => set({ running: { all: items.length, tried } });
    onRead(0);
    const result = await checkItems(items, { signal: controller.signal, onRead });
    if (!set({ result })) return;
    remind("passwords", result.findings.due.length);
    afterRender(focusTitle);
  };
  return { ...state.value, check, stop: () => abort.current?.abort() };
}

/** The check of the passwords that the session reads. It reads nothing before a click, because each read is an entry in the log. */
export function PasswordsView() {
  const vault = useSignal("");
  const { running, result, check, stop } = useCheck();
  // The chosen one may have been deleted since.
  const chosen = vaults.value.some(({ id }) => id === vault.value) ? vault.value : "";
  // Archived Items are left out, because they are out of use.
  const items = entries.value.flatMap(({ item }) =>
    item.state === undefined && (chosen === "" || item.vault.id === chosen) && may(item.vault.id, "r") ? [item] : [],
  );
  const readable = vaults.value.filter(({ id }) => may(id, "r"));
  return (
    <Page title="Password check">
      <div class="password-check">
        <p>
          Find reused, weak and old passwords. Items are checked in your browser; each one read is recorded in the activity log.
          Results are not saved.
        </p>
        {listState.value === "loading" && <p class="quiet">Loading…</p>}
        {listState.value === "failed" && <Failure error={listError.value} retry={() => void loadItems()} />}
        {running ? (
          <Progress {...running} onStop={stop} />
        ) : (
          <div class="buttons">
            <VaultFilter label="Vaults to check" vaults={readable} value={chosen} onChange={(id) => (vault.value = id)} />
            {items.length > 0 && (
              <Button text={`Check ${plural(items.length, "item")}`} class="primary" onClick={() => void check(items)} />
            )}
          </div>
        )}
        {listState.value === "loaded" && <Unchecked none={items.length === 0} />}
        {result && <Result {...result} />}
      </div>
    </Page>
  );
}

/** Why there is nothing to check, or less than the session lists. */
function Unchecked({ none }: { readonly none: boolean }) {
  const unreadable = entries.value.filter(({ item }) => item.state === undefined && !may(item.vault.id, "r")).length;
  if (unreadable > 0)
    return <p class="quiet">{plural(unreadable, "item")} can’t be checked: you need read access. Ask an administrator.</p>;
  return none ? <p class="empty">No items to check. Add or import items first.</p> : null;
}

const Progress = ({ all, tried, onStop }: Running & { readonly onStop: () => void }) => (
  <>
    <label class="progress">
      {tried.toLocaleString("en")} of {plural(all, "item")}
      <progress max={all} value={tried} />
    </label>
    <p class="actions">
      <Button text="Stop" onClick={onStop} />
    </p>
  </>
);

const Result = ({ findings, read, without, failed, waiting }: CheckResult) => (
  <>
    <output class="verdict">
      {plural(read, "item")} checked{without > 0 && `, ${without.toLocaleString("en")} of them without a password`}
      {waiting > 0 && `; ${plural(waiting, "item")} not tried`}.
    </output>
    {GROUP_LIST.map(([name, { title, text }]) => (
      <Part key={name} title={title} text={text} findings={findings[name]} />
    ))}
    {failed.length > 0 && (
      <Part
        title="Not read"
        text="Items that could not be read."
        findings={failed.map(({ item, error }) => ({ items: [item], note: explain(error) }))}
      />
    )}
  </>
);

function Part({ title, text, findings }: Readonly<{ title: string; text: string; findings: readonly Finding[] }>) {
  const count = findings.reduce((sum, { items }) => sum + items.length, 0);
  return (
    <section aria-label={title}>
      <h2>
        {title}: {count === 0 ? "none" : plural(count, "item")}
      </h2>
      <p class="quiet">{text}</p>
      {count > 0 && (
        <ul class="findings">
          {findings.map(({ items, note }) => (
            <li key={keyOfItem(items[0]!)}>
              <span class="quiet">{note}</span>
              {items.map((item) => (
                // In a tab of its own, because leaving the page drops the result.
                <a
                  key={keyOfItem(item)}
                  href={addressOf({ view: "items", vault: item.vault.id, item: item.id })}
                  target="_blank"
                  rel="noopener"
                >
                  {titleOf(item)} <span class="quiet">{vaultName(item.vault.id)}</span>
                </a>
              ))}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The password check. It reads each Item as a whole, because only that shows which field has the password. */

/** One Item, or a group of Items that belong together, with a note. It has no value. */
type Finding = Readonly<{ items: readonly ItemSummary[]; note: string }>;

interface CheckResult {
  readonly findings: Readonly<Record<GroupName, readonly Finding[]>>;
  readonly read: number;
  /** Number of read Items without a password. A field of another kind may hold one, but is ignored. */
  readonly without: number;
  readonly failed: readonly Outcome[];
  readonly waiting: number;
}

/** Reads Items, and compares their passwords here: nothing outside gets a value. Ends early as `runAll` does. `onRead` gets the number of tried Items. */
async function checkItems(
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

interface Group {
  readonly title: string;
  /** The definition of the group, and the way it is found. */
  readonly text: string;
  /** Returns the note of an Item of the group; `undefined` for other Items. Absent: the group compares Items with each other. */
  readonly noteOf?: (item: Item, now: number) => string | undefined;
}

const OLD_MS = 365 * DAY_MS;
/** An Item is due from this time before its day on. */
const DUE_MS = 30 * DAY_MS;

export const GROUPS = {
  reused: { title: "Reused", text: "If one of these leaks, all of them are exposed." },
  weak: {
    title: "Weak",
    text: "Short, simple or common passwords. Not checked against known breaches.",
    noteOf: weaknessOf,
  },
  old: {
    title: "Old",
    text: "Items that have not changed for a year. Other passwords may be older than their item’s last change: earlier versions are not read.",
    noteOf: (item, now) =>
      passwordOf(item) && Date.parse(item.updatedAt) < now - OLD_MS
        ? `Last changed on ${formatDate(item.updatedAt)}, or before`
        : undefined,
  },
  due: {
    title: "Due",
    text: "Items whose date field “expires” is past or within 30 days.",
    noteOf: dueNote,
  },
} as const satisfies Readonly<Record<string, Group>>;

export type GroupName = keyof typeof GROUPS;

export const GROUP_LIST = Object.entries(GROUPS) as readonly (readonly [GroupName, Group])[];

/** The field of purpose PASSWORD, which is always concealed (contract 2.12), if it has a value. */
export const passwordOf = (item: Item): Field | undefined =>
  item.fields.find(({ purpose, value }) => purpose === "PASSWORD" && value !== "");

function dueNote(item: Item, now: number): string | undefined {
  const days = item.fields
    .filter(({ type, label }) => type === "DATE" && label.trim().toLowerCase() === "expires")
    .map(({ value }) => beginOfDay(value))
    .filter((day) => day - now < DUE_MS); // one that is no day is not a number, and not less
  if (days.length === 0) return undefined;
  const day = Math.min(...days);
  return `${day + DAY_MS <= now ? "Expired" : "Expires"} on ${formatDate(new Date(day).toISOString())}`;
}

/** Converts the value of a DATE field (contract 2.10) to Unix milliseconds: the beginning of a day in the browser's time zone. */
const beginOfDay = (value: string): number =>
  /^-?\d+$/.test(value) ? Number(value) * 1000 : new Date(`${value}T00:00`).getTime();

/** Finds passwords that are easily guessed, by a small rule without a list of leaked passwords. Others may still be weak. */

/** Bits of entropy. Eight random characters of all classes have about 52; the estimate is an upper one (contract 7.6). */
const STRONG_BITS = 50;

/** The first words of lists of common passwords, and words that people follow with a year or an exclamation mark. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "password passwort kennwort motdepasse passw pass secret login admin administrator root user guest test default changeme welcome " +
    "letmein access master qwerty qwertyuiop qwertz azerty asdfgh asdfghjkl zxcvbn zxcvbnm iloveyou monkey dragon football baseball " +
    "sunshine princess superman batman shadow trustno hello hallo freedom whatever flower computer internet spring summer autumn " +
    "winter january february march april may june july august september october november december"
  ).split(" "),
);

const LETTERS: Readonly<Record<string, string>> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", "@": "a", $: "s" };

const withLetters = (text: string): string => text.replaceAll(/[013457@$]/g, (character) => LETTERS[character]!);

/** Returns the possible core words of a password, without digits and symbols around them, also with letters for their substitutes. */
function coresOf(value: string): readonly string[] {
  const begun = value.toLowerCase().replace(/[^\p{L}]+$/u, "");
  const core = begun.replace(/^[^\p{L}]+/u, "");
  return [core, withLetters(core), withLetters(begun)].filter((word) => word.length > 2);
}

/** Why the password of an Item is easily guessed, in words that have no part of it; `undefined` where nothing shows that. */
function weaknessOf(item: Item): string | undefined {
  const { value, entropy } = passwordOf(item) ?? {};
  if (value === undefined) return undefined;
  const cores = coresOf(value);
  if (cores.some((core) => COMMON.has(core))) return "A common password";
  const username = item.fields.find(({ purpose }) => purpose === "USERNAME")?.value ?? "";
  const words = `${titleOf(item)} ${username}`.toLowerCase().split(/[^\p{L}]+/u);
  if (cores.some((core) => words.includes(core))) return "Made of the title or the username";
  if (/^(.{1,4})\1+$/su.test(value)) return "Repeated characters";
  const bits = entropy ?? estimateEntropy(value);
  return bits < STRONG_BITS ? `Short or simple (at most ${Math.floor(bits)} bits)` : undefined;
}
