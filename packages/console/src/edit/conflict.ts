import { type Attribute, ATTRIBUTES, differingParts, type Part, partOf } from "../items/comparison.ts";
import { type Draft, type DraftField, isSame } from "../items/draft.ts";

/** A three-way comparison: an Item as it was when the form was opened, as it was typed, and as somebody else has stored it. */

export type Side = "mine" | "theirs";

export interface Difference {
  /** Unique in a list of differences. */
  readonly key: string;
  readonly part: Part;
  /** The side that has changed the part; `undefined` when both have, so that somebody has to choose. */
  readonly changedBy: Side | undefined;
}

export type Sides = Readonly<{ base: Draft; mine: Draft; theirs: Draft }>;

export const differences = ({ base, mine, theirs }: Sides): Difference[] =>
  differingParts(mine, theirs).map((part) => {
    const [old, own, other] = [base, mine, theirs].map((draft) => partOf(draft, part));
    const changedBy = isSame(own, old) ? "theirs" : isSame(other, old) ? "mine" : undefined;
    return { key: "id" in part ? `${part.kind} ${part.id}` : part.kind, part, changedBy };
  });

/**
 * Returns the draft with the chosen side of each difference. A section that a chosen field names stays. The order is mine if I have changed
 * it, else theirs; parts of only the other side follow. `choice` returns the side of a difference by its key.
 */
export function merge(sides: Sides, choice: (key: string) => Side): Draft {
  const { mine, theirs } = sides;
  const chosen = new Map(differences(sides).map(({ key }) => [key, choice(key)]));
  const sideOf = (key: string): Draft => (chosen.get(key) === "theirs" ? theirs : mine);
  const attributes = Object.fromEntries(ATTRIBUTES.map((kind) => [kind, sideOf(kind)[kind]])) as Pick<Draft, Attribute>;
  const fields = orderedIds(sides, "fields").flatMap(
    (id) => (partOf(sideOf(`field ${id}`), { kind: "field", id }) as DraftField | undefined) ?? [],
  );
  const named = new Set(fields.map(({ section }) => section));
  const sections = orderedIds(sides, "sections").flatMap((id) => {
    const find = (draft: Draft) => draft.sections.find((section) => section.id === id);
    return find(sideOf(`section ${id}`)) ?? (named.has(id) ? (find(mine) ?? find(theirs)) : undefined) ?? [];
  });
  return { ...attributes, sections, fields };
}

function orderedIds({ base, mine, theirs }: Sides, list: "sections" | "fields"): string[] {
  const [old, own, other] = [base, mine, theirs].map((draft) => draft[list].map(({ id }) => id));
  const kept = old!.filter((id) => own!.includes(id));
  const reordered = !isSame(
    kept,
    own!.filter((id) => old!.includes(id)),
  );
  return [...new Set(reordered ? [...own!, ...other!] : [...other!, ...own!])];
}
