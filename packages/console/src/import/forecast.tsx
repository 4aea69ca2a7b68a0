import { plural } from "../ui/plural.ts";
import type { Import } from "./create-import.ts";
import type { Forecast } from "./stage.ts";
import { TitleList } from "./title-list.tsx";

/** What the import would do, by a comparison with the vaults. */
export function ForecastOf({ shown, isChosen }: { readonly shown: Import; readonly isChosen: boolean }) {
  const forecast = shown.forecast.value;
  if (!isChosen) return <p class="quiet">Choose a vault.</p>;
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
      <output class="forecast">{forecast ? describe(forecast) : "Comparing with the vault…"}</output>
      {forecast && forecast.differing.length > 0 && (
        <TitleList summary="Already here with different content (not changed)" titles={forecast.differing} />
      )}
    </>
  );
}

function describe({ created, completed, present, differing }: Forecast): string {
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
