import { useSignal, useSignalEffect, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Menu } from "../ui/menu.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { type Columns, Table } from "../ui/table.tsx";
import { matches } from "./filter.ts";
import { ListContent } from "./list-content.tsx";
import { adminVaults, type List } from "./lists.ts";
import { takeAskedAct } from "../state/asked-act.ts";

/** A view of the admin with a list of vaults, tokens, people or workloads. It creates entries, searches them, and opens their dialogs. */

/** Shows a dialog. `close` closes it. */
type ShowDialog = (close: () => void) => ComponentChildren;

export interface RowAction<T> {
  readonly label: string;
  /** The text before the name of the row, if screen readers need both. Absent: the label. */
  readonly namedLabel?: string;
  /** The dialog asks nothing before anything changes, so the label has no ellipsis. */
  readonly only?: "shows";
  /** A button of its own shows the action, and not the menu. */
  readonly visible?: true;
  /** Returns the dialog for a row, or undefined if the row has no such action. */
  readonly dialogOf: (row: T) => ShowDialog | undefined;
}

interface Props<T> {
  readonly title: string;
  /** One row, for people: `vault`. */
  readonly noun: string;
  readonly list: List<T>;
  /** The text of the view without rows. */
  readonly empty: string;
  readonly create: { readonly label: string; readonly dialog: ShowDialog };
  readonly nameOf: (row: T) => string;
  /** Returns the searched texts. Absent: the name. */
  readonly textsOf?: (row: T) => readonly string[];
  readonly columns: Columns<T>;
  readonly actions: readonly RowAction<T>[];
  /** Further filters beside the search, and which rows they let through. */
  readonly filters?: ComponentChildren;
  readonly isShown?: (row: T) => boolean;
  /** The content between the title and the list. */
  readonly children?: ComponentChildren;
  readonly below?: ComponentChildren;
}

/** More rows get a field that searches them. */
const MANY = 8;
/** A longer table is slow, and nobody reads it: it is searched. */
const ROWS_MAX = 200;

export function AdminList<T extends { readonly id: string }>({ title, list, empty, create, children, below, ...rest }: Props<T>) {
  const dialog = useSignal<ShowDialog | undefined>(undefined);
  const show = (next: ShowDialog) => (dialog.value = next);
  // Tokens, people and rules name their vaults by id.
  useLayoutEffect(() => void (list.needsVaults && adminVaults.load()), []);
  useSignalEffect(() => void (takeAskedAct(create.label) && show(create.dialog)));
  const button = (
    <button type="button" class="primary" onClick={() => show(create.dialog)}>
      {create.label}
    </button>
  );
  return (
    <Page title={title} actions={button}>
      {children}
      <ListContent list={list} empty={<p class="empty">{empty}</p>}>
        {(rows) => <Rows {...rest} title={title} rows={rows} show={show} />}
      </ListContent>
      {below}
      {dialog.value?.(() => (dialog.value = undefined))}
    </Page>
  );
}

interface RowsProps<T> extends Omit<Props<T>, "list" | "empty" | "create" | "children" | "below"> {
  readonly rows: readonly T[];
  readonly show: (dialog: ShowDialog) => void;
}

function Rows<T extends { readonly id: string }>({ title, noun, rows, nameOf, columns, actions, show, ...rest }: RowsProps<T>) {
  const query = useSignal("");
  const { filters, isShown = () => true, textsOf = (row) => [nameOf(row)] } = rest;
  const found = rows.filter((row) => isShown(row) && matches(query.value, ...textsOf(row)));
  return (
    <>
      {(filters !== undefined || rows.length > MANY) && (
        <SearchRows label={`Search ${title.toLowerCase()}`} query={query}>
          {filters}
        </SearchRows>
      )}
      {found.length === 0 ? (
        <p class="empty">No {noun} matches.</p>
      ) : (
        <Table
          label={title}
          rows={found.slice(0, ROWS_MAX)}
          keyOf={({ id }) => id}
          columns={columns}
          actions={(row) => <RowMenu name={nameOf(row)} actions={actions} row={row} show={show} />}
        />
      )}
      {found.length > ROWS_MAX && <p class="quiet">To see {plural(found.length - ROWS_MAX, `other ${noun}`)}, search.</p>}
    </>
  );
}

interface RowMenuProps<T> extends Pick<RowsProps<T>, "actions" | "show"> {
  readonly name: string;
  readonly row: T;
}

function RowMenu<T>({ name, row, actions, show }: RowMenuProps<T>) {
  const possible = actions.flatMap(({ label, namedLabel = label, only, visible = false, dialogOf }) => {
    const dialog = dialogOf(row);
    return dialog ? [{ label: only ? label : `${label}…`, name: `${namedLabel} ${name}`, visible, run: () => show(dialog) }] : [];
  });
  const hidden = possible.filter(({ visible }) => !visible);
  return (
    <>
      {possible
        .filter(({ visible }) => visible)
        .map((action) => (
          <button key={action.label} type="button" aria-label={action.name} onClick={action.run}>
            {action.label}
          </button>
        ))}
      {hidden.length > 0 && <Menu label={`Actions for ${name}`} actions={hidden} />}
    </>
  );
}

/** The field above a table that searches its rows, and further filters beside it. */
function SearchRows({
  label,
  query,
  children,
}: {
  readonly label: string;
  readonly query: Signal<string>;
  readonly children?: ComponentChildren;
}) {
  return (
    <search class="row-search">
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        value={query.value}
        onInput={(event) => (query.value = event.currentTarget.value)}
      />
      {children}
    </search>
  );
}
