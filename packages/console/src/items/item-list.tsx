import type { ItemSummary } from "@item-vault/client";
import { useLayoutEffect, useRef } from "preact/hooks";
import {
  chosenList,
  type ChosenList,
  isOfUnknownVault,
  keyOfList,
  listedEntries,
  nameOfList,
  placeOfList,
  query,
} from "../state/chosen-list.ts";
import {
  entries,
  listError,
  listState,
  loadItems,
  may,
  mayCreate,
  orderName,
  sortBy,
  transferTargets,
  vaultName,
  vaults,
} from "../state/items.ts";
import { addressOf, keyInAddress, navigate, route } from "../state/route.ts";
import { type Entry, type OrderName, ORDERS } from "../state/search.ts";
import { clearSelection, isSelected, selectedItems, selectListed, selectTo, toggleItem } from "../state/selection.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { lazy } from "../ui/lazy.tsx";
import { Menu } from "../ui/menu.tsx";
import { afterRender } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { isolate, titleOf } from "../ui/texts.ts";
import { Skeleton, VirtualList } from "../ui/virtual-list.tsx";
import { labelOfCategory } from "./categories.ts";
import { NewItemButton } from "./new-item.tsx";
import { Tile } from "./tile.tsx";
import { detailsOf, tellUnreadable, UNREADABLE } from "./unreadable.ts";

const BulkBar = lazy(() => import("../bulk/bulk-bar.tsx"), "BulkBar");

export function ItemList() {
  /** Also after the selection, for a dialog that asks about it. */
  const selects = useRef(false);
  selects.current ||= selectedItems.value.length > 0;
  return (
    // The rows are interactive; the section handles the clicks and keys that select them.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      class="pane list"
      aria-label="Items"
      onClick={selectByClick}
      onKeyDown={selectByKey}
      onPointerDown={beginPress}
      onPointerUp={endPress}
      onPointerCancel={endPress}
      onContextMenu={keepMenu}
    >
      {route.value.item === undefined && <h1 class="unseen">Items</h1>}
      <ListHeader />
      <Content />
      {/* Below the rows, so that none of them moves away from the pointer. */}
      {selects.current && <BulkBar />}
    </section>
  );
}

function Content() {
  if (listState.value === "failed") return <Failure error={listError.value} retry={() => void loadItems()} />;
  if (listState.value === "loading") return <Skeleton />;
  if (listedEntries.value.length === 0) return <Empty />;
  return (
    <VirtualList
      key={`${keyOfList(chosenList.value)}/${orderName.value}`}
      label="Items"
      rows={listedEntries.value}
      keyOf={({ key }) => key}
      current={keyInAddress()}
      query={query.value}
      row={(entry, tabIndex) => <Row entry={entry} tabIndex={tabIndex} />}
    />
  );
}

function Row({ entry: { key, item }, tabIndex }: { readonly entry: Entry; readonly tabIndex: number }) {
  const details = [...detailsOf(item), vaults.value.length > 1 ? vaultName(item.vault.id) : ""];
  const selected = isSelected(key);
  return (
    <a
      {...linkTo(item)}
      tabIndex={tabIndex}
      data-item={key}
      class={selected ? "selected" : ""}
      aria-current={keyInAddress() === key ? "page" : undefined}
    >
      <Tile title={item.title} category={item.category} data-selects />
      <span class="title">{titleOf(item)}</span>
      {selected && <span class="unseen">selected</span>}
      <span class="quiet">{details.filter(Boolean).map(isolate).join(" · ")}</span>
      {item.favorite && (
        <span class="favorite">
          <span class="unseen">Favorite</span>
        </span>
      )}
    </a>
  );
}

/** Without permission to read, an Item has no address: its answer would be a refusal. */
const linkTo = ({ vault, id }: ItemSummary) =>
  may(vault.id, "r")
    ? { href: addressOf({ view: "items", vault: vault.id, item: id }) }
    : ({ role: "link", "aria-disabled": true, title: UNREADABLE } as const);

/** The text of an empty list, if other lists have Items. */
const NOTHING: Readonly<Record<ChosenList["kind"], string>> = {
  all: "All items are archived.",
  recent: "All items are archived.",
  favorites: "No favorites yet. Star an item to keep it here.",
  archived: "Archived items appear here.",
  vault: "This vault is empty.",
  tag: "No items have this tag.",
  category: "No items have this category.",
};

interface EmptyList {
  readonly text: string;
  /** True if it offers to make Items. */
  readonly begins?: boolean;
  /** The label of the button that leads to all Items. */
  readonly all?: string | false;
}

function describeEmpty(list: ChosenList): EmptyList {
  const limited = list.kind !== "all";
  const all = limited && "Show all items";
  if (query.value !== "")
    return {
      text: `No results for “${isolate(query.value)}”. Field values aren’t searched.`,
      all: limited && "Search all items",
    };
  if (isOfUnknownVault(list)) return { text: "This vault doesn’t exist, or you don’t have access to it.", all };
  if (entries.value.length > 0)
    return { text: NOTHING[list.kind], begins: list.kind === "vault" && mayCreate(list.value ?? ""), all };
  if (vaults.value.length === 0) return { text: "You don’t have access to a vault yet. Ask an administrator." };
  return { text: "No items yet.", begins: true };
}

function Empty() {
  const { text, begins = false, all = false } = describeEmpty(chosenList.value);
  return (
    <div class="empty">
      <p>{text}</p>
      <div class="buttons">
        {begins && <NewItemButton class="primary" label />}
        {begins && transferTargets().length > 0 && (
          <a class="button" href={addressOf({ view: "import" })}>
            Import items
          </a>
        )}
        {all && <Button text={all} onClick={showAll} />}
      </div>
    </div>
  );
}

/** The search field gets the focus, because the button is gone then. */
function showAll(): void {
  navigate(placeOfList({ kind: "all" }));
  document.querySelector<HTMLElement>(".search input")?.focus();
}

/** Selects Items: by a click on their tile, with Ctrl or Shift, by a long press, and by the key X. */

/** Duration of a long press, in milliseconds. */
const LONG_PRESS = 500;

const rowOf = (target: EventTarget | null): string | undefined =>
  (target as Element).closest?.<HTMLElement>(".rows [data-item]")?.dataset["item"];

/** A link that leads nowhere says why. */
const tellIfUnreadable = (target: EventTarget | null): void =>
  (target as Element).closest(".rows [aria-disabled]") ? tellUnreadable() : undefined;

/** A selecting click does not open the Item. During a selection by touch, each tap selects. */
function selectByClick(event: MouseEvent): void {
  const id = rowOf(event.target);
  if (id === undefined) return;
  const onTile = (event.target as Element).closest(".tile") !== null;
  const selects = event.ctrlKey || event.metaKey || event.shiftKey || onTile || (touched && selectedItems.peek().length > 0);
  if (!selects && !pressed) return tellIfUnreadable(event.target);
  event.preventDefault();
  if (event.shiftKey) selectTo(id);
  else if (!pressed) toggleItem(id);
  pressed = false;
}

/** True if the current press has selected: the click at its end does nothing. */
let pressed = false;
/** True if the last press was a finger's. Not every browser reports it of a click. */
let touched = false;
let timer: ReturnType<typeof setTimeout> | undefined;

function beginPress(event: PointerEvent): void {
  endPress();
  pressed = false;
  touched = event.pointerType === "touch";
  const id = touched ? rowOf(event.target) : undefined;
  if (id !== undefined) timer = setTimeout(() => selectPressed(id), LONG_PRESS);
}

function selectPressed(id: string): void {
  endPress();
  pressed = true;
  if (!isSelected(id)) toggleItem(id);
}

/** Also when the finger scrolls: the browser then cancels the pointer. */
const endPress = (): void => clearTimeout(timer);

/** A long press selects, and does not open the browser's menu, which may come earlier than this page's limit. */
function keepMenu(event: Event): void {
  const id = touched ? rowOf(event.target) : undefined;
  if (id === undefined) return;
  if (!pressed) selectPressed(id);
  event.preventDefault();
}

/** X selects the row that has the focus, Ctrl+A all rows; Escape ends the selection. */
function selectByKey(event: KeyboardEvent): void {
  const id = rowOf(event.target);
  const key = event.key.toLowerCase();
  const isModified = event.ctrlKey || event.metaKey;
  if ((event.target as Element).closest("dialog, [popover]")) return;
  if (key === "escape") return clearSelection();
  if (id === undefined || event.altKey) return;
  if (key === "x" && !isModified) (event.shiftKey ? selectTo : toggleItem)(id);
  else if (key === "a" && isModified) selectListed();
  else if (key === "enter") return tellIfUnreadable(event.target);
  else return;
  event.preventDefault();
}

/** Above the list: the search field, which list is shown, how many Items it has, and their order. */
function ListHeader() {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    // Not by the attribute `autofocus`, which the browser obeys only once per page, and then logs. Not where the focus would open an
    // on-screen keyboard.
    if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);
  return (
    <search class="search">
      <div class="first">
        <label class="field">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label="Search items"
            placeholder="Title, tag, username or URL"
            autocomplete="off"
            spellcheck={false}
            value={query.value}
            onInput={(event) => (query.value = event.currentTarget.value)}
            onKeyDown={leaveField}
          />
        </label>
        <NewItemButton class="plain" label={false} />
      </div>
      <div class="shown-list">
        <strong>{nameOfList(chosenList.value, labelOfCategory)}</strong>
        <output class="quiet count">{listState.value === "loaded" && plural(listedEntries.value.length, "item")}</output>
        <OrderMenu />
      </div>
    </search>
  );
}

const OrderMenu = () => (
  <Menu
    label={`Order: ${ORDERS[orderName.value].label}`}
    icon="sort"
    actions={Object.entries(ORDERS).map(([name, { label }]) => ({
      label,
      chosen: name === orderName.value,
      run: () => sortBy(name as OrderName),
    }))}
  />
);

/** The arrow moves the focus into the list, and Enter opens the first result. */
function leaveField(event: KeyboardEvent): void {
  if (event.key === "Escape") query.value = "";
  if (event.key !== "ArrowDown" && event.key !== "Enter") return;
  event.preventDefault();
  const opens = event.key === "Enter";
  const isEarly = listState.peek() === "loading";
  if (!isEarly) return goToFirst(opens);
  // After the list exists, unless the focus has moved.
  const field = document.activeElement;
  const stop = listState.subscribe((state) => {
    if (state === "loading") return;
    queueMicrotask(() => stop());
    afterRender(() => document.activeElement === field && goToFirst(opens));
  });
}

function goToFirst(opens: boolean): void {
  const first = document.querySelector<HTMLElement>(".rows a[tabindex='0']");
  first?.focus();
  if (opens) first?.click();
}
