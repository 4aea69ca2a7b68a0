import { labelOfCategory, titleOf } from "../items/categories.ts";
import { beginItem, canBeginItem } from "../items/new-item.tsx";
import { isTab, ITEM_TABS, type ItemTab, type Route, VIEWS, type ViewName } from "../routes.ts";
import { type ChosenList, keyOfList, nameOfList, placeOfList } from "../state/chosen-list.ts";
import { entries, may, vaultName, vaults } from "../state/items.ts";
import { navigate, route } from "../state/route.ts";
import { byChanged, foldText, search } from "../state/search.ts";
import { session } from "../state/session.ts";
import { canOpen } from "../views.tsx";
import { showKeys } from "./keys-dialog.tsx";
import { ACTS, askForAct } from "../state/asked-act.ts";
import { chooseLook, type Look, LOOKS } from "../ui/look.ts";

/** The results of the palette: Items, lists, views, and actions. */

export interface Command {
  /** Unique among all. */
  readonly id: string;
  readonly label: string;
  /** The kind of result, beside the label. */
  readonly hint: string;
  readonly run: () => void;
}

/** Number of Items among the results, and of other results. */
const ITEMS_MAX = 8;
const OTHERS_MAX = 8;

const goTo = (to: Route) => () => navigate(to);

/** The results of a query, the Items first. Without a query: the Items that were changed last, and the views. */
export function commandsFor(query: string): readonly Command[] {
  const active = entries.value.filter(({ item }) => item.state === undefined && may(item.vault.id, "r"));
  const items = query.trim() === "" ? active.toSorted(byChanged).slice(0, ITEMS_MAX / 2) : search(active, query);
  const words = foldText(query).split(/\s+/).filter(Boolean);
  const others = [...views(), ...acts(), ...buttons(), ...(words.length > 0 ? lists() : [])].filter(({ label }) =>
    words.every((word) => foldText(label).includes(word)),
  );
  return [
    ...items.slice(0, ITEMS_MAX).map(({ key, item }) => ({
      id: key,
      label: titleOf(item),
      hint: [item.username || labelOfCategory(item.category), vaultName(item.vault.id)].filter(Boolean).join(" · "),
      run: goTo({ view: "items", vault: item.vault.id, item: item.id }),
    })),
    ...others.slice(0, OTHERS_MAX),
  ];
}

function views(): Command[] {
  const names = (Object.keys(VIEWS) as ViewName[]).filter((name) => canOpen(name, session.value!) && name !== "authorize");
  return names.map((view) => ({ id: `view ${view}`, label: VIEWS[view].label, hint: "Page", run: goTo({ view }) }));
}

function lists(): Command[] {
  if (!canOpen("items", session.value!)) return [];
  const all: readonly ChosenList[] = [
    { kind: "favorites" },
    { kind: "recent" },
    { kind: "archived" },
    ...vaults.value.map(({ id }): ChosenList => ({ kind: "vault", value: id })),
  ];
  return all.map((list) => ({
    id: `list ${keyOfList(list)}`,
    label: nameOfList(list, labelOfCategory),
    hint: "List",
    run: goTo(placeOfList(list)),
  }));
}

function acts(): Command[] {
  const { item, vault: open, page } = route.value;
  const ofItem = item !== undefined && open !== undefined && route.value.view === "items" && (page === undefined || isTab(page));
  return [
    ...(canBeginItem() ? [{ id: "new", label: "New item", hint: "Command", run: beginItem }] : []),
    ...(ofItem
      ? [
          ...(may(open, "w")
            ? [{ id: "edit", label: "Edit", hint: "This item", run: goTo({ view: "items", vault: open, item, page: "edit" }) }]
            : []),
          ...(Object.entries(ITEM_TABS) as [ItemTab, string][]).map(([tab, label]) => ({
            id: `tab ${tab}`,
            label,
            hint: "This item",
            run: goTo({ view: "items", vault: open, item, page: tab }),
          })),
        ]
      : []),
    ...(Object.entries(ACTS) as [ViewName, string][])
      .filter(([view]) => canOpen(view, session.value!))
      .map(([view, label]) => ({ id: `act ${view}`, label, hint: "Command", run: () => askForAct(view, label) })),
    ...(Object.entries(LOOKS) as [Look, string][]).map(([name, label]) => ({
      id: `look ${name}`,
      label: `Theme: ${label}`,
      hint: "Command",
      run: () => chooseLook(name),
    })),
    { id: "keys", label: "Keyboard shortcuts", hint: "Command", run: showKeys },
  ];
}

/** Returns the actions of the open Item and its fields: their buttons. */
const buttons = (): Command[] =>
  [
    ...document.querySelectorAll<HTMLElement>(
      "article.item :is(.copy, header .actions > button:not([popovertarget]), .menu-list button)",
    ),
  ].map((button, index) => ({
    id: `button ${index}`,
    label: labelOf(button),
    hint: "This item",
    run: () => button.click(),
  }));

/** The name of a button. That of one of a menu of a field or File has the name of the field or File too. */
function labelOf(button: HTMLElement): string {
  const text = button.getAttribute("aria-label") ?? button.textContent.trim();
  const menu = button.closest(".menu-list")?.previousElementSibling?.getAttribute("aria-label") ?? "";
  const [, of] = /^More actions for (.*)$/.exec(menu) ?? [];
  return of === undefined ? text : `${text}: ${of}`;
}
