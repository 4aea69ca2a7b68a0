import { useCallback } from "preact/hooks";
import type { Import } from "./create-import.ts";
import type { Refusal } from "./engine.ts";
import { FORMATS } from "./formats.ts";
import { listState, transferTargets } from "../state/items.ts";
import { useDrop } from "../ui/drop.ts";
import { Select } from "../ui/controls.tsx";

const CSV_PROGRAMS = FORMATS.filter(({ hasColumns, name }) => hasColumns && name !== "csv").map(({ summary }) =>
  summary.replace(": CSV", ""),
);

interface Props {
  readonly shown: Import;
  readonly problem: Refusal | undefined;
}

/** The file: chosen or dropped. It is read in the page and sent nowhere. */
export function ChooseFile({ shown, problem }: Props) {
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

function ProblemOf({ problem: { kind, text }, shown }: Props & { readonly problem: Refusal }) {
  if (kind !== "fault") return <FormatChoice kind={kind} shown={shown} />;
  return (
    <div class="failure" role="alert">
      <p class="named">{shown.file.value?.name}</p>
      <p>{text}</p>
    </div>
  );
}

const QUESTIONS = {
  unknown: "We don’t recognize this file. Which app is it from?",
  several: "This file could be from more than one app. Which one is it from?",
} as const;

const APPS = [["", "Choose…"] as const, ...FORMATS.map(({ name, summary }) => [name, summary] as const)];

function FormatChoice({ kind, shown }: { readonly kind: keyof typeof QUESTIONS; readonly shown: Import }) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const select = (event.currentTarget as HTMLFormElement).elements.namedItem("format") as HTMLSelectElement;
    void shown.read({ format: select.value });
  };
  return (
    <form class="failure" onSubmit={onSubmit}>
      <p class="named">{shown.file.value?.name}</p>
      <p role="alert">{QUESTIONS[kind]}</p>
      <Select label="App" name="format" required options={APPS} />
      <button class="primary">Continue</button>
    </form>
  );
}
