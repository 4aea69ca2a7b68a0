import type { ComponentType } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isGone } from "../failures/explain.ts";
import { isTab, ITEM_TABS, type ItemTab } from "../routes.ts";
import { itemKey, keyOfItem } from "../state/item-key.ts";
import { vaultName } from "../state/items.ts";
import { open, openItem, type Opened } from "../state/opened.ts";
import { addressOf, route } from "../state/route.ts";
import { isOffered } from "../state/session.ts";
import { Failure } from "../ui/failure.tsx";
import { lazy } from "../ui/lazy.tsx";
import { BackLink, focusTab, Heading } from "../ui/page.tsx";
import { isolate, titleOf } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { Skeleton } from "../ui/virtual-list.tsx";
import { WhenBy } from "../ui/who.tsx";
import { ItemActions } from "./actions.tsx";
import { labelOfCategory } from "./categories.ts";
import { copyByClick, keepEarlyKey, pressCopyKey, pressEarlyKey } from "./copy-keys.tsx";
import { Fields, Tags, Urls } from "./fields.tsx";
import { Tile } from "./tile.tsx";

type Props = Readonly<{ opened: Opened }>;

const Files = lazy(() => import("../files/files.tsx"), "Files");

/** The content of each tab. All but the first are loaded when they are opened. */
const TABS: Readonly<Record<"details" | ItemTab, ComponentType<Props>>> = {
  details: Details,
  history: lazy(() => import("../history/history-tab.tsx"), "HistoryTab"),
  access: lazy(() => import("../admin/vault-access.tsx"), "ItemAccess"),
  activity: lazy(() => import("../activity/histories.tsx"), "ItemActivity"),
  use: lazy(() => import("../use/use-tab.tsx"), "UseTab"),
};
const LABELS = Object.entries({ details: "Details", ...ITEM_TABS });

export function ItemView({ vault, id }: { readonly vault: string; readonly id: string }) {
  const { value } = open;
  if (value.state === "failed")
    return (
      <div class="item">
        <BackToList />
        <Failure error={value.error} retry={() => void openItem(vault, id)}>
          {isGone(value.error) && isOffered("deleted") && (
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

const BackToList = () => <BackLink to={{ view: "items" }} text="Items" />;

function Content({ opened }: Props) {
  const { item } = opened;
  const { page } = route.value;
  const tab = isTab(page) ? page : "details";
  const Panel = TABS[tab];
  const vault = vaultName(item.vault.id); // Empty until the list is there.
  const article = useRef<HTMLElement>(null);
  useLayoutEffect(() => pressEarlyKey(article.current!, keyOfItem(item)), []);
  // The button that led to another tab may have been in this one.
  useLayoutEffect(focusTab, [tab]);
  return (
    // The buttons are interactive; the article handles the keys and the clicks on values that press them.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <article ref={article} class="item" data-item={keyOfItem(item)} onKeyDown={pressCopyKey} onClick={copyByClick}>
      <header>
        <BackToList />
        <Tile title={item.title} category={item.category} />
        <Heading>{titleOf(item)}</Heading>
        <p class="quiet">
          {labelOfCategory(item.category)}
          {vault !== "" && ` in ${isolate(vault)}`}
          {item.state === "ARCHIVED" && " · archived"}
        </p>
        <ItemActions opened={opened} />
      </header>
      <div class="tabs" role="tablist" aria-label="Item">
        {LABELS.map(([name, label]) => (
          <a
            key={name}
            id={`tab-${name}`}
            role="tab"
            href={addressOf({ view: "items", vault: item.vault.id, item: item.id, page: isTab(name) ? name : undefined })}
            aria-selected={name === tab}
            aria-controls="item-tab"
            tabIndex={name === tab ? 0 : -1}
            onKeyDown={moveInTabs}
          >
            {label}
          </a>
        ))}
      </div>
      <div id="item-tab" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel opened={opened} />
      </div>
    </article>
  );
}

/** The arrow keys move the focus. Enter and Space open the focused tab, because its content may have to be loaded. */
function moveInTabs(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const { key, currentTarget: tab } = event;
  const tabs = [...tab.parentElement!.children] as HTMLElement[];
  const index = tabs.indexOf(tab);
  const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1, " ": index }[key];
  if (next === undefined) return;
  event.preventDefault();
  if (key === " ") tab.click();
  else tabs.at(next % tabs.length)!.focus();
}

/** The values of an Item, its tags, and when and by whom it was written. */
function Details({ opened }: Props) {
  const { item } = opened;
  return (
    <>
      <Fields item={item} />
      <Urls item={item} />
      <Files opened={opened} />
      <footer class="details">
        <Tags tags={item.tags} />
        <p class="quiet">
          Changed <WhenBy time={item.updatedAt} id={item.lastEditedBy} vault={item.vault.id} item={item.id} />, created{" "}
          <time dateTime={item.createdAt}>{formatTime(item.createdAt)}</time>, version {item.version}
        </p>
      </footer>
    </>
  );
}
