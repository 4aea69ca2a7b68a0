import type { ComponentChildren } from "preact";
import { type ChosenList, chosenList, countsOfLists, keyOfList, listsOf, nameOfList, placeOfList } from "../state/chosen-list.ts";
import { vaults } from "../state/items.ts";
import { addressOf, route } from "../state/route.ts";
import { hueStyle } from "../ui/hue.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { plural } from "../ui/plural.ts";
import { labelOfCategory } from "./categories.ts";
import { CategoryIcon } from "./tile.tsx";
import { compareNames } from "../state/search.ts";

/** The lists of Items: all, by vault, by tag and by category. On a narrow screen it is a popover, which the header of the list opens. */

export const SIDEBAR = "lists";

/** Number of tags that are shown. Others are found by the search. */
const TAGS_MAX = 100;

const FIXED = [
  ["all", "vault"],
  ["favorites", "star"],
  ["recent", "clock"],
  ["archived", "archive"],
] as const satisfies readonly (readonly [ChosenList["kind"], IconName])[];

export const Sidebar = () => (
  <nav id={SIDEBAR} class="sidebar" popover="auto" aria-label="Lists">
    <ul>
      {FIXED.map(([kind, icon]) => (
        <ListLink key={kind} list={{ kind }} face={<Icon name={icon} />} />
      ))}
      <li>
        <a
          href={addressOf({ view: "deleted" })}
          aria-current={route.value.view === "deleted" ? "page" : undefined}
          onClick={closeSidebar}
        >
          <Icon name="bin" />
          <span class="name">Deleted items</span>
        </a>
      </li>
    </ul>
    <Vaults />
    <Tags />
    <Categories />
  </nav>
);

function Vaults() {
  if (vaults.value.length === 0) return null;
  return (
    <Group title="Vaults" open>
      {vaults.value.map(({ id }) => (
        <ListLink key={id} list={{ kind: "vault", value: id }} face={<span class="dot" style={hueStyle(id)} />} />
      ))}
    </Group>
  );
}

const countOf = (list: ChosenList): number => countsOfLists.value.get(keyOfList(list)) ?? 0;
const nameOf = (list: ChosenList): string => nameOfList(list, labelOfCategory);
const byName = (a: ChosenList, b: ChosenList): number => compareNames(nameOf(a), nameOf(b));

function Tags() {
  const tags = listsOf("tag");
  if (tags.length === 0) return null;
  const shown = tags.toSorted((a, b) => countOf(b) - countOf(a)).slice(0, TAGS_MAX);
  return (
    <Group title="Tags">
      {shown.toSorted(byName).map((list) => (
        <ListLink key={list.value} list={list} face={<Icon name="tag" />} />
      ))}
      {tags.length > TAGS_MAX && <li class="quiet">To see {plural(tags.length - TAGS_MAX, "other tag")}, search.</li>}
    </Group>
  );
}

function Categories() {
  const categories = listsOf("category");
  if (categories.length === 0) return null;
  return (
    <Group title="Categories">
      {categories.toSorted(byName).map((list) => (
        <ListLink key={list.value} list={list} face={<CategoryIcon category={list.value!} />} />
      ))}
    </Group>
  );
}

interface GroupProps {
  readonly title: string;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

const Group = ({ title, open = false, children }: GroupProps) => (
  <details open={open}>
    <summary>{title}</summary>
    <ul>{children}</ul>
  </details>
);

function ListLink({ list, face }: { readonly list: ChosenList; readonly face: ComponentChildren }) {
  const chosen = route.value.view === "items" && keyOfList(chosenList.value) === keyOfList(list);
  const count = countOf(list);
  return (
    <li>
      <a href={addressOf(placeOfList(list))} aria-current={chosen ? "true" : undefined} onClick={closeSidebar}>
        {face}
        <span class="name">{nameOf(list)}</span>
        <span class="count">{count > 0 && count.toLocaleString("en")}</span>
      </a>
    </li>
  );
}

const closeSidebar = () => document.getElementById(SIDEBAR)?.hidePopover();
