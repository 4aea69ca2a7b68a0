import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { LeaveGuard } from "../ui/leave.tsx";
import { Page } from "../ui/page.tsx";
import { ChooseFile } from "./choose-file.tsx";
import { ColumnForm } from "./column-form.tsx";
import { createImport, type Import } from "./create-import.ts";
import { Result } from "./result.tsx";
import { Review } from "./review.tsx";
import { StageHeading } from "./stage-heading.tsx";
import type { Stage, Problem } from "./stage.ts";
import { useSignal } from "@preact/signals";
import { plural } from "../ui/plural.ts";

/** Imports Items from another program's file: choose the file, review the import, run it, report. */
export function ImportView() {
  const shown = useMemo(createImport, []);
  useLayoutEffect(() => shown.close, []);
  const stage = shown.stage.value;
  return (
    <Page title="Import">
      <div class="import">{show(stage, shown)}</div>
      <LeaveGuard
        changed={() => shown.stage.value.name === "writing"}
        title="Stop the import?"
        text="Leaving stops the import. Import the same file again to continue."
        stay="Keep importing"
        leave="Stop and leave"
      />
    </Page>
  );
}

const STAGES: { readonly [Name in Stage["name"]]: (stage: Extract<Stage, { name: Name }>, shown: Import) => ComponentChildren } =
  {
    choose: ({ problem }, shown) => <ChooseFile shown={shown} problem={problem} />,
    reading: () => <StageHeading>Reading the file…</StageHeading>,
    password: ({ problem }, shown) => <PasswordForm shown={shown} problem={problem} />,
    columns: ({ columns, problem }, shown) => <ColumnForm shown={shown} columns={columns} problem={problem} />,
    review: ({ source }, shown) => <Review shown={shown} source={source} />,
    writing: ({ all }, shown) => <Writing shown={shown} all={all} />,
    finished: ({ result }, shown) => <Result shown={shown} result={result} />,
  };

const show = (stage: Stage, shown: Import): ComponentChildren =>
  (STAGES[stage.name] as (stage: Stage, shown: Import) => ComponentChildren)(stage, shown);

/** Asks for the password of an encrypted file. */
function PasswordForm({ shown, problem }: { readonly shown: Import; readonly problem: Problem | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    shown.read({ password: input.current!.value });
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
      <p class="actions">
        <button class="primary">Open</button>
        <button type="button" onClick={shown.close}>
          Choose another file
        </button>
      </p>
    </form>
  );
}

/** The progress of the import. */
function Writing({ shown, all }: { readonly shown: Import; readonly all: number }) {
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
      <p class="quiet">Leaving stops the import. Import the same file again to continue.</p>
      <p class="actions">
        <button type="button" disabled={isStopping.value} onClick={stop}>
          {isStopping.value ? "Stopping…" : "Stop"}
        </button>
      </p>
    </>
  );
}
