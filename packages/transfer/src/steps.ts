import type { TransferFile, TransferItem, TransferState } from "./item.ts";

/**
 * The writes that make an Item. Each raises its version by 1 (contract 2.18, 9.7, 14.14), so the version shows the number of completed
 * writes. An interrupted import continues there.
 */
export type Step =
  | { readonly kind: "create" | "replace"; readonly state: TransferState }
  | { readonly kind: "archive" }
  | { readonly kind: "file"; readonly file: TransferFile };

/**
 * Returns the steps of an Item, the oldest state first. Archiving and Files follow it immediately. Each makes a version too, and after the
 * last state they would displace earlier states from the versions that the service keeps.
 */
export function stepsOf(item: TransferItem): Step[] {
  const [first, ...later] = [...item.history, item].map(stateOf);
  return [
    { kind: "create", state: first! },
    ...(item.archived ? [{ kind: "archive" } as const] : []),
    ...item.files.map((file) => ({ kind: "file", file }) as const),
    ...later.map((state) => ({ kind: "replace", state }) as const),
  ];
}

const stateOf = ({ title, category, favorite = false, tags, urls, sections, fields }: TransferState): TransferState => ({
  title,
  category,
  favorite,
  tags,
  urls,
  sections,
  fields,
});

export interface Progress {
  readonly state: TransferState;
  readonly archived: boolean;
  readonly files: readonly TransferFile[];
}

/** Returns the state of the Item after its first `done` steps, at least one. */
export function progressAfter(steps: readonly Step[], done: number): Progress {
  const made = steps.slice(0, done);
  const states = made.flatMap((step) => ("state" in step ? [step.state] : []));
  return {
    state: states.at(-1)!,
    archived: made.some(({ kind }) => kind === "archive"),
    files: made.flatMap((step) => ("file" in step ? [step.file] : [])),
  };
}
