import { useSignal } from "@preact/signals";
import { plural } from "../ui/plural.ts";
import type { Import } from "./create-import.ts";
import { StageHeading } from "./stage-heading.tsx";

/** The progress of the import. */
export function Writing({ shown, all }: { readonly shown: Import; readonly all: number }) {
  const isStopping = useSignal(false);
  const stop = () => {
    isStopping.value = true;
    shown.stop();
  };
  return (
    <>
      <StageHeading>Importing</StageHeading>
      <label class="progress">
        {shown.done.value.toLocaleString("en")} of {plural(all, "Item")}
        <progress max={all} value={shown.done.value} />
      </label>
      <p class="quiet">The import stops when you leave this page. The same file continues it.</p>
      <p class="actions">
        <button type="button" disabled={isStopping.value} onClick={stop}>
          {isStopping.value ? "Stopping…" : "Stop"}
        </button>
      </p>
    </>
  );
}
