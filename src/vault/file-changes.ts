import type { File, KeyedFile } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import { LIMITS } from "../model/limits.ts";
import type { NewContent } from "../model/operation.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";

/** The changes of the Files of an Item: pure functions from an Item to the Item with its new Files. */

export interface FileEdit {
  readonly item: Item;
  readonly id: string;
  /** The File that the row gets; absent when it is deleted. */
  readonly written: KeyedFile | undefined;
}

/** Adds a File. A section that the File names and the Item does not declare is added too. Errors: 400. */
export function addFile(item: Item, file: KeyedFile): Result<FileEdit> {
  if (item.files.length >= LIMITS.list) return invalid(`files: has more than ${LIMITS.list} entries`);
  const { section } = file;
  const known = section === undefined || item.sections.some(({ id }) => id === section);
  if (!known && item.sections.length >= LIMITS.list) return invalid(`sections: has more than ${LIMITS.list} entries`);
  const sections = known ? item.sections : [...item.sections, { id: section, label: "" }];
  return edited({ ...item, sections }, undefined, file);
}

/** Errors: `file_not_found`. */
export function replaceContent(item: Item, content: NewContent): Result<FileEdit> {
  const before = item.files.find(({ id }) => id === content.id);
  return before ? edited(item, before, { ...before, ...content }) : fail("file_not_found");
}

/** Errors: `file_not_found`. */
export function deleteFile(item: Item, id: string): Result<FileEdit> {
  const before = item.files.find((file) => file.id === id);
  return before ? edited(item, before, undefined) : fail("file_not_found");
}

function edited(item: Item, before: File | undefined, after: KeyedFile | undefined): Result<FileEdit> {
  const id = (after ?? before)!.id;
  const others = item.files.filter((file) => file.id !== id);
  const files = after ? [...others, withoutKey(after)].toSorted((a, b) => (a.id < b.id ? -1 : 1)) : others;
  return ok({ item: { ...item, files }, id, written: after });
}

const withoutKey = ({ key: _key, ...file }: KeyedFile): File => file;
