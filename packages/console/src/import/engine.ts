import { compareItems } from "@item-vault/transfer/compare-items";
import { beginFit, type Fitted } from "@item-vault/transfer/fit";
import { matchingFormats } from "@item-vault/transfer/format";
import { csv } from "@item-vault/transfer/formats/csv";
import { type ColumnChoice, columnsIn } from "@item-vault/transfer/formats/csv/header";
import { isKeePassFile } from "@item-vault/transfer/formats/keepass-file";
import type { Transfer } from "@item-vault/transfer/item";
import { planItems, type PlannedItem } from "@item-vault/transfer/plan";
import type { TargetVault } from "@item-vault/transfer/service";
import { isComplete } from "@item-vault/transfer/write-item";
import type { Counts } from "@item-vault/transfer/write-items";
import { FORMATS } from "./formats.ts";

/** Reading a source and writing it to the service. It is loaded when a file was chosen. */

export { writeItems } from "@item-vault/transfer/write-items";

/** A source that was read completely, in the form in which the service takes it. */
export interface Source {
  /** The names of the format and of the source, from which ids are derived (docs/design/programs.md). */
  readonly format: string;
  readonly source: string;
  readonly fitted: Fitted;
}

export interface Reading {
  /** `undefined` until the user has typed it. */
  readonly password: string | undefined;
  readonly includeTrash: boolean;
  /** The name of a format; undefined: the format whose signs the file has. */
  readonly format: string | undefined;
  /** The meanings of columns in a CSV file of an unknown program, by their names in lower case. */
  readonly columns: ReadonlyMap<string, string> | undefined;
}

/** What an import will do: numbers of Items. */
export interface Forecast {
  readonly items: readonly PlannedItem[];
  readonly created: number;
  /** Items whose import was interrupted. */
  readonly completed: number;
  readonly present: number;
  /** The titles of the Items that are there with other content. */
  readonly differing: readonly string[];
}

/** Why a file was not read. `several`, `unknown`: a format has to be chosen. */
export type Refusal = Readonly<{ kind: "several" | "unknown" | "fault"; text: string }>;

export type Result = Counts & Readonly<{ stopped: boolean; all: number }>;

export type Stage =
  | { readonly name: "choose"; readonly problem?: Refusal }
  | { readonly name: "password"; readonly problem?: Refusal }
  | { readonly name: "reading" }
  | { readonly name: "columns"; readonly columns: readonly ColumnChoice[]; readonly problem?: Refusal }
  | { readonly name: "review"; readonly source: Source }
  | { readonly name: "writing"; readonly all: number }
  | { readonly name: "finished"; readonly result: Result };

const NEEDS_PASSWORD = new Error("The file needs a password");

const refused = (kind: Refusal["kind"], text = ""): Stage => ({ name: "choose", problem: { kind, text } });

/** Reads a file in the page. Returns the next stage. Throws the TransferError of a malformed file or a wrong password. */
export async function readSource(file: File, { password, includeTrash, format: wanted, columns }: Reading): Promise<Stage> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (isKeePassFile(bytes.subarray(0, 4096)))
    return refused("fault", "Only the command line opens KeePass databases. Run: item-vault import FILE");
  const named = FORMATS.filter(({ name }) => name === wanted);
  const [format, another] = named.length > 0 ? named : matchingFormats(FORMATS, bytes, file.name);
  const found = !columns && (!format || format === csv) ? columnsIn(bytes, file.name) : undefined;
  if (found) return { name: "columns", columns: found };
  if (!format || another) return refused(format ? "several" : "unknown");
  const ask = () => (password === undefined ? Promise.reject(NEEDS_PASSWORD) : Promise.resolve(password));
  try {
    const transfer = await format.read(bytes, { password: ask, fileName: file.name, includeTrash, columns });
    const source = { format: format.name, source: transfer.source, fitted: await fitInSlices(transfer) };
    return { name: "review", source };
  } catch (error) {
    if (error === NEEDS_PASSWORD) return { name: "password" };
    throw error;
  }
}

/** Longest time without an answer of the page while Items are fitted. A Worker is not possible under Trusted Types. */
const SLICE = 50; // milliseconds

async function fitInSlices(transfer: Transfer): Promise<Fitted> {
  const { fitted, add } = beginFit(transfer);
  let end = performance.now() + SLICE;
  for (const item of transfer.items) {
    add(item);
    if (performance.now() < end) continue;
    await new Promise((resolve) => setTimeout(resolve));
    end = performance.now() + SLICE;
  }
  return fitted;
}

/** Compares a source with the vault for each vault name in it; Items of other names are left out. Throws the ItemVaultError of a request. */
export async function planSource(
  { format, source, fitted }: Source,
  targets: ReadonlyMap<string, TargetVault>,
  signal: AbortSignal,
): Promise<Forecast> {
  const placed = fitted.items.flatMap((item) => {
    const vault = targets.get(item.vault ?? "");
    return vault ? [{ item, vault }] : [];
  });
  const items = await compareItems(await planItems(placed, { format, source }), { signal });
  const differing = items.flatMap(({ found, item }) => (found?.differs ? [item.title] : []));
  const created = items.filter(({ found }) => !found).length;
  const present = items.filter(({ found, steps }) => isComplete(found, steps)).length;
  return { items, created, present, differing, completed: items.length - created - present - differing.length };
}
