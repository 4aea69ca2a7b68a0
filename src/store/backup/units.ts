import type { Cell, Part } from "../../model/backup.ts";
import { cutRows, type Unit } from "./cut.ts";
import { SOURCES, type SourceName, VERSION_NUMBERS } from "./read-rows.ts";

/** The rows of a vault as units that stay together: the rows of an Item in all tables, or an entry of the log. */

/** The rows of a unit, by source (read-rows.ts). */
export interface RowUnit extends Unit {
  readonly rows: readonly (readonly (readonly Cell[])[])[];
}

type SourceRows = readonly (readonly (readonly Cell[])[])[];

const charactersOf = (rows: SourceRows): number =>
  rows.reduce((sum, some) => sum + some.reduce((total, row) => total + JSON.stringify(row).length + 1, 0), 0);

/** Returns the units of some rows, in the order of their ids: the first column of every source is the id. */
export function unitsOf(rows: SourceRows): RowUnit[] {
  const units = new Map<string, (readonly Cell[])[][]>();
  for (const [index, some] of rows.entries())
    for (const row of some) {
      const id = String(row[0]);
      const unit = units.get(id) ?? rows.map(() => []);
      unit[index]!.push(row);
      units.set(id, unit);
    }
  return [...units]
    .map(([id, own]) => ({ id, rows: own, characters: charactersOf(own) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Collects the rows of slices until all rows of their units were read. */
export interface Collector {
  readonly add: (rows: SourceRows) => void;
  /** Takes the units with ids below this one, or all: their rows were all read. */
  readonly takeBelow: (frontier: string | undefined) => RowUnit[];
}

export function createCollector(name: SourceName): Collector {
  let rest: (readonly Cell[])[][] = SOURCES[name].map(() => []);
  return {
    add(rows) {
      for (const [index, some] of rows.entries()) for (const row of some) rest[index]!.push(row);
    },
    takeBelow(frontier) {
      const isBelow = (row: readonly Cell[]) => frontier === undefined || String(row[0]) < frontier;
      const taken = rest.map((rows) => rows.filter(isBelow));
      rest = rest.map((rows) => rows.filter((row) => !isBelow(row)));
      return unitsOf(taken);
    },
  };
}

export const partOf = (name: SourceName, units: readonly RowUnit[]): Part => ({
  tables: SOURCES[name].flatMap(({ name: table, columns }, index) => {
    const rows = units.flatMap((unit) => unit.rows[index]!);
    return rows.length > 0 ? [{ table, columns, rows }] : [];
  }),
});

/** Returns the units of a part that `partOf` has made. */
export const unitsOfPart = (name: SourceName, { tables }: Part): RowUnit[] =>
  unitsOf(SOURCES[name].map((source) => tables.find(({ table }) => table === source.name)?.rows ?? []));

/** Cuts a unit that is larger than a part, with its rows in order. */
export function piecesOf(unit: RowUnit): RowUnit[] {
  const pieces: RowUnit[] = [];
  let rest = unit.rows.flatMap((rows, index) => rows.map((row) => ({ index, row, characters: JSON.stringify(row).length + 1 })));
  while (rest.length > 0) {
    const count = cutRows(
      rest.map(({ characters }) => characters),
      true,
    )!;
    const piece = rest.slice(0, count);
    rest = rest.slice(count);
    const rows = unit.rows.map((_, index) => piece.filter((one) => one.index === index).map(({ row }) => row));
    pieces.push({ id: unit.id, rows, characters: charactersOf(rows) });
  }
  return pieces;
}

const VERSIONS = SOURCES.items.findIndex(({ name }) => name === "item_versions");
const NUMBERS = SOURCES.changes.findIndex(({ name }) => name === VERSION_NUMBERS);
const VERSION_COLUMN = SOURCES.items[VERSIONS]!.columns.indexOf("version");
const NUMBER_COLUMN = SOURCES.changes[NUMBERS]!.columns.indexOf("version");

/**
 * Returns an Item after its changes. `item` is the Item as read before, if it was. `changes` has all rows of the Item, except versions that
 * were read before. Returns undefined if no row is left.
 */
export function applyChanges(item: RowUnit | undefined, changes: RowUnit): RowUnit | undefined {
  const kept = new Set(changes.rows[NUMBERS]!.map((row) => row[NUMBER_COLUMN]));
  const read = changes.rows[VERSIONS]!;
  const known = new Set(read.map((row) => row[VERSION_COLUMN]));
  const before = (item?.rows[VERSIONS] ?? []).filter((row) => kept.has(row[VERSION_COLUMN]) && !known.has(row[VERSION_COLUMN]));
  const versions = [...before, ...read].toSorted((a, b) => Number(a[VERSION_COLUMN]) - Number(b[VERSION_COLUMN]));
  const rows = SOURCES.items.map((_, index) => (index === VERSIONS ? versions : changes.rows[index]!));
  return rows.some((some) => some.length > 0) ? { id: changes.id, rows, characters: charactersOf(rows) } : undefined;
}
