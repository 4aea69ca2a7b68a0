import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { labelOfCategory } from "../items/categories.ts";
import { NewItemButton } from "../items/new-item.tsx";
import { CategoryIcon, hueStyle } from "../items/tile.tsx";
import { openPalette } from "../palette/palette.tsx";
import { type Route, type ViewGroup, type ViewName, type ViewRow, VIEWS } from "../routes.ts";
import { AdminOffer, SignOut } from "../session-acts.tsx";
import { type ChosenList, chosenList, countsOfLists, keyOfList, listsOf, nameOfList, placeOfList } from "../state/chosen-list.ts";
import { refreshHealth, reminderOf } from "../state/health.ts";
import { vaults } from "../state/items.ts";
import { addressOf, route } from "../state/route.ts";
import { compareNames } from "../state/search.ts";
import { canOpen, nameOfSession, offeredViews, session, shownView } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { chooseLook, type Look, look, LOOKS } from "../ui/look.ts";
import { focusView } from "../ui/page.tsx";

const SIDEBAR = "sidebar";
const ACCOUNT = "account";

/** The frame of every view. On a narrow screen the sidebar is a popover, which the bar opens. */

export function Sidebar() {
  const { admin } = session.value!;
  useLayoutEffect(() => {
    if (admin) refreshHealth();
  }, [admin]);
  return (
    <>
      <Button text="Skip to content" class="skip" onClick={focusView} />
      <nav id={SIDEBAR} class="sidebar" popover="auto" aria-label="Views">
        <Button icon="search" text="Search" class="find" title="Search items and commands (Ctrl+K, ⌘K)" onClick={openPalette} />
        <div class="groups">
          {canOpen("items", session.value!) && <Lists />}
          <Group title="Tools" open>
            <ViewLinks group="tools" />
          </Group>
          <Group title={admin ? "Admin" : "Service"} open>
            <ViewLinks group="admin" />
          </Group>
        </div>
        <Account />
      </nav>
    </>
  );
}

const FIXED_LISTS = [
  ["all", "items"],
  ["favorites", "star"],
  ["recent", "clock"],
  ["archived", "archive"],
] as const satisfies readonly (readonly [ChosenList["kind"], IconName])[];

interface ListGroup {
  readonly title: string;
  readonly lists: () => readonly ChosenList[];
  readonly face: (value: string) => ComponentChildren;
  /** The number of lists that are shown: those with the most Items. The search finds the others. */
  readonly most?: number;
}

const LIST_GROUPS: readonly ListGroup[] = [
  {
    title: "Vaults",
    lists: () => vaults.value.map(({ id }) => ({ kind: "vault", value: id })),
    face: (id) => <span class="dot" style={hueStyle(id)} />,
  },
  { title: "Tags", lists: () => listsOf("tag"), face: () => <Icon name="tag" />, most: 100 },
  { title: "Categories", lists: () => listsOf("category"), face: (category) => <CategoryIcon category={category} /> },
];

/** More vaults are folded up: the tools and views below them would be out of reach. */
const OPEN_MAX = 30;

const countOf = (list: ChosenList): number => countsOfLists.value.get(keyOfList(list)) ?? 0;
const nameOf = (list: ChosenList): string => nameOfList(list, labelOfCategory);

const Lists = () => (
  <>
    <ul>
      {FIXED_LISTS.map(([kind, icon]) => (
        <ListLink key={kind} list={{ kind }} face={<Icon name={icon} />} />
      ))}
      <ViewLinks group="items" />
    </ul>
    {LIST_GROUPS.map(({ title, lists, face, most = Infinity }) => {
      const all = lists().map((list) => ({ list, name: nameOf(list), count: countOf(list) }));
      const shown = all.toSorted((one, other) => other.count - one.count).slice(0, most);
      return (
        all.length > 0 && (
          <Group key={title} title={title} open={title === "Vaults" && all.length <= OPEN_MAX}>
            {shown
              .toSorted((one, other) => compareNames(one.name, other.name))
              .map(({ list }) => (
                <ListLink key={list.value} list={list} face={face(list.value!)} />
              ))}
            {all.length > most && <li class="quiet">To see {(all.length - most).toLocaleString("en")} more, search.</li>}
          </Group>
        )
      );
    })}
  </>
);

function ListLink({ list, face }: { readonly list: ChosenList; readonly face: ComponentChildren }) {
  const count = countOf(list);
  const isCurrent = route.value.view === "items" && keyOfList(chosenList.value) === keyOfList(list);
  return (
    <Link to={placeOfList(list)} label={nameOf(list)} face={face} current={isCurrent && "true"}>
      <span class="count">{count > 0 && count.toLocaleString("en")}</span>
    </Link>
  );
}

function ViewLinks({ group }: { readonly group: ViewGroup }) {
  const current = shownView(route.value.view);
  return (
    <>
      {offeredViews().map((view) => {
        const row: ViewRow = VIEWS[view];
        return (
          row.group === group && (
            <Link
              key={view}
              to={{ view }}
              label={row.label}
              face={row.icon ? <Icon name={row.icon} /> : <CategoryIcon category={row.category ?? ""} />}
              current={current === view && "page"}
            >
              <Badge view={view} />
            </Link>
          )
        );
      })}
    </>
  );
}

const Group = ({ title, open = false, children }: Readonly<{ title: string; open?: boolean; children: ComponentChildren }>) => (
  <details open={open}>
    <summary>{title}</summary>
    <ul>{children}</ul>
  </details>
);

interface LinkProps {
  readonly to: Route;
  readonly label: string;
  readonly face: ComponentChildren;
  readonly current: "page" | "true" | false;
  readonly children: ComponentChildren;
}

const Link = ({ to, label, face, current, children }: LinkProps) => (
  <li>
    <a href={addressOf(to)} aria-current={current || undefined} onClick={closeSidebar}>
      {face}
      <span class="name">{label}</span>
      {children}
    </a>
  </li>
);

/** On a wide screen the sidebar is no popover, and nothing is hidden. */
const closeSidebar = () => document.getElementById(SIDEBAR)?.hidePopover();

// A part of the page that is a popover at only one width would otherwise stay above the page.
for (const width of [720, 1000])
  matchMedia(`(width < ${width}px)`).addEventListener("change", () => {
    for (const open of document.querySelectorAll<HTMLElement>(":popover-open")) open.hidePopover();
  });

function Badge({ view }: { readonly view: ViewName }) {
  const reminder = reminderOf(view);
  if (!reminder) return null;
  return (
    <span class="badge" title={reminder.message}>
      <span class="unseen">, </span>
      {reminder.count.toLocaleString("en")}
      <span class="unseen"> {reminder.count === 1 ? "needs" : "need"} attention</span>
    </span>
  );
}

/** The menu of the signed-in user: the look of the page, becoming an administrator, and signing out. */
function Account() {
  const name = nameOfSession(session.value!);
  return (
    <>
      <button type="button" class="plain account" popovertarget={ACCOUNT} title={name}>
        <span class="unseen">Account: </span>
        <span class="name">{name}</span>
        <Icon name="more" />
      </button>
      <div id={ACCOUNT} class="menu-list" popover="auto">
        <Select
          label="Theme"
          value={look.value}
          options={Object.entries(LOOKS)}
          onChange={(chosen) => chooseLook(chosen as Look)}
        />
        <AdminOffer />
        <SignOut />
      </div>
    </>
  );
}

/** In place of the sidebar on a narrow screen: below the view on a phone, beside it otherwise. */
export function Bar() {
  const isItems = ["items", "deleted"].includes(shownView(route.value.view));
  return (
    <nav class="bar" aria-label="Quick access">
      {canOpen("items", session.value!) && (
        <>
          <a href={addressOf({ view: "items" })} aria-current={isItems ? "page" : undefined}>
            <Icon name="items" />
            Items
          </a>
          <NewItemButton class="plain" label />
          <Button icon="search" text="Search" class="plain" onClick={openPalette} />
        </>
      )}
      <button type="button" class="plain" popovertarget={SIDEBAR} aria-current={isItems ? undefined : "true"}>
        <Icon name="more" />
        More
        {offeredViews().some(reminderOf) && (
          <span class="mark">
            <span class="unseen">, something needs attention</span>
          </span>
        )}
      </button>
    </nav>
  );
}
