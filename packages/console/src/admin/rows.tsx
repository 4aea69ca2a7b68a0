import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { takeAskedAct } from "../state/asked-act.ts";
import { compareNames } from "../state/search.ts";
import { openDialogs } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { copy } from "../ui/clipboard.ts";
import { Day } from "../ui/day.tsx";
import { Failure } from "../ui/failure.tsx";
import { Pairs } from "../ui/lists.tsx";
import { afterRender, Heading, keepFocus, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { shorten } from "../ui/texts.ts";
import { type Act, type Closable, type DialogProps, type Part, MANY, SearchField } from "./dialogs.tsx";
import { matches } from "./filter.ts";
import { adminVaults, BROKEN, type List, type PersonRow, type RuleRow, type TokenRow, vaultLabel } from "./lists.ts";
import { canonicalScope, describeVaultScope } from "./scope.ts";

/** The tables of the administration. A view declares its rows as data; a row opens a panel that shows all of it and its acts. */

/** The rows whose record can be decrypted (contract 13.18). */
export type Whole<T> = Exclude<T, { readonly broken: unknown }>;

/** `full` is the content in the panel. Absent: as in the table. */
type PanelColumn<T> = Column<T> & Readonly<{ full?: (row: T) => ComponentChildren }>;

/** Its content is rendered, and so loaded, once it is expanded. */
type Section<T> = Readonly<{ label: string; content: Part<{ readonly row: T }> }>;

export interface RowsView<T> {
  readonly title: string;
  readonly list: List<T>;
  readonly empty: string;
  /** The label of the column of names. */
  readonly name: string;
  readonly nameOf: (row: T) => string;
  /** Short texts below the name. */
  readonly notesOf?: (row: Whole<T>) => readonly (string | false | undefined)[];
  /** What can be done with a row whose record is damaged. */
  readonly damaged?: string;
  /** The further columns, which the panel shows too. */
  readonly columns: readonly PanelColumn<T>[];
  /** Shown in the panel alone. */
  readonly facts?: readonly Column<T>[];
  readonly acts?: readonly Act<Whole<T>>[];
  /** The act that ends a row. A damaged row has no other. */
  readonly end?: Act<T>;
  readonly sections?: readonly Section<Whole<T>>[];
}

/** A list that has a view of its own. */
export interface AdminList<T> extends RowsView<T> {
  /** The dialog that adds a row, and the label of its button. */
  readonly create: { readonly label: string; readonly dialog: Part<Closable> };
  /** Returns further searched texts beside the name. */
  readonly textsOf?: (row: T) => readonly string[];
}

type Row = { readonly id: string };

const isWhole = <T extends Row>(row: T): row is T & Whole<T> => !("broken" in row);

const actsOf = <T extends Row>(row: T, { acts = [], end }: RowsView<T>): readonly Act<T>[] =>
  [...(isWhole(row) ? (acts as readonly Act<T>[]) : []), ...(end ? [end] : [])].filter(({ when }) => when?.(row) ?? true);

/** Returns the id of the row that is open at this step of the history. */
const rowInHistory = (): string | undefined => (history.state as { readonly row?: string } | null)?.row;

/** The open row. Its panel is a step of the history: Back closes it, and the step goes with the row if that is deleted. */
function useOpenRow<T extends Row>(rows: readonly T[]) {
  const open = useSignal(rowInHistory());
  const opener = useRef<HTMLElement>(undefined);
  const row = rows.find(({ id }) => id === open.value);
  const isOpen = row !== undefined;
  useLayoutEffect(() => {
    const follow = () => {
      const closes = open.value !== undefined && rowInHistory() === undefined;
      open.value = rowInHistory();
      if (!closes) return;
      afterRender(() => opener.current?.focus());
      keepFocus();
    };
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    return () => {
      const left = rowInHistory();
      if (left !== undefined && left === open.peek()) history.back();
    };
  }, [isOpen]);
  const toggle = ({ id }: T, button: HTMLElement) => {
    opener.current = button;
    if (open.value === id) return history.back();
    history[isOpen ? "replaceState" : "pushState"]({ row: id }, "");
    open.value = id;
  };
  return { row, toggle };
}

/** `shown` are the rows of the table, by default all. */
type RowsProps<T> = Readonly<{ view: RowsView<T>; rows: readonly T[]; shown?: readonly T[] }>;

/** A table, and beside it the panel of the open row. On a narrow screen the panel takes the place of the page. */
function Rows<T extends Row>({ view, rows, shown = rows }: RowsProps<T>) {
  const { row, toggle } = useOpenRow(rows);
  const asked = useSignal<{ readonly act: Act<T>; readonly row: T } | undefined>(undefined);
  const { act, row: subject } = asked.value ?? {};
  const begin = (next: Act<T>, of: T) => (next.run ? next.run(of) : (asked.value = { act: next, row: of }));
  const { nameOf, notesOf, damaged, columns } = view;
  const name = (each: T) => (
    <>
      <button
        type="button"
        class="row-name"
        aria-expanded={each.id === row?.id}
        onClick={({ currentTarget }) => toggle(each, currentTarget)}
      >
        <span class="name">{nameOf(each)}</span>
      </button>
      {isWhole(each) ? (
        (notesOf?.(each) ?? []).map((text) => text && <small key={text}>{text}</small>)
      ) : (
        <Broken row={each} hint={damaged} />
      )}
    </>
  );
  const inTable = (each: T) =>
    actsOf(each, view)
      .filter((one) => one.inTable)
      .map((one) => (
        <Button key={one.label} text={one.label} label={`${one.label} for ${nameOf(each)}`} onClick={() => begin(one, each)} />
      ));
  const Asked = act?.dialog;
  return (
    <div class="with-panel">
      <Table
        label={view.title}
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          { label: view.name, cell: name },
          ...columns,
          ...(view.acts?.some((one) => one.inTable) ? [{ label: "Actions", cell: inTable }] : []),
        ]}
      />
      {row && <Panel key={row.id} row={row} view={view} onAct={(next) => begin(next, row)} onClose={() => history.back()} />}
      {Asked && <Asked row={subject!} onClose={() => (asked.value = undefined)} />}
    </div>
  );
}

/** Why the record of a row cannot be decrypted, and what can be done. */
const Broken = ({ row, hint }: { readonly row: object; readonly hint: string | undefined }) =>
  hint !== undefined && "broken" in row ? (
    <small class="broken">
      {BROKEN[row.broken as keyof typeof BROKEN]} {hint}
    </small>
  ) : null;

type PanelProps<T> = DialogProps<T> & Readonly<{ view: RowsView<T>; onAct: (act: Act<T>) => void }>;

function Panel<T extends Row>({ row, view, onAct, onClose }: PanelProps<T>) {
  useLayoutEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      // Escape belongs to the layer above the panel, or clears a search.
      const isOwn = openDialogs.value.length === 0 && !document.querySelector(":popover-open");
      if (key === "Escape" && isOwn && !(target instanceof HTMLInputElement)) onClose();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const { nameOf, notesOf, damaged, columns, facts = [], sections = [] } = view;
  const notes = (isWhole(row) && notesOf?.(row).filter(Boolean)) || [];
  return (
    <section class="panel" aria-label={nameOf(row)}>
      <header>
        <Heading level="h2">{nameOf(row)}</Heading>
        <Button text="×" label="Close panel" class="plain" onClick={onClose} />
      </header>
      <Broken row={row} hint={damaged} />
      {notes.length > 0 && <p class="quiet">{notes.join(" · ")}</p>}
      <div class="buttons">
        {actsOf(row, view).map((act) => (
          <Button
            key={act.label}
            text={act.dialog ? `${act.label}…` : act.label}
            class={act === view.end ? "danger" : undefined}
            onClick={() => onAct(act)}
          />
        ))}
      </div>
      <Pairs rows={[...columns, ...facts].map(({ label, cell, full = cell }: PanelColumn<T>) => [label, full(row)])} />
      {isWhole(row) && sections.map((section) => <Details key={section.label} {...section} row={row} />)}
    </section>
  );
}

function Details<T>({ label, content: Content, row }: Section<T> & { readonly row: T }) {
  const open = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary>{label}</summary>
      {open.value && <Content row={row} />}
    </details>
  );
}

export const ID_FACT: Column<Row> = {
  label: "ID",
  cell: ({ id }) => (
    <>
      <code>{id}</code>
      <Button icon="copy" label="Copy ID" onClick={() => void copy("ID", id, { secret: false })} />
    </>
  ),
};

type ListProps<T> = Pick<RowsView<T>, "list" | "empty"> & Readonly<{ children: (rows: readonly T[]) => ComponentChildren }>;

/** Loads a list, and shows it, its emptiness, or the failure. Earlier rows stay. */
export function ListContent<T>({ list, empty, children }: ListProps<T>) {
  useLayoutEffect(() => void list.load(), [list]);
  const [rows, error] = [list.rows.value, list.error.value];
  return (
    <>
      {error !== undefined && <Failure error={error} retry={() => void list.load()} />}
      {rows?.length === 0 && <p class="empty">{empty}</p>}
      {rows === undefined ? error === undefined && <p class="quiet">Loading…</p> : rows.length > 0 && children(rows)}
    </>
  );
}

/** A list of few rows in a view of other things. */
export const RowList = <T extends Row>({ view }: { readonly view: RowsView<T> }) => (
  <ListContent {...view}>{(rows) => <Rows view={view} rows={rows} />}</ListContent>
);

interface ViewProps<T> {
  readonly view: AdminList<T>;
  /** Further filters beside the search, and which rows they let through. */
  readonly filters?: ComponentChildren;
  readonly isShown?: (row: T) => boolean;
  readonly children?: ComponentChildren;
  readonly below?: ComponentChildren;
}

/** A longer table is slow, and nobody reads it: it is searched. */
const ROWS_MAX = 200;

/** A view of a list: it creates entries and searches them. */
export function AdminView<T extends Row>({ view, filters, isShown, children, below }: ViewProps<T>) {
  const { title, nameOf, textsOf, create } = view;
  const creating = useSignal(false);
  const query = useSignal("");
  // Tokens, people and rules name their vaults by id.
  useLayoutEffect(() => void adminVaults.load(), []);
  useSignalEffect(() => void (takeAskedAct(create.label) && (creating.value = true)));
  const isFound = (row: T) => (isShown?.(row) ?? true) && matches(query.value, nameOf(row), ...(textsOf?.(row) ?? []));
  return (
    <Page title={title} actions={<Button text={create.label} class="primary" onClick={() => (creating.value = true)} />}>
      {children}
      <ListContent {...view}>
        {(rows) => {
          const found = rows.filter(isFound);
          return (
            <>
              {(filters !== undefined || rows.length > MANY) && (
                <search class="row-search">
                  <SearchField label={`Search ${title.toLowerCase()}`} query={query} />
                  {filters}
                </search>
              )}
              {found.length === 0 && <p class="empty">Nothing matches.</p>}
              {found.length > 0 && <Rows view={view} rows={rows} shown={found.slice(0, ROWS_MAX)} />}
              {found.length > ROWS_MAX && <p class="quiet">To see {plural(found.length - ROWS_MAX, "other")}, search.</p>}
            </>
          );
        }}
      </ListContent>
      {below}
      {creating.value && <create.dialog onClose={() => (creating.value = false)} />}
    </Page>
  );
}

/** A token, a person or a rule, which name vaults. */
type ScopedRow = TokenRow | PersonRow | RuleRow;

/** The names of the vaults with their permissions, by name. */
const namedScope = (row: ScopedRow) =>
  "broken" in row
    ? []
    : Object.entries(canonicalScope(row.vaults))
        .map(([id, scope]) => [vaultLabel(id), describeVaultScope(scope)] as const)
        .toSorted(([a], [b]) => compareNames(a, b));

export const scopeTexts = (row: ScopedRow): readonly string[] => namedScope(row).map(([name]) => name);

function Scope({ row, most = Infinity }: { readonly row: ScopedRow; readonly most?: number }) {
  const entries = namedScope(row);
  if (entries.length === 0) return <span class="quiet">{"broken" in row ? "unknown" : "none"}</span>;
  if (entries.length > most) return <>{plural(entries.length, "vault")}</>;
  return (
    <ul class="scope-names">
      {entries.map(([name, permissions], index) => (
        <li key={index}>
          {shorten(name)} <span class="quiet">{permissions}</span>
        </li>
      ))}
    </ul>
  );
}

/** Of more vaults the table has only the number. */
const SHOWN = 2;

export const SCOPE_COLUMN = {
  label: "Vaults",
  cell: (row: ScopedRow) => <Scope row={row} most={SHOWN} />,
  full: (row: ScopedRow) => <Scope row={row} />,
} as const;

/** The day from which a row is. */
export const dayColumn = (label: string) => ({
  label,
  cell: ({ createdAt }: { readonly createdAt: string }) => <Day time={createdAt} />,
});
