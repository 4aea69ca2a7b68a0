import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { LeaveGuard } from "../ui/leave.tsx";
import { Page } from "../ui/page.tsx";
import { ChooseFile } from "./choose-file.tsx";
import { ColumnForm } from "./column-form.tsx";
import { createImport, type Import } from "./create-import.ts";
import { PasswordForm } from "./password-form.tsx";
import { Result } from "./result.tsx";
import { Review } from "./review.tsx";
import { StageHeading } from "./stage-heading.tsx";
import type { Stage } from "./stage.ts";
import { Writing } from "./writing.tsx";

/** Imports Items of a file of another program: choose the file, review what it would do, import, report. */
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
