import { ATTRIBUTE_TEXTS } from "../items/attribute-texts.ts";
import type { Part } from "../items/comparison.ts";
import { displayOf, labelOf } from "../items/field-types.ts";
import { HiddenValue, RevealButton, useReveal } from "../ui/reveal.tsx";
import type { Side, Sides } from "./conflict.ts";
import type { Draft, DraftField } from "../items/draft.ts";
import { PURPOSES, TYPES } from "./value-inputs.ts";
import { isolate } from "../ui/texts.ts";

/** What a conflict shows of a part: concealed values are hidden until they are revealed. */

/** The name of a part, for people. */
export function nameOf(part: Part, { mine, theirs }: Sides): string {
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

/** A part as one of the sides has it. In: `label`, the name of its value. */
export function PartOf({ part, sides, side, label }: PartProps) {
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

/** What two fields can differ in besides the value. */
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
      {concealed && !revealed ? <HiddenValue /> : <span class={concealed ? "value secret" : "value"}>{field.value}</span>}
      {concealed && <RevealButton name={label} revealed={revealed} toggle={toggle} />}
    </div>
  );
}
