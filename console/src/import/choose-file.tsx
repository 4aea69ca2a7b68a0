import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { Import } from "./create-import.ts";
import { FORMATS } from "./formats.ts";
import { listState, transferTargets } from "../state/items.ts";
import type { Problem } from "./stage.ts";

interface Props {
  readonly shown: Import;
  readonly problem: Problem | undefined;
}

/** The file: chosen or dropped. It is read in the page and sent nowhere. */
export function ChooseFile({ shown, problem }: Props) {
  const isOver = useSignal(false);
  // A file that is dropped beside the field would replace the page.
  useLayoutEffect(() => {
    const keepPage = (event: Event) => void (event.target instanceof HTMLInputElement || event.preventDefault());
    const events = ["dragover", "drop"] as const;
    for (const name of events) addEventListener(name, keepPage);
    return () => events.forEach((name) => removeEventListener(name, keepPage));
  }, []);
  const choose = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file) shown.chooseFile(file);
  };
  if (listState.value === "loaded" && transferTargets().length === 0)
    return <p class="empty">You have no vault to which you may write. Ask its administrator for a permission.</p>;
  return (
    <>
      <p>
        Items of a file that another program has exported. The file is read in this page and never uploaded: only its Items are
        sent, after you have seen what will be imported.
      </p>
      {problem && <ProblemOf problem={problem} shown={shown} />}
      <label>
        Choose a file, or drop it here
        <input
          type="file"
          class={`drop ${isOver.value ? "over" : ""}`}
          onChange={(event) => choose(event.currentTarget.files)}
          onDragEnter={() => (isOver.value = true)}
          onDragLeave={() => (isOver.value = false)}
        />
      </label>
      <h2>Files that can be read</h2>
      <ul class="formats">
        {FORMATS.map(({ name, summary }) => (
          <li key={name}>
            <Summary text={summary} />
          </li>
        ))}
      </ul>
      <p class="quiet">
        The command line also reads KeePass databases, and other services: <code>item-vault import FILE</code>
      </p>
    </>
  );
}

function ProblemOf({ problem, shown }: { readonly problem: Problem; readonly shown: Import }) {
  if (problem.kind === "several" || problem.kind === "unknown") return <FormatChoice kind={problem.kind} shown={shown} />;
  return (
    <div class="failure" role="alert">
      {problem.kind === "keepass" ? (
        <p>
          A page cannot open KeePass databases. Import this one with the command line: <code>item-vault import FILE</code>
        </p>
      ) : (
        <p>{problem.text}</p>
      )}
    </div>
  );
}

/** A summary as the command line prints it: what it has in backticks is code. */
const Summary = ({ text }: { readonly text: string }) => (
  <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);

const QUESTIONS = {
  unknown: "The file has no format that is known. If you know it, choose it here.",
  several: "The file may be of several formats. Choose the right one.",
} as const;

function FormatChoice({ kind, shown }: { readonly kind: keyof typeof QUESTIONS; readonly shown: Import }) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const select = (event.currentTarget as HTMLFormElement).elements.namedItem("format") as HTMLSelectElement;
    shown.read({ format: select.value });
  };
  return (
    <form class="failure" onSubmit={onSubmit}>
      <p role="alert">{QUESTIONS[kind]}</p>
      <label>
        Format
        <select name="format" required>
          <option value="">Choose…</option>
          {FORMATS.map(({ name, summary }) => (
            <option key={name} value={name}>
              {summary}
            </option>
          ))}
        </select>
      </label>
      <button>Read the file</button>
    </form>
  );
}
