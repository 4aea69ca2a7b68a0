import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isErrorKind } from "../failures/explain.ts";
import { takeAskedAct } from "../state/asked-act.ts";
import { refreshHealth } from "../state/health.ts";
import { type Action, openDialogs, showToast } from "../state/toasts.ts";
import { afterRender, keepFocus, Page } from "../ui/page.tsx";
import { copy } from "../ui/clipboard.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form, InputError } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { matches } from "./filter.ts";
import { adminVaults, BROKEN, type List } from "./lists.ts";

/** The tables of the administration. A view declares its rows as data; a row opens a panel that shows all of it and its acts. */

/** The rows whose record can be decrypted (contract 13.18). */
export type Whole<T> = Exclude<T, { readonly broken: unknown }>;

/** A component that takes a row. Its type is that of a function, so that a component of more kinds of rows is one of these. */
type Part<Props> = (props: Props) => ComponentChildren;

export interface DialogProps<T> {
  readonly row: T;
  readonly onClose: () => void;
}

export interface Act<T> {
  readonly label: string;
  /** Absent: every row has the act. */
  readonly when?: (row: T) => boolean;
  /** Opened by the act. */
  readonly dialog?: Part<DialogProps<T>>;
  /** Runs the act without a dialog. */
  readonly run?: (row: T) => void;
  /** The table has a button for it too. */
  readonly inTable?: true;
}

interface PanelColumn<T> extends Column<T> {
  /** The content in the panel. Absent: as in the table. */
  readonly full?: (row: T) => ComponentChildren;
}

interface Section<T> {
  readonly label: string;
  /** Rendered, and so loaded, once the section is expanded. */
  readonly content: Part<{ readonly row: T }>;
}

export interface RowsView<T> {
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

type Row = { readonly id: string };

const isWhole = <T extends Row>(row: T): row is T & Whole<T> => !("broken" in row);

/** Returns the acts of a row. */
const actsOf = <T extends Row>(row: T, { acts = [], end }: RowsView<T>): readonly Act<T>[] =>
  [...(isWhole(row) ? (acts as readonly Act<T>[]) : []), ...(end ? [end] : [])].filter(({ when }) => when?.(row) ?? true);

interface RowsProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  /** The rows of the table. Default: all. */
  readonly shown?: readonly T[];
  readonly view: RowsView<T>;
}

/** The open row. Its panel has a place in the history, so that Back closes it and does not leave the view. */
function useOpenRow<T extends Row>(rows: readonly T[]) {
  const open = useSignal<string | undefined>(undefined);
  const opener = useRef<HTMLElement>(undefined);
  const row = rows.find(({ id }) => id === open.value);
  const isOpen = row !== undefined;
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    history.pushState(null, "", location.href);
    const close = () => {
      open.value = undefined;
      afterRender(() => opener.current?.focus());
    };
    addEventListener("popstate", close);
    return () => removeEventListener("popstate", close);
  }, [isOpen]);
  const toggle = ({ id }: T, button: HTMLElement) => {
    opener.current = button;
    if (open.value === id) history.back();
    else open.value = id;
  };
  return { row, toggle };
}

/** A table, and beside it the panel of the open row. On a narrow screen the panel takes the place of the page. */
export function Rows<T extends Row>({ label, rows, shown = rows, view }: RowsProps<T>) {
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
        <button key={one.label} type="button" aria-label={`${one.label} for ${nameOf(each)}`} onClick={() => begin(one, each)}>
          {one.label}
        </button>
      ));
  const Asked = act?.dialog;
  return (
    <div class="with-panel">
      <Table
        label={label}
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

interface PanelProps<T> {
  readonly row: T;
  readonly view: RowsView<T>;
  readonly onAct: (act: Act<T>) => void;
  readonly onClose: () => void;
}

function Panel<T extends Row>({ row, view, onAct, onClose }: PanelProps<T>) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    heading.current!.focus();
    const onKey = ({ key, target }: KeyboardEvent) => {
      // Escape belongs to what is above the panel, or clears a search.
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
        <h2 ref={heading} tabIndex={-1}>
          {nameOf(row)}
        </h2>
        <button type="button" class="plain" aria-label="Close panel" onClick={onClose}>
          ×
        </button>
      </header>
      <Broken row={row} hint={damaged} />
      {notes.length > 0 && <p class="quiet">{notes.join(" · ")}</p>}
      <div class="buttons">
        {actsOf(row, view).map((act) => (
          <button key={act.label} type="button" class={act === view.end ? "danger" : ""} onClick={() => onAct(act)}>
            {act.dialog ? `${act.label}…` : act.label}
          </button>
        ))}
      </div>
      <dl>
        {[...columns, ...facts].map(({ label, cell, full = cell }: PanelColumn<T>) => {
          const content = full(row);
          return (
            content && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{content}</dd>
              </div>
            )
          );
        })}
      </dl>
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

/** A fact with the id of a row, to be copied. */
export const ID_FACT: Column<Row> = {
  label: "ID",
  cell: ({ id }) => (
    <>
      <code>{id}</code>
      <button type="button" class="plain" aria-label="Copy ID" onClick={() => void copy("ID", id, { secret: false })}>
        <Icon name="copy" />
      </button>
    </>
  ),
};

interface ListProps<T> {
  readonly list: List<T>;
  /** The text of a list without rows. */
  readonly empty: string;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

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

interface ViewProps<T> extends Omit<ListProps<T>, "children"> {
  readonly title: string;
  readonly create: { readonly label: string; readonly dialog: Part<{ readonly onClose: () => void }> };
  readonly view: RowsView<T>;
  /** Returns further searched texts beside the name. */
  readonly textsOf?: (row: T) => readonly string[];
  /** Further filters beside the search, and which rows they let through. */
  readonly filters?: ComponentChildren;
  readonly isShown?: (row: T) => boolean;
  /** The content between the title and the list. */
  readonly children?: ComponentChildren;
  readonly below?: ComponentChildren;
}

/** A view of a list: it creates entries and searches them. */
export function AdminView<T extends Row>({ title, list, empty, create, children, below, ...rest }: ViewProps<T>) {
  const creating = useSignal(false);
  // Tokens, people and rules name their vaults by id.
  useLayoutEffect(() => void ((list as unknown) !== adminVaults && adminVaults.load()), []);
  useSignalEffect(() => void (takeAskedAct(create.label) && (creating.value = true)));
  const button = (
    <button type="button" class="primary" onClick={() => (creating.value = true)}>
      {create.label}
    </button>
  );
  return (
    <Page title={title} actions={button}>
      {children}
      <ListContent list={list} empty={empty}>
        {(rows) => <Searched {...rest} title={title} rows={rows} />}
      </ListContent>
      {below}
      {creating.value && <create.dialog onClose={() => (creating.value = false)} />}
    </Page>
  );
}

/** More rows get a field that searches them. */
const MANY = 8;
/** A longer table is slow, and nobody reads it: it is searched. */
const ROWS_MAX = 200;

type SearchedProps<T> = Omit<ViewProps<T>, keyof ListProps<T> | "create" | "below"> & { readonly rows: readonly T[] };

function Searched<T extends Row>({ title, rows, view, textsOf, filters, isShown }: SearchedProps<T>) {
  const query = useSignal("");
  const label = `Search ${title.toLowerCase()}`;
  const found = rows.filter(
    (row) => (isShown?.(row) ?? true) && matches(query.value, view.nameOf(row), ...(textsOf?.(row) ?? [])),
  );
  return (
    <>
      {(filters !== undefined || rows.length > MANY) && (
        <search class="row-search">
          <input
            type="search"
            aria-label={label}
            placeholder={label}
            autocomplete="off"
            value={query.value}
            onInput={(event) => (query.value = event.currentTarget.value)}
          />
          {filters}
        </search>
      )}
      {found.length === 0 && <p class="empty">Nothing matches.</p>}
      {found.length > 0 && <Rows label={title} rows={rows} shown={found.slice(0, ROWS_MAX)} view={view} />}
      {found.length > ROWS_MAX && <p class="quiet">To see {plural(found.length - ROWS_MAX, "other")}, search.</p>}
    </>
  );
}

interface ActProps {
  readonly title: string;
  readonly submit: string;
  /** True if it ends a row. */
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly act: (data: FormData) => Promise<unknown>;
  /** The message afterwards, and what it offers. */
  readonly done: string;
  readonly offer?: () => Action | undefined;
  /** Loaded again afterwards. */
  readonly list: { readonly load: () => Promise<void> };
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog with the form of an act on a list. The row with the focus may be gone afterwards: then the title of the view has it. */
export function ActDialog({ title, act, done, offer, list, onClose, children, ...form }: ActProps) {
  const action = async (data: FormData) => {
    try {
      await act(data);
    } catch (error) {
      // The general message is about the quotas of vaults.
      throw isErrorKind(error, "quota") ? new InputError(`${error.message}.`) : error;
    }
    onClose();
    showToast(done, "done", offer?.());
    if (form.danger) refreshHealth();
    await list.load();
    keepFocus();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} onCancel={onClose} {...form}>
        {children}
      </Form>
    </Dialog>
  );
}
