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
