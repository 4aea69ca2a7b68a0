import { useLayoutEffect, useRef } from "preact/hooks";
import { isGone } from "../failures/error-kind.ts";
import { addressOf } from "../state/route.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { vaultName } from "../state/items.ts";
import { open, openItem, type Opened } from "../state/opened.ts";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { isolate } from "../ui/texts.ts";
import { Skeleton } from "../ui/virtual-list.tsx";
import { labelOfCategory, titleOf } from "./categories.ts";
import { copyByClick, keepEarlyKey, pressCopyKey, pressEarlyKey } from "./copy-keys.ts";
import { Fields } from "./fields.tsx";
import { ITEM_ACTIONS, ITEM_PARTS } from "./item-parts.ts";
import { Tile } from "./tile.tsx";

/** One Item as it is read: its fields by section, and the parts of the table in item-parts.ts. */

export function ItemView({ vault, id }: { readonly vault: string; readonly id: string }) {
  const { value } = open;
  if (value.state === "failed")
    return (
      <div class="item">
        <BackToList />
        <Failure error={value.error} retry={() => void openItem(vault, id)}>
          {isGone(value.error) && (
            <a class="button" href={addressOf({ view: "deleted" })}>
              Deleted items
            </a>
          )}
        </Failure>
      </div>
    );
  const key = itemKey(vault, id);
  if (value.state !== "loaded" || value.key !== key) return <Loading key={key} item={key} />;
  return <Content key={key} opened={value.opened} />;
}

function Loading({ item }: { readonly item: string }) {
  useLayoutEffect(() => keepEarlyKey(item), []);
  return <Skeleton />;
}

/** On a narrow screen, where the list is not beside the Item. */
const BackToList = () => (
  <a class="back button plain" href={addressOf({ view: "items" })}>
    <Icon name="back" />
    Items
  </a>
);

function Content({ opened }: { readonly opened: Opened }) {
  const { item } = opened;
  const vault = vaultName(item.vault.id); // Empty until the list is there.
  const heading = useRef<HTMLHeadingElement>(null);
  // A screen reader then reads the Item that was opened.
  useLayoutEffect(() => {
    heading.current?.focus({ preventScroll: true });
    pressEarlyKey(heading.current!.closest("article")!, keyOfItem(item));
  }, []);
  return (
    // The buttons are interactive; the article handles the keys and the clicks on values that press them.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <article class="item" data-item={keyOfItem(item)} onKeyDown={pressCopyKey} onClick={copyByClick}>
      <header>
        <BackToList />
        <Tile title={item.title} category={item.category} />
        <h1 ref={heading} tabIndex={-1}>
          {titleOf(item)}
        </h1>
        <p class="quiet">
          {labelOfCategory(item.category)}
          {vault !== "" && ` in ${isolate(vault)}`}
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
