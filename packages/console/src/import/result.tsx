import { useSignal } from "@preact/signals";
import { OUTCOMES } from "@item-vault/transfer/outcomes";
import type { Import } from "./create-import.ts";
import { explainFault } from "./faults.ts";
import { titleOf } from "../items/categories.ts";
import { StageHeading } from "./stage-heading.tsx";
import type { Result as Counted } from "./stage.ts";
import { TitleList } from "./title-list.tsx";

interface Props {
  readonly shown: Import;
  readonly result: Counted;
}

/** The final report: the outcomes of the Items, and the way to continue an import that ended early. */
export function Result({ shown, result }: Props) {
  const { stopped, fatal, differing, failures } = result;
  const isWhole = !stopped && !fatal;
  return (
    <>
      <StageHeading>{isWhole ? "Imported" : stopped ? "Import stopped" : "Import interrupted"}</StageHeading>
      {fatal && (
        <p class="failure" role="alert">
          {explainFault(fatal)}
        </p>
      )}
      <Outcomes result={result} />
      {differing.length > 0 && <TitleList summary="Already here with different content (not changed)" titles={differing} />}
      {failures.length > 0 && (
        <ul class="failure" aria-label="Failed">
          {failures.map(({ title, why }, index) => (
            <li key={index}>
              “{titleOf({ title })}”: {why}
            </li>
          ))}
        </ul>
      )}
      {!isWhole && <Resume shown={shown} />}
      {isWhole && failures.length === 0 && (
        <p>Your export file may contain unencrypted passwords. Delete it and empty the trash.</p>
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

function Outcomes({ result: { counts, all } }: Pick<Props, "result">) {
  const words = Object.entries(OUTCOMES).filter(([outcome]) => counts.has(outcome));
  const missing = all - [...counts.values()].reduce((sum, count) => sum + count, 0);
  return (
    <ul class="losses" aria-label="Result">
      {words.map(([outcome, word]) => (
        <li key={outcome}>
          <b>{counts.get(outcome)}</b> <span>{word}</span>
        </li>
      ))}
      {missing > 0 && (
        <li>
          <b>{missing}</b> <span>not imported yet</span>
        </li>
      )}
    </ul>
  );
}

/** Continues: Items that are there already are found again, so none is made twice. */
function Resume({ shown }: Pick<Props, "shown">) {
  const isWaiting = useSignal(false);
  const resume = async () => {
    isWaiting.value = true;
    await shown.resume();
    isWaiting.value = false;
  };
  return (
    <>
      {shown.problem.value !== "" && (
        <p class="failure" role="alert">
          {shown.problem.value}
        </p>
      )}
      <p class="actions">
        <button type="button" class="primary" disabled={isWaiting.value} onClick={() => void resume()}>
          Continue
        </button>
        <span class="quiet">Continues where it stopped. Nothing is imported twice.</span>
      </p>
    </>
  );
}
