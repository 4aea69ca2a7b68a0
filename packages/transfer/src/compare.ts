import { nameOfPurpose } from "@item-vault/model/purposes";
import type { TransferField, TransferState } from "./item.ts";
import { lookup } from "./lookup.ts";
import { secondsOfDate } from "./values.ts";

/** Compares states of Items. */

/** Returns true if two states are equal, including the ids of their fields. */
export const sameState = (one: TransferState, other: TransferState): boolean => canonical(one, true) === canonical(other, true);

/**
 * Returns true if a stored Item has the written state. Additions of the service are ignored: ids, labels of purposes, and sections that
 * fields name. So are spellings of values by dialect (contract 3.5).
 */
export const holdsState = (stored: TransferState, written: TransferState): boolean =>
  canonical(stored, false) === canonical(written, false);

function canonical({ title, category, favorite = false, tags, urls, sections, fields }: TransferState, exact: boolean): string {
  const links = urls.map(({ href, label = "", primary = false }) => [href, label, primary]);
  const labels = new Map(sections.map(({ id, label = "" }) => [id, label]));
  const parts = fields.map((field) => canonicalField(field, labels, exact));
  return JSON.stringify([
    title,
    category,
    favorite,
    tags,
    links,
    parts,
    exact ? sections.map(({ id, label = "" }) => [id, label]) : [],
  ]);
}

const VALUES: Readonly<Record<string, (value: string) => string>> = {
  DATE: (value) => (value === "" ? value : String(secondsOfDate(value))),
  MONTH_YEAR: (value) => value.replace("/", ""),
};

function canonicalField(field: TransferField, labels: ReadonlyMap<string, string>, exact: boolean): unknown[] {
  const { id = "", type = "STRING", purpose = "", label = nameOfPurpose(purpose) ?? "", value = "", section } = field;
  const kind = purpose === "PASSWORD" ? "CONCEALED" : type;
  const written = lookup(VALUES, kind)?.(value) ?? value;
  return [
    exact ? id : "",
    kind,
    purpose,
    label,
    written,
    section?.id ?? "",
    section ? (labels.get(section.id) ?? section.label ?? "") : "",
  ];
}
