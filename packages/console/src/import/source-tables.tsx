import type { Signal } from "@preact/signals";
import type { Category } from "@item-vault/client";
import type { Unfit as UnfitItem } from "@item-vault/transfer/item";
import type { TransferItem } from "@item-vault/transfer/item";
import { plural } from "../ui/plural.ts";
import { isolate } from "../ui/texts.ts";
import { labelOfCategory, titleOf } from "../items/categories.ts";

/** The number of Items in each category of the source, highest first. */
export function CategoryTable({ items }: { readonly items: readonly TransferItem[] }) {
  const counts = new Map<string, number>();
  for (const { category } of items) counts.set(category, (counts.get(category) ?? 0) + 1);
  const rows = [...counts].toSorted(([, a], [, b]) => b - a);
  return (
    <dl class="counts">
      {rows.map(([category, count]) => (
        <div key={category}>
          <dt>{labelOfCategory(category as Category)}</dt>
          <dd>{count}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Items that are shown of a list that may be long. */
const SHOWN = 20;

/** Items that cannot be read or written. They are left out if the user accepts that. */
export function Unfit({ unfit, accepted }: { readonly unfit: readonly UnfitItem[]; readonly accepted: Signal<boolean> }) {
  return (
    <div class="failure">
      <p>{plural(unfit.length, "item")} can’t be imported:</p>
      <ul>
        {unfit.slice(0, SHOWN).map((item, index) => (
          <li key={index}>
            “{isolate(titleOf(item))}” {item.why}.
          </li>
        ))}
      </ul>
      {unfit.length > SHOWN && <p>and {unfit.length - SHOWN} more</p>}
      <label class="check">
        <input type="checkbox" checked={accepted.value} onChange={(event) => (accepted.value = event.currentTarget.checked)} />
        Leave {unfit.length === 1 ? "it" : "them"} out
      </label>
    </div>
  );
}
