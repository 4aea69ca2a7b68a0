import { fits, LIMITS } from "../../../src/model/limits.ts";
import { fileOf } from "./build.ts";
import type { Losses } from "./losses.ts";
import type { TransferField, TransferFile, TransferItem, TransferState } from "./model.ts";

/**
 * Makes an Item that the API accepts (contract 2.8, 2.14, 12.1 and 12.3). Nothing is dropped that can be kept in another form: a text
 * that is too long becomes a File. Each such change is counted. The runner does the same for values that their types refuse.
 */
export function fitItem(item: TransferItem, losses: Losses): TransferItem {
  const added: TransferFile[] = [];
  const state = fitState(item, losses, (name, text) => added.push(textFile(name, text)));
  const lose = () => losses.add("texts over 64 KiB in earlier versions", state.title);
  const small = [...item.files, ...added].filter(({ size }) => size <= LIMITS.file);
  losses.add("Files over 100 MB", state.title, item.files.length + added.length - small.length);
  const files = firstOf(small, "Files", state.title, losses).map(withName);
  return Object.assign({}, item, state, { files, history: item.history.map((earlier) => fitState(earlier, losses, lose)) });
}

const withName = (file: TransferFile): TransferFile =>
  Object.assign({}, file, { name: cut(file.name.toWellFormed(), LIMITS.fileName) || "file" });

/** What to do with a text that is too long. In: what it is, and the text. */
type KeepLong = (name: string, text: string) => void;

function fitState(state: TransferState, losses: Losses, keepLong: KeepLong): TransferState {
  const whole = state.title.toWellFormed();
  const title = cut(whole, LIMITS.title);
  if (title !== whole) keepLong("title", whole);
  const fit = (what: string, text: string): string => {
    if (!text.isWellFormed()) losses.add("halves of surrogate pairs (replaced by U+FFFD)", title);
    if (fits(text, LIMITS.string)) return text.toWellFormed();
    losses.add("texts over 64 KiB (kept as Files)", title);
    keepLong(what, text.toWellFormed());
    return "";
  };
  const first = <T>(list: readonly T[], what: string) => firstOf(list, what, title, losses);
  const fitUrl = (url: TransferState["urls"][number]) => Object.assign({}, url, { href: fit("url", url.href) });
  return Object.assign({}, state, {
    title,
    tags: first([...new Set(state.tags.map((tag) => fit("tag", tag)))].filter(Boolean), "tags"),
    urls: first(state.urls, "URLs").map(fitUrl),
    sections: first(state.sections, "sections").map(({ id, label }) => ({ id, label: fit("section", label ?? "") })),
    fields: first(state.fields, "fields").map(fieldFitter(fit)),
  });
}

/** Fits the fields of one Item: a second field of a purpose loses the purpose, a second use of an id gets a number. */
function fieldFitter(fit: (what: string, text: string) => string): (field: TransferField) => TransferField {
  const purposes = new Set<string>();
  const ids = new Set<string>();
  return ({ purpose, id, ...field }) => {
    const label = fit("label", field.label ?? "");
    const second = purpose !== undefined && purposes.has(purpose);
    if (purpose) purposes.add(purpose);
    return {
      ...field,
      ...(id === undefined ? {} : { id: freeId(id, ids) }),
      ...(purpose === undefined || second ? {} : { purpose }),
      ...(field.label === undefined ? {} : { label }),
      ...(field.value === undefined ? {} : { value: fit(label || "value", field.value) }),
    };
  };
}

function freeId(id: string, used: Set<string>): string {
  let free = id;
  for (let n = 2; used.has(free); n++) free = `${id}-${n}`;
  used.add(free);
  return free;
}

function firstOf<T>(list: readonly T[], what: string, title: string, losses: Losses): readonly T[] {
  losses.add(`${what} after the 1,000th of an Item`, title, Math.max(0, list.length - LIMITS.list));
  return list.slice(0, LIMITS.list);
}

/** The longest beginning of the text that has at most `limit` bytes. */
function cut(text: string, limit: number): string {
  if (fits(text, limit)) return text;
  const bytes = new TextEncoder().encode(text).subarray(0, limit);
  return new TextDecoder().decode(bytes).replace(/\uFFFD+$/, "");
}

const textFile = (name: string, text: string): TransferFile => fileOf(`${cut(name, 200)}.txt`, new TextEncoder().encode(text));
