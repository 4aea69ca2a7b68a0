import { LIMITS } from "@item-vault/model/limits";
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentProps } from "preact";
import { isErrorKind } from "../failures/explain.ts";
import { refreshHealth } from "../state/health.ts";
import { compareNames } from "../state/search.ts";
import { type Action, showToast } from "../state/toasts.ts";
import { Field, Select } from "../ui/controls.tsx";
import { Alert } from "../ui/failure.tsx";
import { FormDialog, type FormDialogProps, InputError, textOf } from "../ui/form.tsx";
import { keepFocus } from "../ui/page.tsx";
import { capitalized } from "../ui/texts.ts";
import { matches } from "./filter.ts";
import { type List, adminVaults, vaultLabel } from "./lists.ts";
import { grants, type Operation, OPERATION_LABELS, OPERATIONS, placeAfter, type Scope, setOperation } from "./scope.ts";

/** The acts of the lists of the administration, and the dialogs that ask before them. */

/** A component that takes a row. Its type is that of a function, so a component of more kinds of rows fits, too. */
export type Part<Props> = (props: Props) => ComponentChildren;

export type Closable = Pick<FormDialogProps, "onClose">;

export type DialogProps<T> = Closable & Readonly<{ row: T }>;

export interface Act<T> {
  readonly label: string;
  /** Absent: every row has the act. */
  readonly when?: (row: T) => boolean;
  readonly dialog?: Part<DialogProps<T>>;
  readonly run?: (row: T) => void;
  /** The table also has a button for it. */
  readonly inTable?: true;
}

interface ActProps extends Omit<FormDialogProps, "action"> {
  readonly act: (data: FormData) => Promise<unknown>;
  /** The message afterwards, and what it offers. */
  readonly done: string;
  readonly offer?: () => Action | undefined;
  /** Loaded again afterwards. */
  readonly list: { readonly load: () => Promise<void> };
}

/** A dialog with the form of an act on a list. The row with the focus may be gone afterwards: then the title of the view has it. */
export function ActDialog({ act, done, offer, list, ...dialog }: ActProps) {
  const action = async (data: FormData) => {
    try {
      await act(data);
    } catch (error) {
      // The general message is about the quotas of vaults.
      throw isErrorKind(error, "quota") ? new InputError(`${error.message}.`) : error;
    }
    dialog.onClose();
    showToast(done, "done", offer?.());
    if (dialog.danger) refreshHealth();
    await list.load();
    keepFocus();
  };
  return <FormDialog {...dialog} action={action} />;
}

interface Ending<T> {
  readonly list: List<T>;
  readonly verb: "Delete" | "Remove" | "Revoke";
  readonly noun: (row: T) => string;
  readonly run: (row: T) => Promise<unknown>;
  /** What it ends, in sentences. */
  readonly text: (row: T) => ComponentChildren;
}

/** Returns the act that ends a row, which asks before. */
export const ending = <T,>({ verb, noun, list, run, text }: Ending<T>): Act<T> => ({
  label: verb,
  dialog: ({ row, onClose }) => (
    <ActDialog
      title={`${verb} ${noun(row)}?`}
      submit={`${verb} ${noun(row)}`}
      danger
      act={() => run(row)}
      done={`${capitalized(noun(row))} ${verb.toLowerCase()}d`}
      list={{ load: () => list.load(row) }}
      onClose={onClose}
    >
      <p>{text(row)}</p>
    </ActDialog>
  ),
});

/** The fields that several forms of the administration have: a name, a lifetime, and vaults with permissions. */

export const NameField = ({ value = "", placeholder = "" }: { readonly value?: string; readonly placeholder?: string }) => (
  <Field
    label="Name"
    name="name"
    required
    pattern=".*\S.*"
    title="Enter a name"
    maxLength={LIMITS.title}
    defaultValue={value}
    placeholder={placeholder}
  />
);

export const UrlField = (props: Pick<ComponentProps<typeof Field>, "help" | "placeholder" | "defaultValue">) => (
  <Field label="URL" name="url" type="url" required pattern="https://.*" title="A URL that begins with https://" {...props} />
);

const MINUTE = 60; // seconds
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const OTHER = "other";

const LIFETIMES: readonly (readonly [value: number | string, label: string])[] = [
  [HOUR, "1 hour"],
  [12 * HOUR, "12 hours"],
  [7 * DAY, "7 days"],
  [30 * DAY, "30 days"],
  [LIMITS.tokenLifetimeDefault, "90 days"],
  [LIMITS.tokenLifetime, "1 year"],
  [OTHER, "Another time…"],
];

/** The lifetimes offered for the tokens of a workload's rule. */
export const RULE_LIFETIMES = [
  [5 * MINUTE, "5 minutes"],
  [LIMITS.ruleLifetimeDefault, "15 minutes"],
  [30 * MINUTE, "30 minutes"],
  [LIMITS.ruleLifetime, "1 hour"],
] as const;

const UNITS = { hours: HOUR, days: DAY } as const;
type Unit = keyof typeof UNITS;
const UNIT_OPTIONS = (Object.keys(UNITS) as Unit[]).map((name) => [name, name] as const);

export function LifetimeField() {
  const chosen = useSignal<number | string>(LIMITS.tokenLifetimeDefault);
  const unit = useSignal<Unit>("days");
  return (
    <div class="lifetime">
      <Select label="Expires after" name="lifetime" signal={chosen} options={LIFETIMES} />
      {chosen.value === OTHER && (
        <>
          <label>
            How many
            <input name="count" type="number" required min={1} max={LIMITS.tokenLifetime / UNITS[unit.value]} step={1} />
          </label>
          <Select label="Unit" name="unit" signal={unit} options={UNIT_OPTIONS} />
        </>
      )}
    </div>
  );
}

/** Returns the lifetime in a form's data, in seconds. */
export function parseLifetime(data: FormData): number {
  const lifetime = textOf(data, "lifetime");
  return lifetime === OTHER ? Number(textOf(data, "count")) * UNITS[textOf(data, "unit") as Unit] : Number(lifetime);
}

type ScopeProps = Readonly<{ scope: Signal<Scope>; operations?: readonly Operation[] }>;

type Choice = Readonly<{ id: string; name: string }>;

/** A longer list gets a field that searches it. */
export const MANY = 8;

/** A search among its children. Enter does not send the form around it. */
export const SearchField = ({ label, query }: Readonly<{ label: string; query: Signal<string> }>) => (
  <input
    type="search"
    aria-label={label}
    placeholder={label}
    autocomplete="off"
    value={query.value}
    onInput={(event) => (query.value = event.currentTarget.value)}
    onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
  />
);

/** The choice of vaults with their permissions: a grid of checkboxes with arrow keys. */
export function ScopeField({ scope, operations = OPERATIONS }: ScopeProps) {
  const query = useSignal("");
  const choices = choicesOf(scope.value);
  const shown = choices.filter(({ name }) => matches(query.value, name));
  const chosen = Object.keys(scope.value).length;
  return (
    <fieldset class="scope">
      <legend>
        Vaults <span class="quiet">{chosen === 0 ? "None chosen" : `${chosen} of ${choices.length} chosen`}</span>
      </legend>
      {choices.length > MANY && <SearchField label="Filter vaults" query={query} />}
      {shown.length === 0 ? (
        <p class="quiet">{choices.length === 0 ? "No vaults yet." : "No vault matches."}</p>
      ) : (
        <Grid
          all={query.value.trim() === "" ? "All vaults" : `All ${shown.length} shown`}
          choices={shown}
          scope={scope}
          operations={operations}
        />
      )}
      {chosen > LIMITS.tokenVaults && <Alert>At most {LIMITS.tokenVaults} vaults can be chosen.</Alert>}
    </fieldset>
  );
}

type GridProps = Required<ScopeProps> & Readonly<{ all: string; choices: readonly Choice[] }>;

function Grid({ all, choices, scope, operations }: GridProps) {
  // Reading is granted most often.
  const active = useSignal(`0/${operations.indexOf("r")}`);
  const rows = [
    { key: "all", name: all, ids: choices.map(({ id }) => id) },
    ...choices.map(({ id, name }) => ({ key: id, name, ids: [id] })),
  ];
  // Tab reaches only one of all checkboxes: otherwise, with 100 vaults, the rest of the form would be out of reach.
  const [row = 0, column = 0] = active.value.split("/").map(Number);
  const current = `${Math.min(row, rows.length - 1)}/${Math.min(column, operations.length - 1)}`;
  return (
    <div class="scope-rows">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- ARIA in HTML allows it. */}
      <table role="grid" aria-label="Permissions in vaults" onKeyDown={(event) => moveInGrid(event)}>
        <thead>
          <tr>
            <th scope="col">Vault</th>
            {operations.map((operation) => (
              <th key={operation} scope="col">
                {OPERATION_LABELS[operation]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, ids }, rowIndex) => (
            <tr key={key} class={key === "all" ? "all" : ""}>
              <th scope="row">
                <span class="name">{name}</span>
              </th>
              {operations.map((operation, columnIndex) => {
                const granted = ids.filter((id) => grants(scope.value[id], operation)).length;
                const place = `${rowIndex}/${columnIndex}`;
                return (
                  <td key={operation}>
                    <input
                      type="checkbox"
                      aria-label={`${OPERATION_LABELS[operation]}: ${name}`}
                      checked={granted === ids.length}
                      indeterminate={granted > 0 && granted < ids.length}
                      tabIndex={place === current ? 0 : -1}
                      data-place={place}
                      onFocus={() => (active.value = place)}
                      onChange={(event) => (scope.value = setOperation(scope.value, ids, operation, event.currentTarget.checked))}
                    />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Moves the focus within the grid (ARIA Authoring Practices Guide, pattern "grid"). Its controls have their place in `data-place`. */
function moveInGrid(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const { place } = (event.target as HTMLElement).dataset;
  if (place === undefined) return;
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-place]")];
  const [rows = 0, columns = 0] = (all.at(-1)?.dataset["place"] ?? "").split("/").map((index) => Number(index) + 1);
  const next = placeAfter(event.key, place, rows, columns);
  if (next === undefined) return;
  event.preventDefault();
  all.find(({ dataset }) => dataset["place"] === next)?.focus();
}

/** The vaults by name. Broken and deleted vaults are listed only where they are chosen. */
function choicesOf(scope: Scope): readonly Choice[] {
  const offered = (adminVaults.rows.value ?? []).flatMap((vault) => ("broken" in vault ? [] : [vault.id]));
  return [...new Set([...offered, ...Object.keys(scope)])]
    .map((id) => ({ id, name: vaultLabel(id) }))
    .toSorted((a, b) => compareNames(a.name, b.name));
}
