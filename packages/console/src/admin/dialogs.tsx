import type { ComponentChildren } from "preact";
import { isErrorKind } from "../failures/explain.ts";
import { refreshHealth } from "../state/health.ts";
import { type Action, showToast } from "../state/toasts.ts";
import { FormDialog, type FormDialogProps, InputError } from "../ui/form.tsx";
import { keepFocus } from "../ui/page.tsx";
import { capitalized } from "../ui/texts.ts";
import type { List } from "./lists.ts";

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
  readonly list: Pick<List<unknown>, "load">;
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
      list={list}
      onClose={onClose}
    >
      <p>{text(row)}</p>
    </ActDialog>
  ),
});
