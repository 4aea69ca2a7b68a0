import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { differences, type Difference, merge, type Side, type Sides } from "./conflict.ts";
import { nameOf, PartOf } from "./conflict-part.tsx";
import type { Draft } from "../items/draft.ts";

/** Both sides of a conflict, where they differ. The user chooses one for each part; nothing is written before that. */

interface Props {
  readonly sides: Sides;
  readonly onSave: (draft: Draft) => void;
  readonly onCancel: () => void;
}

const CHANGED_BY: Readonly<Record<Side, string>> = {
  mine: "Changed by you",
  theirs: "Changed by them",
};
const HEADINGS: Readonly<Record<Side, string>> = { mine: "Mine", theirs: "Theirs" };

export function ConflictView({ sides, onSave, onCancel }: Props) {
  const rows = differences(sides);
  const choices = useSignal<Readonly<Record<string, Side | undefined>>>(
    Object.fromEntries(rows.map(({ key, changedBy }) => [key, changedBy])),
  );
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const chooseAll = (side: Side) => (choices.value = Object.fromEntries(rows.map(({ key }) => [key, side])));
  return (
    <form
      class="conflict"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(merge(sides, (key) => choices.value[key] ?? "mine"));
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        Someone else changed this item
      </h2>
      <p>Someone saved this item while you were editing. Choose which values to keep.</p>
      <div class="actions">
        <button type="button" onClick={() => chooseAll("mine")}>
          Keep mine
        </button>
        <button type="button" onClick={() => chooseAll("theirs")}>
          Take theirs
        </button>
      </div>
      {rows.map((row) => (
        <Row
          key={row.key}
          row={row}
          sides={sides}
          choice={choices.value[row.key]}
          choose={(side) => (choices.value = { ...choices.value, [row.key]: side })}
        />
      ))}
      <footer class="save-bar">
        <button type="button" onClick={onCancel}>
          Back to the form
        </button>
        <button class="primary">Save</button>
      </footer>
    </form>
  );
}

interface RowProps {
  readonly row: Difference;
  readonly sides: Sides;
  readonly choice: Side | undefined;
  readonly choose: (side: Side) => void;
}

function Row({ row: { key, part, changedBy }, sides, choice, choose }: RowProps) {
  const name = nameOf(part, sides);
  return (
    <fieldset class="difference">
      <legend>{name}</legend>
      <p class="quiet">{changedBy === undefined ? "Changed by both" : CHANGED_BY[changedBy]}</p>
      <div class="sides">
        {(["mine", "theirs"] as const).map((side) => (
          <div key={side} class="side">
            <label class="check">
              <input
                type="radio"
                name={key}
                required
                checked={choice === side}
                onChange={() => choose(side)}
                aria-label={`${HEADINGS[side]}: ${name}`}
              />
              {HEADINGS[side]}
            </label>
            <PartOf part={part} sides={sides} side={side} label={`${HEADINGS[side].toLowerCase()} of ${name}`} />
          </div>
        ))}
      </div>
    </fieldset>
  );
}
