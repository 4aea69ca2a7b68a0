import type { Loss, TransferItem, Unfit as UnfitItem } from "@item-vault/transfer/item";
import { type SharedName, sharedNames } from "@item-vault/transfer/shared-names";
import { type Signal, useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { labelOfCategory } from "../items/categories.ts";
import { listError, listState, loadItems, transferTargets, vaults } from "../state/items.ts";
import { Button } from "../ui/button.tsx";
import { Check, Select } from "../ui/controls.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { List, Pairs } from "../ui/lists.tsx";
import { Heading } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { isolate, titleOf } from "../ui/texts.ts";
import type { Import } from "./create-import.ts";
import type { Forecast, Source } from "./engine.ts";
import { FORMATS } from "./formats.ts";

type Props = Readonly<{ shown: Import; source: Source }>;

/** The properties of the form of a stage, in which another file can be chosen. */
export const formOf = ({ close }: Import) => ({ look: "", cancel: "Choose another file", onCancel: close });

/** The review of an import: its Items, vaults and losses. Nothing was sent yet. */
export function Review({ shown, source }: Props) {
  const { items, losses, unfit } = source.fitted;
  const leavesOut = useSignal(false);
  const names = [...new Set(items.map(({ vault = "" }) => vault))];
  const shared = sharedNames(items);
  // The vaults are loaded again whenever the stream of events begins. A comparison is needed only when one was added or removed.
  const vaultIds = vaults.value.map(({ id }) => id).toSorted();
  useLayoutEffect(() => shown.setTargets(chooseTargets(names, shared, shown.targets.value)), [source, vaultIds.join()]);
  const forecast = shown.forecast.value;
  const count = forecast ? forecast.created + forecast.completed : 0;
  const hasTargets = names.every((name) => (shown.targets.value.get(name) ?? "") !== "");
  const them = unfit.length === 1 ? "it" : "them";
  /** The user's remaining steps before the import. */
  const missing = [
    !hasTargets && (names.length > 1 ? "choose a vault for each" : "choose a vault"),
    unfit.length > 0 && !leavesOut.value && `tick “Leave ${them} out”`,
  ].filter(Boolean);
  const isReady = count > 0 && missing.length === 0;
  return (
    <Form
      {...formOf(shown)}
      action={() => shown.write()}
      submit={count > 0 ? `Import ${plural(count, "item")}` : "Import"}
      disabled={!isReady}
    >
      <Heading level="h2">Review: “{isolate(shown.file.value?.name ?? "")}”</Heading>
      <p>{describe(source)}</p>
      <CategoryTable items={items} />
      <VaultChoice names={names} shared={shared} shown={shown} />
      {hasTargets && <ForecastOf shown={shown} />}
      {(unfit.length === 0 || losses.list().length > 0) && <LossReport losses={losses.list()} />}
      <TrashChoice shown={shown} source={source} />
      {unfit.length > 0 && <Unfit unfit={unfit} them={them} accepted={leavesOut} />}
      {missing.length > 0 && <p class="quiet">To import, {missing.join(" and ")}.</p>}
      {shown.reading.value.columns && <Button text="Change columns" onClick={shown.changeColumns} />}
    </Form>
  );
}

/** The content of the source in one sentence: `4 logins from Chrome, 1 file.` */
function describe({ format, fitted: { items } }: Source): string {
  const program = format === "csv" ? "a CSV file" : FORMATS.find(({ name }) => name === format)!.summary.split(/[:,]/, 1)[0]!;
  const noun = items.every(({ category }) => category === "LOGIN") ? "login" : "item";
  const files = items.reduce((sum, item) => sum + item.files.length, 0);
  const states = items.reduce((sum, item) => sum + item.history.length, 0);
  const further = [files > 0 && plural(files, "file"), states > 0 && plural(states, "earlier version")].filter(Boolean);
  return `${[`${plural(items.length, noun)} from ${program}`, ...further].join(", ")}.`;
}

function CategoryTable({ items }: { readonly items: readonly TransferItem[] }) {
  const rows = [...Map.groupBy(items, ({ category }) => category)].toSorted(([, a], [, b]) => b.length - a.length);
  return <Pairs class="counts" rows={rows.map(([category, { length }]) => [labelOfCategory(category), length])} />;
}

const isNamed = (name: string) => (one: { readonly name: string }) => one.name.toLowerCase() === name.toLowerCase();

/** Returns the user's choice for each vault of the source, or the vault of the same name or the only one. A shared name has none. */
function chooseTargets(names: readonly string[], shared: readonly SharedName[], made: ReadonlyMap<string, string>) {
  const all = transferTargets();
  const only = all.length === 1 ? all[0]!.id : "";
  const choose = (name: string) => (shared.some(isNamed(name)) ? "" : (all.find(isNamed(name))?.id ?? only));
  return new Map(names.map((name) => [name, made.get(name) || choose(name)]));
}

type ChoiceProps = Readonly<{ names: readonly string[]; shared: readonly SharedName[]; shown: Import }>;

function VaultChoice({ names, shared, shown }: ChoiceProps) {
  const targets = shown.targets.value;
  const vaultOptions = [["", "Choose a vault…"] as const, ...transferTargets().map(({ id, name }) => [id, name] as const)];
  if (listState.value === "failed") return <Failure error={listError.value} retry={() => void loadItems()} />;
  if (listState.value === "loading") return <p class="quiet">Loading your vaults…</p>;
  return (
    <fieldset class="targets">
      <legend class="unseen">Vaults</legend>
      {shared.map(({ name, count }) => (
        <p key={name}>
          The file has {plural(count, "vault")} named “{isolate(name)}”, in upper or lower case. All their items go into the vault
          that you choose. To keep them apart, rename the vaults before you export them.
        </p>
      ))}
      {names.map((name) => (
        <Select
          key={name}
          label={name === "" ? "Import into" : <>Import “{isolate(name)}” into</>}
          required
          value={targets.get(name) ?? ""}
          options={names.length > 1 ? [...vaultOptions, ["none", "Do not import"]] : vaultOptions}
          onChange={(id) => shown.setTargets(new Map([...targets, [name, id]]))}
        />
      ))}
    </fieldset>
  );
}

function ForecastOf({ shown }: Pick<Props, "shown">) {
  const forecast = shown.forecast.value;
  if (shown.problem.value) return <Failure error={shown.problem.value} retry={() => void shown.compare()} />;
  return (
    <>
      <output class="forecast">{forecast ? describeForecast(forecast) : "Comparing with the vault…"}</output>
      <Differing titles={forecast?.differing ?? []} />
    </>
  );
}

function describeForecast({ items, created, completed, present, differing }: Forecast): string {
  const parts = [
    [created, "new"],
    [completed, "to complete after an interrupted import"],
    [present, "already here"],
    [differing.length, "already here with different content"],
  ] as const;
  const text = parts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(", ");
  return `${plural(items.length, "item")}${text && `: ${text}`}.${created + completed > 0 ? "" : " Nothing to import."}`;
}

const LossReport = ({ losses }: { readonly losses: readonly Loss[] }) => (
  <>
    <h3>Not carried over</h3>
    {losses.length === 0 ? <p>Everything can be imported.</p> : <CountList label="Not carried over" rows={losses} />}
  </>
);

/** Counts with their words, and titles of some of the Items. */
export const CountList = ({ label, rows }: Readonly<{ label: string; rows: readonly Loss[] }>) => (
  <ul class="losses" aria-label={label}>
    {rows.map(({ what, count, examples = [] }) => (
      <li key={what}>
        {/* The words of the command line, without the name of one of its options. */}
        <b>{count}</b> <span>{what.replace(/ \(--[^)]*\)$/, "")}</span>
        {examples.length > 0 && <small class="quiet">{describeExamples(examples, count)}</small>}
      </li>
    ))}
  </ul>
);

/** Titles of Items; `count`: how often it occurs, in these Items and others. */
function describeExamples(titles: readonly string[], count: number): string {
  const quoted = titles.map((title) => `“${isolate(titleOf({ title }))}”`).join(", ");
  return count > titles.length ? `in ${quoted} and others` : `in ${quoted}`;
}

/** Sources with a trash say how many Items are in it. */
function TrashChoice({ shown, source }: Props) {
  const { includeTrash } = shown.reading.value;
  const hasTrash = source.fitted.losses.list().some(({ what }) => what.startsWith("Items in the trash"));
  if (!includeTrash && !hasTrash) return null;
  return (
    <Check
      label="Import items from the trash too"
      checked={includeTrash}
      onChange={(checked) => void shown.read({ includeTrash: checked })}
    />
  );
}

/** Items that cannot be read or written. They are left out if the user accepts that. */
const Unfit = ({ unfit, them, accepted }: Readonly<{ unfit: readonly UnfitItem[]; them: string; accepted: Signal<boolean> }>) => (
  <div class="failure">
    <p>{plural(unfit.length, "item")} can’t be imported:</p>
    <List rows={unfit.map((item) => `“${isolate(titleOf(item))}” ${item.why}.`)} />
    <Check label={`Leave ${them} out`} checked={accepted.value} onChange={(checked) => (accepted.value = checked)} />
  </div>
);

/** The titles of Items that are there with other content, folded up. */
export const Differing = ({ titles }: { readonly titles: readonly string[] }) =>
  titles.length > 0 && (
    <details>
      <summary>Already here with different content (not changed) ({titles.length})</summary>
      <List rows={titles.map((title) => titleOf({ title }))} />
    </details>
  );
