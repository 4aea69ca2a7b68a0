import { labelOfCategory } from "../items/categories.ts";
import { beginItem, canBeginItem } from "../items/new-item.tsx";
import { detailsOf, tellUnreadable } from "../items/unreadable.ts";
import { isTab, ITEM_TABS, type ItemTab, type Route, VIEWS } from "../routes.ts";
import { ACTS, askForAct } from "../state/asked-act.ts";
import { type ChosenList, nameOfList, placeOfList } from "../state/chosen-list.ts";
import { entries, may, vaultName, vaults } from "../state/items.ts";
import { navigate, route } from "../state/route.ts";
import { byChanged, type Entry, foldText, search } from "../state/search.ts";
import { canOpen, offeredViews, session } from "../state/session.ts";
import { Dialog, Done } from "../ui/dialog.tsx";
import { Pairs } from "../ui/lists.tsx";
import { chooseLook, type Look, LOOKS } from "../ui/look.ts";
import { titleOf } from "../ui/texts.ts";

/** The results of the palette: Items, lists, views, and actions. `hint` is the kind of result, which is shown beside the label. */
export type Command = readonly [hint: string, label: string, run: () => void];

const ITEMS_MAX = 8;
const OTHERS_MAX = 8;

export const NO_RESULTS = "No results. Field values aren’t searched.";

const goTo = (to: Route) => () => navigate(to);

/** The results of a query, the Items first. Without a query: the Items that were changed last, and the views. `showKeys` opens the dialog of the keys. */
export function commandsFor(query: string, showKeys: () => void): readonly Command[] {
  const active = entries.value.filter(({ item }) => item.state === undefined);
  const words = foldText(query).split(/\s+/).filter(Boolean);
  const items =
    words.length > 0
      ? search(active, query)
      : active
          .filter(isReadable)
          .toSorted(byChanged)
          .slice(0, ITEMS_MAX / 2);
  const others = [...views(), ...acts(showKeys), ...buttons(), ...(words.length > 0 ? lists() : [])].filter(([, label]) =>
    words.every((word) => foldText(label).includes(word)),
  );
  return [...items.slice(0, ITEMS_MAX).map(commandOf), ...others.slice(0, OTHERS_MAX)];
}

const isReadable = ({ item }: Entry): boolean => may(item.vault.id, "r");

const commandOf = (entry: Entry): Command => {
  const { id, vault } = entry.item;
  const details = [...detailsOf(entry.item), vaultName(vault.id)].filter(Boolean).join(" · ");
  return [details, titleOf(entry.item), isReadable(entry) ? goTo({ view: "items", vault: vault.id, item: id }) : tellUnreadable];
};

const views = (): Command[] =>
  offeredViews().flatMap((view) => (view === "authorize" ? [] : [["Page", VIEWS[view].label, goTo({ view })]]));

function lists(): Command[] {
  if (!canOpen("items", session.value!)) return [];
  const fixed = (["favorites", "recent", "archived"] as const).map((kind): ChosenList => ({ kind }));
  const all = [...fixed, ...vaults.value.map(({ id }): ChosenList => ({ kind: "vault", value: id }))];
  return all.map((list) => ["List", nameOfList(list, labelOfCategory), goTo(placeOfList(list))]);
}

function acts(showKeys: () => void): Command[] {
  const { view, item, vault, page } = route.value;
  const rows: Command[] = [];
  if (canBeginItem()) rows.push(["Command", "New item", beginItem]);
  if (view === "items" && vault !== undefined && item !== undefined && (page === undefined || isTab(page))) {
    if (may(vault, "w")) rows.push(["This item", "Edit", goTo({ view, vault, item, page: "edit" })]);
    for (const [tab, label] of Object.entries(ITEM_TABS) as [ItemTab, string][])
      rows.push(["This item", label, goTo({ view, vault, item, page: tab })]);
  }
  return [
    ...rows,
    ...offeredViews().flatMap((of): Command[] => {
      const label = ACTS[of];
      return label === undefined ? [] : [["Command", label, () => askForAct(of, label)]];
    }),
    ...(Object.entries(LOOKS) as [Look, string][]).map(([name, label]): Command => [
      "Command",
      `Theme: ${label}`,
      () => chooseLook(name),
    ]),
    ["Command", "Keyboard shortcuts", showKeys],
  ];
}

const buttons = (): Command[] =>
  [
    ...document.querySelectorAll<HTMLElement>(
      "article.item :is(.copy, header .actions > button:not([popovertarget]), .menu-list button)",
    ),
  ].map((button) => ["This item", labelOf(button), () => button.click()]);

/** The name of a button. A button in a menu of a field or File also has the name of the field or File. */
function labelOf(button: HTMLElement): string {
  const text = button.getAttribute("aria-label") ?? button.textContent.trim();
  const menu = button.closest(".menu-list")?.previousElementSibling?.getAttribute("aria-label") ?? "";
  const [, of] = /^More actions for (.*)$/.exec(menu) ?? [];
  return of === undefined ? text : `${text}: ${of}`;
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl+K, ⌘K", "search items and commands"],
  ["/", "go to the search"],
  ["↓ ↑", "move from the search into the list, and through it"],
  ["Enter", "open the item"],
  ["P, U, O", "in an item: copy the password, username or one-time password"],
  ["X, Shift+X", "in the list: select an item, or a range"],
  ["Ctrl+A, Escape", "in the list: select all, or none"],
  ["Ctrl+S, ⌘S", "in a form: save"],
  ["?", "show these shortcuts"],
];

export const KeysDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <Pairs class="keys-table" rows={KEYS.map(([keys, what]) => [<kbd key={keys}>{keys}</kbd>, what])} />
    <Done onClose={onClose} />
  </Dialog>
);
