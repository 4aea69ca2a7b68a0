import { CHOICES } from "@item-vault/transfer/formats/csv/parts";
import { OUTCOMES } from "@item-vault/transfer/outcomes";
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useMemo } from "preact/hooks";
import { listState, transferTargets } from "../state/items.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { useDrop } from "../ui/drop.tsx";
import { Alert, Failure } from "../ui/failure.tsx";
import { Form, textOf } from "../ui/form.tsx";
import { LeaveGuard } from "../ui/leave.tsx";
import { List } from "../ui/lists.tsx";
import { focusOn, Heading, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { isolate, titleOf } from "../ui/texts.ts";
import { explainFault, Import } from "./create-import.ts";
import type { Refusal, Stage } from "./engine.ts";
import { FORMATS } from "./formats.ts";
import { CountList, Differing, formOf, Review } from "./review.tsx";

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

type Props<Name extends Stage["name"]> = Readonly<{ shown: Import; stage: Extract<Stage, { name: Name }> }>;

const STAGES: { readonly [Name in Stage["name"]]: (props: Props<Name>) => ComponentChildren } = {
  choose: ChooseFile,
  reading: () => <Heading level="h2">Reading the file…</Heading>,
  password: PasswordForm,
  columns: ColumnForm,
  review: ({ shown, stage }) => <Review shown={shown} source={stage.source} />,
  writing: Writing,
  finished: Result,
};

const CSV_PROGRAMS = FORMATS.filter(({ hasColumns, name }) => hasColumns && name !== "csv").map(({ summary }) =>
  summary.replace(": CSV", ""),
);

/** The file: chosen or dropped. It is read in the page and sent nowhere. */
function ChooseFile({ shown, stage: { problem } }: Props<"choose">) {
  const choose = useCallback(([file]: readonly File[]) => file && shown.chooseFile(file), [shown]);
  const over = useDrop(() => document.querySelector(".import"), choose);
  if (listState.value === "loaded" && transferTargets().length === 0)
    return <p class="empty">You need write access to a vault to import. Ask an administrator.</p>;
  return (
    <>
      <p>
        Bring in passwords from another app. The file is read in your browser and never uploaded; you review everything first.
      </p>
      {problem && <ProblemOf problem={problem} shown={shown} />}
      <label>
        Choose a file, or drop it here
        <input type="file" class={`drop ${over ? "over" : ""}`} onChange={(event) => choose([...event.currentTarget.files!])} />
      </label>
      <h2>Supported files</h2>
      <ul class="formats">
        {FORMATS.filter(({ hasColumns }) => !hasColumns).map(({ name, summary }) => (
          <li key={name}>
            {/* As the command line prints it: text in backticks is code. */}
            {summary.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
          </li>
        ))}
        <li>CSV: {CSV_PROGRAMS.join("; ")}; any other app</li>
      </ul>
      <p class="quiet">
        The command line also reads KeePass databases and other services: <code>item-vault import FILE</code>
      </p>
    </>
  );
}

function ProblemOf({ problem: { kind, text }, shown }: Readonly<{ problem: Refusal; shown: Import }>) {
  const name = <p class="named">{shown.file.value?.name}</p>;
  if (kind === "fault")
    return (
      <div class="failure" role="alert">
        {name}
        <p>{text}</p>
      </div>
    );
  return (
    <Form look="failure" action={(data) => shown.read({ format: textOf(data, "format") })} submit="Continue">
      {name}
      <p role="alert">{QUESTIONS[kind]}</p>
      <Select label="App" name="format" required options={APPS} />
    </Form>
  );
}

const QUESTIONS = {
  unknown: "We don’t recognize this file. Which app is it from?",
  several: "This file could be from more than one app. Which one is it from?",
} as const;

const APPS = [["", "Choose…"] as const, ...FORMATS.map(({ name, summary }) => [name, summary] as const)];

function PasswordForm({ shown, stage: { problem } }: Props<"password">) {
  return (
    <Form {...formOf(shown)} action={(data) => shown.read({ password: textOf(data, "password") })} submit="Open">
      <h2>{shown.file.value?.name} is encrypted</h2>
      <label>
        File password
        <input
          ref={focusOn}
          name="password"
          type="password"
          required
          autocomplete="one-time-code"
          aria-describedby="password-problem"
        />
      </label>
      <p id="password-problem" class={problem ? "failure" : "quiet"} role={problem && "alert"}>
        {problem?.text ?? "You set it when you exported the file. It never leaves this page."}
      </p>
    </Form>
  );
}

/** Asks for the meaning of each column of a CSV file. Its name suggests the answer; a column with an unknown name becomes a hidden field. */
function ColumnForm({ shown, stage: { columns, problem } }: Props<"columns">) {
  const earlier = shown.reading.value.columns;
  const unique = [...new Map(columns.map((one) => [one.column.toLowerCase(), one]))];
  const action = (data: FormData) => {
    const meanings = data.getAll("meaning").map(String);
    return shown.read({ format: "csv", columns: new Map(unique.map(([key], index) => [key, meanings[index]!])) });
  };
  return (
    <Form {...formOf(shown)} action={action} submit="Continue">
      <Heading level="h2">Columns of “{isolate(shown.file.value?.name ?? "")}”</Heading>
      {problem && <Alert>{problem.text}</Alert>}
      <p>
        We don’t know which app wrote this file. Choose what each column holds. The first row is not imported: it must contain the
        column names.
      </p>
      <fieldset class="targets">
        <legend class="unseen">Columns</legend>
        {unique.map(([key, { column, part }]) => (
          <Select
            key={key}
            label={isolate(column) || "(no name)"}
            name="meaning"
            options={CHOICES.map(({ name, label }) => [name, label])}
            defaultValue={earlier?.get(key) ?? part ?? "concealed"}
          />
        ))}
      </fieldset>
    </Form>
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
      <Heading level="h2">Importing</Heading>
      <label class="progress">
        {shown.done.value.toLocaleString("en")} of {plural(all, "item")}
        <progress max={all} value={shown.done.value} />
      </label>
      <p class="quiet">{LEAVING}</p>
      <p class="actions">
        <Button text={isStopping.value ? "Stopping…" : "Stop"} disabled={isStopping.value} onClick={stop} />
      </p>
    </>
  );
}

/** The final report: the outcomes of the Items, and the way to continue an import that ended early. */
function Result({ shown, stage: { result } }: Props<"finished">) {
  const { stopped, fatal, differing, failures, counts, all } = result;
  const isWhole = !stopped && !fatal;
  const missing = all - [...counts.values()].reduce((sum, count) => sum + count, 0);
  const outcomes = Object.entries(OUTCOMES).map(([outcome, what]) => ({ what, count: counts.get(outcome) ?? 0 }));
  const rows = [...outcomes, { what: "not imported yet", count: missing }].filter(({ count }) => count > 0);
  return (
    <>
      <Heading level="h2">{isWhole ? "Imported" : stopped ? "Import stopped" : "Import interrupted"}</Heading>
      {fatal && <Alert>{explainFault(fatal)}</Alert>}
      <CountList label="Result" rows={rows} />
      <Differing titles={differing} />
      {failures.length > 0 && (
        <List
          class="failure"
          label="Failed"
          rows={failures.map(({ title, why }) => `“${isolate(titleOf({ title }))}”: ${why}`)}
        />
      )}
      {shown.problem.value && <Failure error={shown.problem.value} />}
      {isWhole ? (
        failures.length === 0 && <p>Your export file may contain unencrypted passwords. Delete it and empty the trash.</p>
      ) : (
        <p class="actions">
          <Button text="Continue" class="primary" onClick={() => void shown.resume()} />
          <span class="quiet">Continues where it stopped. Nothing is imported twice.</span>
        </p>
      )}
      <p class="actions">
        <a class={isWhole ? "button primary" : "button"} href="#/items">
          View items
        </a>
        <Button text="Import another file" onClick={shown.close} />
      </p>
    </>
  );
}
