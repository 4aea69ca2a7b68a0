import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { CHOICES } from "@item-vault/transfer/formats/csv/parts";
import { OUTCOMES } from "@item-vault/transfer/outcomes";
import { titleOf } from "../items/categories.ts";
import { Failure } from "../ui/failure.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";
import { ChooseFile } from "./choose-file.tsx";
import { explainFault, Import } from "./create-import.ts";
import type { Stage } from "./engine.ts";
import { Alert, Differing, StageHeading } from "./parts.tsx";
import { Review } from "./review.tsx";

const LEAVING = "Leaving stops the import. Import the same file again to continue.";

/** Imports Items from another program's file: choose the file, review the import, run it, report. */
export function ImportView() {
  const shown = useMemo(() => new Import(), []);
  useLayoutEffect(() => shown.close, []);
  const stage = shown.stage.value;
  const Shown = STAGES[stage.name] as (props: { readonly shown: Import; readonly stage: Stage }) => ComponentChildren;
  return (
    <Page title="Import">
      <div class="import">
        <Shown key={stage.name} shown={shown} stage={stage} />
      </div>
      <LeaveGuard
        changed={() => shown.stage.value.name === "writing"}
        title="Stop the import?"
        text={LEAVING}
        stay="Keep importing"
        leave="Stop and leave"
      />
    </Page>
  );
}

interface Props<Name extends Stage["name"]> {
  readonly shown: Import;
  readonly stage: Extract<Stage, { name: Name }>;
}

const STAGES: { readonly [Name in Stage["name"]]: (props: Props<Name>) => ComponentChildren } = {
  choose: ({ shown, stage }) => <ChooseFile shown={shown} problem={stage.problem} />,
  reading: () => <StageHeading>Reading the file…</StageHeading>,
  password: PasswordForm,
  columns: ColumnForm,
  review: ({ shown, stage }) => <Review shown={shown} source={stage.source} />,
  writing: Writing,
  finished: Result,
};

const Steps = ({ shown, next }: { readonly shown: Import; readonly next: string }) => (
  <p class="actions">
    <button class="primary">{next}</button>
    <button type="button" onClick={shown.close}>
      Choose another file
    </button>
  </p>
);

function PasswordForm({ shown, stage: { problem } }: Props<"password">) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void shown.read({ password: input.current!.value });
  };
  return (
    <form onSubmit={onSubmit}>
      <h2>{shown.file.value?.name} is encrypted</h2>
      <label>
        File password
        <input ref={input} type="password" required autocomplete="one-time-code" aria-describedby="password-problem" />
      </label>
      <p id="password-problem" class={problem ? "failure" : "quiet"} role={problem && "alert"}>
        {problem?.text ?? "You set it when you exported the file. It never leaves this page."}
      </p>
      <Steps shown={shown} next="Open" />
    </form>
  );
}

/** Asks for the meaning of each column of a CSV file. Its name suggests the answer; a column with an unknown name becomes a hidden field. */
function ColumnForm({ shown, stage: { columns, problem } }: Props<"columns">) {
  const earlier = shown.reading.value.columns;
  const unique = [...new Map(columns.map((one) => [one.column.toLowerCase(), one])).entries()];
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const selects = (event.currentTarget as HTMLFormElement).querySelectorAll("select");
    void shown.read({ format: "csv", columns: new Map(unique.map(([key], n) => [key, selects[n]!.value])) });
  };
  return (
    <form onSubmit={onSubmit}>
      <StageHeading>Columns of “{isolate(shown.file.value?.name ?? "")}”</StageHeading>
      {problem && <Alert>{problem.text}</Alert>}
      <p>
        We don’t know which app wrote this file. Choose what each column holds. The first row is not imported: it must contain the
        column names.
      </p>
      <fieldset class="targets">
        <legend class="unseen">Columns</legend>
        {unique.map(([key, { column, part }]) => (
          <label key={key}>
            {isolate(column) || "(no name)"}
            <select>
              {CHOICES.map(({ name, label }) => (
                <option key={name} value={name} selected={name === (earlier?.get(key) ?? part ?? "concealed")}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        ))}
      </fieldset>
      <Steps shown={shown} next="Continue" />
    </form>
  );
}

function Writing({ shown, stage: { all } }: Props<"writing">) {
  const isStopping = useSignal(false);
  const stop = () => {
    isStopping.value = true;
    shown.stop();
  };
  return (
    <>
      <StageHeading>Importing</StageHeading>
      <label class="progress">
        {shown.done.value.toLocaleString("en")} of {plural(all, "item")}
        <progress max={all} value={shown.done.value} />
      </label>
      <p class="quiet">{LEAVING}</p>
      <p class="actions">
        <button type="button" disabled={isStopping.value} onClick={stop}>
          {isStopping.value ? "Stopping…" : "Stop"}
        </button>
      </p>
    </>
  );
}

/** The final report: the outcomes of the Items, and the way to continue an import that ended early. */
function Result({ shown, stage: { result } }: Props<"finished">) {
  const { stopped, fatal, differing, failures, counts, all } = result;
  const isWhole = !stopped && !fatal;
  const missing = all - [...counts.values()].reduce((sum, count) => sum + count, 0);
  const outcomes = Object.entries(OUTCOMES).map(([outcome, word]) => [counts.get(outcome) ?? 0, word] as const);
  return (
    <>
      <StageHeading>{isWhole ? "Imported" : stopped ? "Import stopped" : "Import interrupted"}</StageHeading>
      {fatal && <Alert>{explainFault(fatal)}</Alert>}
      <ul class="losses" aria-label="Result">
        {[...outcomes, [missing, "not imported yet"] as const].map(
          ([count, word]) =>
            count > 0 && (
              <li key={word}>
                <b>{count}</b> <span>{word}</span>
              </li>
            ),
        )}
      </ul>
      <Differing titles={differing} />
      {failures.length > 0 && (
        <ul class="failure" aria-label="Failed">
          {failures.map(({ title, why }, index) => (
            <li key={index}>
              “{titleOf({ title })}”: {why}
            </li>
          ))}
        </ul>
      )}
      {shown.problem.value && <Failure error={shown.problem.value} />}
      {isWhole ? (
        failures.length === 0 && <p>Your export file may contain unencrypted passwords. Delete it and empty the trash.</p>
      ) : (
        <p class="actions">
          <button type="button" class="primary" onClick={() => void shown.resume()}>
            Continue
          </button>
          <span class="quiet">Continues where it stopped. Nothing is imported twice.</span>
        </p>
      )}
      <p class="actions">
        <a class={isWhole ? "button primary" : "button"} href="#/items">
          View items
        </a>
        <button type="button" onClick={shown.close}>
          Import another file
        </button>
      </p>
    </>
  );
}
