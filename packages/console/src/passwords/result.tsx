import type { ComponentChildren } from "preact";
import type { ItemSummary } from "@item-vault/client";
import { explain } from "../api/explain.ts";
import { titleOf } from "../items/categories.ts";
import { keyOfItem } from "../state/item-key.ts";
import { addressOf } from "../state/route.ts";
import { vaultName } from "../state/items.ts";
import { plural } from "../ui/plural.ts";
import type { CheckResult, Finding } from "./check.ts";
import { GROUP_LIST } from "./groups.ts";

/** What a check has found: a part for each group, and one for the Items that were not read. */

export function Result({ findings, read, without, failed, waiting }: CheckResult) {
  return (
    <>
      <output class="verdict">
        {plural(read, "item")} checked{without > 0 && `, ${without.toLocaleString("en")} of them without a password`}
        {waiting > 0 && `; ${plural(waiting, "item")} not tried`}.
      </output>
      {GROUP_LIST.map(([name, { title, text }]) => (
        <Part key={name} title={title} text={text} count={itemsIn(findings[name])}>
          {findings[name].map(({ items, note }) => (
            <li key={keyOfItem(items[0]!)}>
              <span class="quiet">{note}</span>
              {items.map((item) => (
                <ItemLink key={keyOfItem(item)} item={item} />
              ))}
            </li>
          ))}
        </Part>
      ))}
      {failed.length > 0 && (
        <Part title="Not read" text="Items that could not be read." count={failed.length}>
          {failed.map(({ item, error }) => (
            <li key={keyOfItem(item)}>
              <span class="quiet">{explain(error)}</span>
              <ItemLink item={item} />
            </li>
          ))}
        </Part>
      )}
    </>
  );
}

const itemsIn = (findings: readonly Finding[]): number => findings.reduce((sum, { items }) => sum + items.length, 0);

interface PartProps {
  readonly title: string;
  readonly text: string;
  readonly count: number;
  readonly children: ComponentChildren;
}

const Part = ({ title, text, count, children }: PartProps) => (
  <section aria-label={title}>
    <h2>
      {title}: {count === 0 ? "none" : plural(count, "item")}
    </h2>
    <p class="quiet">{text}</p>
    {count > 0 && <ul class="findings">{children}</ul>}
  </section>
);

/** In a tab of its own, because leaving the page drops the result. */
const ItemLink = ({ item }: { readonly item: ItemSummary }) => (
  <a href={addressOf({ view: "items", vault: item.vault.id, item: item.id })} target="_blank" rel="noopener">
    {titleOf(item)} <span class="quiet">{vaultName(item.vault.id)}</span>
  </a>
);
