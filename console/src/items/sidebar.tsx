import type { ComponentChildren } from "preact";
import { formatRoute } from "../routes.ts";
import {
  type ChosenList,
  chosenList,
  countsOfLists,
  isSameList,
  keyOfList,
  nameOfList,
  valuesOfLists,
} from "../state/chosen-list.ts";
import { vaults } from "../state/items.ts";
import { route } from "../state/route.ts";
import { hueOf } from "../ui/hue.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { plural } from "../ui/plural.ts";
import { labelOfCategory } from "./categories.ts";
import { CategoryIcon } from "./tile.tsx";

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
          href={formatRoute({ view: "deleted" })}
          aria-current={route.value.view === "deleted" ? "page" : undefined}
          onClick={closeSidebar}
        >
          <Icon name="bin" />
          <span class="name">Deleted</span>
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
        <ListLink key={id} list={{ kind: "vault", value: id }} face={<span class={`dot hue-${hueOf(id)}`} />} />
      ))}
    </Group>
  );
}

const countOf = (tag: string): number => countsOfLists.value.get(keyOfList({ kind: "tag", value: tag }))!;

function Tags() {
  const tags = valuesOfLists("tag");
  if (tags.length === 0) return null;
  const shown = tags.toSorted((a, b) => countOf(b) - countOf(a)).slice(0, TAGS_MAX);
  return (
    <Group title="Tags">
      {shown
        .toSorted((a, b) => a.localeCompare(b))
        .map((value) => (
          <ListLink key={value} list={{ kind: "tag", value }} face={<Icon name="tag" />} />
        ))}
      {tags.length > TAGS_MAX && <li class="quiet">To see {plural(tags.length - TAGS_MAX, "other tag")}, search.</li>}
    </Group>
  );
}

function Categories() {
  const categories = valuesOfLists("category") as Extract<ChosenList, { kind: "category" }>["value"][];
  if (categories.length === 0) return null;
  return (
    <Group title="Categories">
      {categories
        .toSorted((a, b) => labelOfCategory(a).localeCompare(labelOfCategory(b)))
        .map((value) => (
          <ListLink key={value} list={{ kind: "category", value }} face={<CategoryIcon category={value} />} />
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
  const chosen = route.value.view === "items" && isSameList(chosenList.value, list);
  const count = countsOfLists.value.get(keyOfList(list));
  return (
    <li>
      <a href={formatRoute({ view: "items" })} aria-current={chosen ? "true" : undefined} onClick={chooseBy(list)}>
        {face}
        <span class="name">{nameOfList(list, labelOfCategory)}</span>
        {count !== undefined && <span class="count">{count.toLocaleString()}</span>}
      </a>
    </li>
  );
}

/** What a link to a list does besides going to the Items. A place that asks before it is left keeps the list. */
export const chooseBy = (list: ChosenList) => (event: MouseEvent) => {
  // In another tab the link opens all Items.
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  chosenList.value = list;
  closeSidebar();
};

const closeSidebar = () => document.getElementById(SIDEBAR)?.hidePopover();
