import type { Loss } from "@item-vault/transfer/item";
import { titleOf } from "../items/categories.ts";
import { isolate } from "../ui/texts.ts";

/** The loss report: what is not carried over, how often, and in which Items. */
export function LossReport({ losses }: { readonly losses: readonly Loss[] }) {
  if (losses.length === 0) return <p>Everything can be imported.</p>;
  return (
    <ul class="losses" aria-label="Not carried over">
      {losses.map(({ what, count, examples = [] }) => (
        <li key={what}>
          <b>{count}</b> <span>{withoutOption(what)}</span>
          {examples.length > 0 && <small class="quiet">{describeExamples(examples, count)}</small>}
        </li>
      ))}
    </ul>
  );
}

/** The words of the command line, without the name of one of its options. */
const withoutOption = (what: string): string => what.replace(/ \(--[^)]*\)$/, "");

/** Titles of Items; `count`: how often it was lost, in these Items and others. */
function describeExamples(titles: readonly string[], count: number): string {
  const quoted = titles.map((title) => `“${isolate(titleOf({ title }))}”`).join(", ");
  return count > titles.length ? `in ${quoted} and others` : `in ${quoted}`;
}
