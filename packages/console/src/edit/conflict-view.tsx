import { useSignal } from "@preact/signals";
import { differences, type Difference, merge, type Side, type Sides } from "./conflict.ts";
import type { Draft } from "../items/draft.ts";
import { ATTRIBUTE_TEXTS, type Part } from "../items/comparison.ts";
import { isConcealed, labelOf } from "../items/field-types.ts";
import { ConcealedValue } from "../ui/reveal.tsx";
import { PURPOSES, TYPES } from "./value-inputs.ts";
import { isolate } from "../ui/texts.ts";
import { Button } from "../ui/button.tsx";
import { Heading } from "../ui/page.tsx";

type Props = Readonly<{ sides: Sides; onSave: (draft: Draft) => void; onCancel: () => void }>;

const SIDES: Readonly<Record<Side, { readonly heading: string; readonly all: string; readonly changed: string }>> = {
  mine: { heading: "Mine", all: "Keep mine", changed: "Changed by you" },
  theirs: { heading: "Theirs", all: "Take theirs", changed: "Changed by them" },
};
const SIDE_NAMES = Object.keys(SIDES) as Side[];

/** Both sides of a conflict, where they differ. The user chooses one for each part; nothing is written before that. */
export function ConflictView({ sides, onSave, onCancel }: Props) {
  const rows = differences(sides);
  const choices = useSignal<Readonly<Record<string, Side | undefined>>>(
    Object.fromEntries(rows.map(({ key, changedBy }) => [key, changedBy])),
  );
  return (
    <form
      class="conflict"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(merge(sides, (key) => choices.value[key] ?? "mine"));
      }}
    >
      <Heading level="h2">Someone else changed this item</Heading>
      <p>Someone saved this item while you were editing. Choose which values to keep.</p>
      <div class="actions">
        {SIDE_NAMES.map((side) => (
          <Button
            key={side}
            text={SIDES[side].all}
            onClick={() => (choices.value = Object.fromEntries(rows.map(({ key }) => [key, side])))}
          />
        ))}
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
        <Button text="Back to the form" onClick={onCancel} />
        <Button type="submit" text="Save" class="primary" />
      </footer>
    </form>
  );
}

type RowProps = Readonly<{ row: Difference; sides: Sides; choice: Side | undefined; choose: (side: Side) => void }>;

function Row({ row: { key, part, changedBy }, sides, choice, choose }: RowProps) {
  const name = nameOf(part, sides);
  return (
    <fieldset class="difference">
      <legend>{name}</legend>
      <p class="quiet">{changedBy === undefined ? "Changed by both" : SIDES[changedBy].changed}</p>
      <div class="sides">
        {SIDE_NAMES.map((side) => (
          <div key={side} class="side">
            <label class="check">
              <input
                type="radio"
                name={key}
                required
                checked={choice === side}
                onChange={() => choose(side)}
                aria-label={`${SIDES[side].heading}: ${name}`}
              />
              {SIDES[side].heading}
            </label>
            <PartOf part={part} sides={sides} side={side} label={`${side} of ${name}`} />
          </div>
        ))}
      </div>
    </fieldset>
  );
}

function nameOf(part: Part, { mine, theirs }: Sides): string {
  if (part.kind !== "field" && part.kind !== "section") return ATTRIBUTE_TEXTS[part.kind].name;
  const isPart = ({ id }: { readonly id: string }) => id === part.id;
  if (part.kind === "field") return labelOf([...mine.fields, ...theirs.fields].find(isPart)!);
  return `Section ${isolate([...mine.sections, ...theirs.sections].find(isPart)?.label || part.id)}`;
}

function PartOf({ part, sides, side, label }: Readonly<{ part: Part; sides: Sides; side: Side; label: string }>) {
  const { [side]: draft, mine, theirs } = sides;
  if (part.kind === "section") {
    const section = draft.sections.find(({ id }) => id === part.id);
    return <p class="value">{section ? section.label || "Untitled" : "Does not exist"}</p>;
  }
  if (part.kind !== "field") return <p class="value">{ATTRIBUTE_TEXTS[part.kind].textOf(draft) || "Empty"}</p>;
  const field = draft.fields.find(({ id }) => id === part.id);
  if (!field) return <p class="quiet">Does not exist</p>;
  const { value } = field;
  return (
    <>
      {value === "" ? (
        <p class="quiet">Empty</p>
      ) : (
        <div class="line">
          {isConcealed(field) ? <ConcealedValue name={label} value={value} /> : <span class="value">{value}</span>}
        </div>
      )}
      {detailsOf(part.id, mine) !== detailsOf(part.id, theirs) && <p class="quiet">{detailsOf(part.id, draft)}</p>}
    </>
  );
}

function detailsOf(id: string, { fields, sections }: Draft): string {
  const field = fields.find((each) => each.id === id);
  if (!field) return "";
  const { label, type, purpose } = field;
  const section = sections.find((each) => each.id === field.section);
  const place = section && `in ${isolate(section.label || "Untitled")}`;
  return [isolate(label), TYPES[type]?.label ?? type, PURPOSES[purpose], place].filter(Boolean).join(" · ");
}
