import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { sharedNames } from "@item-vault/transfer/shared-names";
import { plural } from "../ui/plural.ts";
import { vaults } from "../state/items.ts";
import { isolate } from "../ui/texts.ts";
import type { Import } from "./create-import.ts";
import type { Source } from "./engine.ts";
import { FORMATS } from "./formats.ts";
import { StageHeading } from "./stage-heading.tsx";
import { CategoryTable, Unfit } from "./source-tables.tsx";
import { chooseTargets, isChosen, VaultChoice } from "./vault-choice.tsx";
import type { Loss } from "@item-vault/transfer/item";
import { titleOf } from "../items/categories.ts";
import type { Forecast } from "./stage.ts";
import { TitleList } from "./title-list.tsx";

interface Props {
  readonly shown: Import;
  readonly source: Source;
}

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
  const hasTargets = isChosen(names, shown.targets.value);
  /** The user's remaining steps before the import. */
  const missing = [
    !hasTargets && (names.length > 1 ? "choose a vault for each" : "choose a vault"),
    unfit.length > 0 && !leavesOut.value && `tick “Leave ${unfit.length === 1 ? "it" : "them"} out”`,
  ].filter(Boolean);
  const isReady = forecast !== undefined && count > 0 && missing.length === 0;
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isReady) shown.write();
  };
  return (
    <form onSubmit={onSubmit}>
      <StageHeading>Review: “{isolate(shown.file.value?.name ?? "")}”</StageHeading>
      <p>{describe(source)}</p>
      <CategoryTable items={items} />
      <VaultChoice names={names} shared={shared} shown={shown} />
      {hasTargets && <ForecastOf shown={shown} />}
      {(unfit.length === 0 || losses.list().length > 0) && (
        <>
          <h3>Not carried over</h3>
          <LossReport losses={losses.list()} />
        </>
      )}
      <TrashChoice shown={shown} source={source} />
      {unfit.length > 0 && <Unfit unfit={unfit} accepted={leavesOut} />}
      {missing.length > 0 && <p class="quiet">To import, {missing.join(" and ")}.</p>}
      <p class="actions">
        <button class="primary" disabled={!isReady}>
          {count > 0 ? `Import ${plural(count, "item")}` : "Import"}
        </button>
        {shown.reading.value.columns && (
          <button type="button" onClick={shown.changeColumns}>
            Change columns
          </button>
        )}
        <button type="button" onClick={shown.close}>
          Choose another file
        </button>
      </p>
    </form>
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

const isTrash = (what: string): boolean => what.startsWith("Items in the trash");

/** Sources with a trash say how many Items are in it. */
function TrashChoice({ shown, source }: Props) {
  const { includeTrash } = shown.reading.value;
  if (!includeTrash && !source.fitted.losses.list().some(({ what }) => isTrash(what))) return null;
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={includeTrash}
        onChange={(event) => shown.read({ includeTrash: event.currentTarget.checked })}
      />
      Import items from the trash too
    </label>
  );
}

/** The loss report: what is lost, how often, and in which Items. */
function LossReport({ losses }: { readonly losses: readonly Loss[] }) {
  if (losses.length === 0) return <p>Everything can be imported.</p>;
  return (
    <ul class="losses" aria-label="Not carried over">
      {losses.map(({ what, count, examples = [] }) => (
        <li key={what}>
          <b>{count}</b> <span>{withoutOption(what)}</span>
          {examples.length > 0 && <small class="quiet">{describeExamples(examples, count)}</small>}
        </li>
      ))}
    </ul>
  );
}

/** The words of the command line, without the name of one of its options. */
const withoutOption = (what: string): string => what.replace(/ \(--[^)]*\)$/, "");

/** Titles of Items; `count`: how often it was lost, in these Items and others. */
function describeExamples(titles: readonly string[], count: number): string {
  const quoted = titles.map((title) => `“${isolate(titleOf({ title }))}”`).join(", ");
  return count > titles.length ? `in ${quoted} and others` : `in ${quoted}`;
}

/** The forecast of the import, from a comparison with the vaults. */
function ForecastOf({ shown }: Pick<Props, "shown">) {
  const forecast = shown.forecast.value;
  if (shown.problem.value !== "")
    return (
      <div class="failure" role="alert">
        <p>{shown.problem.value}</p>
        <button type="button" onClick={shown.compare}>
          Try again
        </button>
      </div>
    );
  return (
    <>
      <output class="forecast">{forecast ? describeForecast(forecast) : "Comparing with the vault…"}</output>
      {forecast && forecast.differing.length > 0 && (
        <TitleList summary="Already here with different content (not changed)" titles={forecast.differing} />
      )}
    </>
  );
}

function describeForecast({ created, completed, present, differing }: Forecast): string {
  const parts = [
    [created, "new"],
    [completed, "to complete after an interrupted import"],
    [present, "already here"],
    [differing.length, "already here with different content"],
  ] as const;
  const text = parts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(", ");
  const all = plural(created + completed + present + differing.length, "item");
  return created + completed > 0 ? `${all}: ${text}.` : `${all}${text && `: ${text}`}. Nothing to import.`;
}
