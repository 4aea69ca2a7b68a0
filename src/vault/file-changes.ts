import type { KeyedFile } from "../model/file.ts";
import { parseId } from "../model/ids.ts";
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
  if (item.files.length + (item.brokenFiles?.length ?? 0) >= LIMITS.list)
    return invalid(`files: has more than ${LIMITS.list} entries`);
  const { section } = file;
  const known = section === undefined || item.sections.some(({ id }) => id === section);
  if (!known && item.sections.length >= LIMITS.list) return invalid(`sections: has more than ${LIMITS.list} entries`);
  const sections = known ? item.sections : [...item.sections, { id: section, label: "" }];
  return putFile({ ...item, sections }, file);
}

/** Errors: `file_not_found`; `integrity`, because the name and the section of the File are in its row. */
export function replaceContent(item: Item, content: NewContent): Result<FileEdit> {
  const before = item.files.find(({ id }) => id === content.id);
  if (!before) return fail(item.brokenFiles?.includes(content.id) ? "integrity" : "file_not_found");
  return putFile(item, { ...before, ...content });
}

/** Deletes a File, also one whose row does not open, with the id as the row has it. Errors: `file_not_found`. */
export function deleteFile(item: Item, id: string): Result<FileEdit> {
  const { brokenFiles = [] } = item;
  const broken = brokenFiles.find((one) => one === id || parseId(one) === id);
  const files = item.files.filter((file) => file.id !== id);
  if (broken === undefined && files.length === item.files.length) return fail("file_not_found");
  const others = brokenFiles.filter((one) => one !== broken);
  const left = { ...item, files, brokenFiles: others.length > 0 ? others : undefined };
  return ok({ item: left, id: broken ?? id, written: undefined });
}

function putFile(item: Item, written: KeyedFile): Result<FileEdit> {
  const { key: _key, ...file } = written;
  const files = [...item.files.filter(({ id }) => id !== file.id), file].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return ok({ item: { ...item, files }, id: file.id, written });
}
