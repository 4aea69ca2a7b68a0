import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { differences, type Difference, merge, type Side, type Sides } from "./conflict.ts";
import type { Draft, DraftField } from "../items/draft.ts";
import { ATTRIBUTE_TEXTS } from "../items/attribute-texts.ts";
import type { Part } from "../items/comparison.ts";
import { displayOf, labelOf } from "../items/field-types.ts";
import { HiddenValue, RevealButton, SecretText, useReveal } from "../ui/reveal.tsx";
import { PURPOSES, TYPES } from "./value-inputs.ts";
import { isolate } from "../ui/texts.ts";

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

/** A part of a conflict. Concealed values are hidden until they are revealed. */

/** The name of a part, for people. */
function nameOf(part: Part, { mine, theirs }: Sides): string {
  if (part.kind !== "field" && part.kind !== "section") return ATTRIBUTE_TEXTS[part.kind].name;
  const isPart = ({ id }: { readonly id: string }) => id === part.id;
  if (part.kind === "field") return labelOf([...mine.fields, ...theirs.fields].find(isPart)!);
  return `Section ${isolate([...mine.sections, ...theirs.sections].find(isPart)?.label || part.id)}`;
}

interface PartProps {
  readonly part: Part;
  readonly sides: Sides;
  readonly side: Side;
  readonly label: string;
}

/** A part as one side has it. `label` is the name of its value. */
function PartOf({ part, sides, side, label }: PartProps) {
  const draft = sides[side];
  if (part.kind !== "field") return <p class="value">{textOf(part, draft)}</p>;
  const field = draft.fields.find(({ id }) => id === part.id);
  if (!field) return <p class="quiet">Does not exist</p>;
  const [mine, theirs] = [sides.mine, sides.theirs].map((each) => detailsOf(part.id, each));
  return (
    <>
      <Value field={field} label={label} />
      {mine !== theirs && <p class="quiet">{detailsOf(part.id, draft)}</p>}
    </>
  );
}

function textOf(part: Part, draft: Draft): string {
  if (part.kind === "field") return "";
  if (part.kind !== "section") return ATTRIBUTE_TEXTS[part.kind].textOf(draft) || "Empty";
  const section = draft.sections.find(({ id }) => id === part.id);
  return section ? section.label || "Untitled" : "Does not exist";
}

/** Returns the details of a field besides its value. */
function detailsOf(id: string, { fields, sections }: Draft): string {
  const { label, type, purpose, section } = fields.find((field) => field.id === id) ?? EMPTY;
  const place = sections.find((each) => each.id === section);
  const details = [
    isolate(label),
    TYPES[type]?.label ?? type,
    PURPOSES[purpose],
    place && `in ${isolate(place.label || "Untitled")}`,
  ];
  return details.filter(Boolean).join(" · ");
}

const EMPTY = { label: "", type: "STRING", purpose: "", section: "" } as const;

function Value({ field, label }: { readonly field: DraftField; readonly label: string }) {
  const { concealed = false } = displayOf(field);
  const { revealed, toggle } = useReveal(field.value);
  if (field.value === "") return <p class="quiet">Empty</p>;
  return (
    <div class="line">
      {concealed ? revealed ? <SecretText value={field.value} /> : <HiddenValue /> : <span class="value">{field.value}</span>}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
    </div>
  );
}
