import { useEffect, useRef } from "preact/hooks";
import { formatRoute } from "../routes.ts";
import { vaultName } from "../state/items.ts";
import { open, openItem, type Opened } from "../state/opened.ts";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { categoryOf, titleOf } from "./categories.ts";
import { Fields } from "./fields.tsx";
import { ITEM_ACTIONS, ITEM_PARTS } from "./item-parts.ts";

/** One Item as it is read: its fields by section, and the parts of the table in item-parts.ts. */

export function ItemView({ vault, id }: { readonly vault: string; readonly id: string }) {
  const { value } = open;
  if (value.state === "failed")
    return (
      <div class="item">
        <BackToList />
        <Failure error={value.error} retry={() => void openItem(vault, id)} />
      </div>
    );
  if (value.state !== "loaded" || value.id !== id) return <p class="quiet">Loading…</p>;
  return <Content key={id} opened={value.opened} />;
}

/** On a narrow screen, where the list is not beside the Item. */
const BackToList = () => (
  <a class="back button plain" href={formatRoute({ view: "items" })}>
    <Icon name="back" />
    Items
  </a>
);

function Content({ opened }: { readonly opened: Opened }) {
  const { item } = opened;
  const heading = useRef<HTMLHeadingElement>(null);
  // A screen reader then reads the Item that was opened.
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <article class="item" data-item={item.id}>
      <header>
        <BackToList />
        <h1 ref={heading} tabIndex={-1}>
          {titleOf(item)}
        </h1>
        <p class="quiet">
          {categoryOf(item.category).label} in {vaultName(item.vault.id)}
          {item.state === "ARCHIVED" && " · archived"}
        </p>
        <div class="actions">
          {ITEM_ACTIONS.map((Action, index) => (
            <Action key={index} opened={opened} />
          ))}
        </div>
      </header>
      <Fields item={item} />
      {ITEM_PARTS.map((Part, index) => (
        <Part key={index} opened={opened} />
      ))}
    </article>
  );
}
