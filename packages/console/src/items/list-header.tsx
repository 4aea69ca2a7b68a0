import { useLayoutEffect, useRef } from "preact/hooks";
import { chosenList, listedEntries, nameOfList, query } from "../state/chosen-list.ts";
import { listState, orderName, sortBy } from "../state/items.ts";
import { type OrderName, ORDERS } from "../state/search.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { plural } from "../ui/plural.ts";
import { labelOfCategory } from "./categories.ts";
import { NewItemButton } from "./new-item.tsx";
import { afterRender } from "../ui/page.tsx";

/** Above the list: the search field, which list is shown, how many Items it has, and their order. */
export function ListHeader() {
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
