import { formatRoute } from "../routes.ts";
import {
  entries,
  found,
  listError,
  listState,
  loadItems,
  may,
  query,
  type Scope,
  scope,
  vaultFilter,
  vaultName,
  vaults,
} from "../state/items.ts";
import { route } from "../state/route.ts";
import { Failure } from "../ui/failure.tsx";
import { Icon } from "../ui/icon.tsx";
import { isolate } from "../ui/texts.ts";
import { VirtualList } from "../ui/virtual-list.tsx";
import { categoryOf, titleOf } from "./categories.ts";
import { NewItemButton } from "./new-item.tsx";
import { SearchField } from "./search-field.tsx";
import type { Entry } from "../state/search.ts";

/** The list of Items: search, and which Items are listed. */

const ROW_HEIGHT = 56; // pixels, as in style/items.css

export function ItemList() {
  return (
    <section class="pane list" aria-label="Items">
      {route.value.item === undefined && <h1 class="unseen">Items</h1>}
      <SearchField />
      <Content />
    </section>
  );
}

function Content() {
  if (listState.value === "failed") return <Failure error={listError.value} retry={() => void loadItems()} />;
  if (listState.value === "loading") return <p class="quiet">Loading…</p>;
  if (found.value.length === 0) return <Empty />;
  return (
    <VirtualList
      key={`${vaultFilter.value}/${scope.value}`}
      label="Items"
      rows={found.value}
      keyOf={({ item }) => item.id}
      height={ROW_HEIGHT}
      current={route.value.item}
      query={query.value}
      row={(entry, tabIndex) => <Row entry={entry} tabIndex={tabIndex} />}
    />
  );
}

function Row({ entry: { item }, tabIndex }: { readonly entry: Entry; readonly tabIndex: number }) {
  const { label, icon } = categoryOf(item.category);
  const details = [item.username || label, vaults.value.length > 1 ? vaultName(item.vault.id) : ""].filter(Boolean);
  return (
    <a
      href={formatRoute({ view: "items", vault: item.vault.id, item: item.id })}
      tabIndex={tabIndex}
      aria-current={route.value.item === item.id ? "page" : undefined}
    >
      <Icon name={icon} />
      <span class="title">{titleOf(item)}</span>
      <span class="quiet">{details.map(isolate).join(" · ")}</span>
      {item.favorite && (
        <span class="favorite">
          <span class="unseen">Favourite</span>
        </span>
      )}
    </a>
  );
}

const NOTHING: Readonly<Record<Scope, string>> = {
  all: "This vault has no Items.",
  favorites: "None of these Items is a favourite. The star of an Item makes it one.",
  archived: "None of these Items is archived.",
};

function Empty() {
  const limited = scope.value !== "all" || vaultFilter.value !== undefined;
  if (query.value !== "")
    return (
      <div class="empty">
        <p>No Item matches “{query.value}”. Values of fields are not searched.</p>
        {limited && <ShowAll label="Search all Items" />}
      </div>
    );
  if (entries.value.length > 0 && limited)
    return (
      <div class="empty">
        <p>{NOTHING[scope.value]}</p>
        {scope.value === "all" && may(vaultFilter.value!, "w") && <Begin />}
        <ShowAll label="Show all Items" />
      </div>
    );
  if (vaults.value.length === 0)
    return <p class="empty">You have access to no vault yet. The administrator of this service can give it to you.</p>;
  return (
    <div class="empty">
      <p>There are no Items yet.</p>
      <Begin />
    </div>
  );
}

/** What can be done about a list without Items. */
const Begin = () => (
  <>
    <NewItemButton label />{" "}
    {vaults.value.some(({ id }) => may(id, "w")) && (
      <a class="button" href={formatRoute({ view: "import" })}>
        Import Items
      </a>
    )}{" "}
  </>
);

const ShowAll = ({ label }: { readonly label: string }) => (
  <button type="button" onClick={showAll}>
    {label}
  </button>
);

/** Ends the choice of a vault and of a kind of Items. The search field gets the focus, because the button is gone then. */
function showAll(): void {
  scope.value = "all";
  vaultFilter.value = undefined;
  document.querySelector<HTMLElement>(".search input")?.focus();
}
