import { ok, type Result } from "../../model/result.ts";
import { contentKey } from "../contents/place.ts";
import { beginAgain, type Running, stateOfKeys } from "./begin.ts";
import { contentsOfPart, copyContents, namesContents } from "./contents.ts";
import { loadPart } from "./load.ts";
import { BROKEN_ROWS_MAX, findBroken, findBrokenVault } from "./broken.ts";
import type { BackupStore } from "./ports.ts";
import { isRead, readSlice, type Slice, startPass } from "./slice.ts";
import { writePart } from "./write.ts";

/** The smallest steps of a snapshot: a slice of rows, or some contents. */

/** Out: the next state; `finished` when only the manifest is left; `deleted` when the vault does not exist any more. */
type Next = Result<Running | "finished" | "deleted">;

/** Errors: `unavailable`. */
export function advance(store: BackupStore, vault: string, running: Running): Promise<Next> {
  return running.moment ? copySome(store, vault, running) : readSome(store, vault, running);
}

async function readSome(store: BackupStore, vault: string, running: Running): Promise<Next> {
  const read = await readSlice(store.db, vault, running.pass);
  if (!read.ok) return read;
  const slice = read.value;
  if (!slice) return ok("deleted");
  const keys = running.keys ?? stateOfKeys(slice.row);
  // The rows of the pass do not fit together, or the log does not tell what has changed.
  if (!slice.complete || keys !== stateOfKeys(slice.row)) return ok(beginAgain(store.now, running));
  const { deployment, replaces, tables } = slice;
  const owner = { deployment, vault };
  const part = { replaces, tables };
  const ref = replaces.length + tables.length > 0 ? await writePart(store.backups, owner, part) : ok(undefined);
  if (!ref.ok) return ref;
  const replaced = new Set(replaces);
  const broken = [
    ...running.broken.filter(({ item }) => item === undefined || !replaced.has(item)),
    ...(await findBroken(store, slice.row, running.number, part)),
  ].slice(0, BROKEN_ROWS_MAX);
  const withFiles = namesContents(part) ? [...running.withFiles, running.parts.length] : running.withFiles;
  const parts = ref.value ? [...running.parts, ref.value] : running.parts;
  const next = { ...running, keys, withFiles, parts, broken, pass: slice.next };
  return isRead(slice.next) ? endPass(store, vault, next, slice, running.pass.start === undefined) : ok(next);
}

/** Contents that were missing before, and are looked for again in each snapshot. */
const RETRIED = 100;

/** In: whether the pass was one slice: then all rows are of its moment. */
async function endPass(store: BackupStore, vault: string, running: Running, slice: Slice, single: boolean): Promise<Next> {
  const { pass, parts } = running;
  const base = pass.since ? running.base : parts.length;
  if (!single) return ok({ ...running, base, pass: startPass(pass.start) });
  const { row, deployment } = slice;
  const last = { replaces: [], tables: [slice.webhooks] };
  const webhooks = await writePart(store.backups, { deployment, vault }, last);
  if (!webhooks.ok) return webhooks;
  const found = [...(await findBroken(store, row, running.number, last)), ...(await findBrokenVault(store, row))];
  const again = await copyContents(store, running.missing.slice(0, RETRIED));
  if (!again.ok) return again;
  const missing = [...again.value.missing, ...running.missing.slice(again.value.done)];
  const broken = [...running.broken, ...found];
  return ok({ ...running, base, missing, broken, moment: { at: store.now, row, deployment, webhooks: webhooks.value } });
}

/** Copies some of the contents that the new parts name. */
async function copySome(store: BackupStore, vault: string, running: Running): Promise<Next> {
  const { withFiles, parts, content, missing, copied, moment } = running;
  const [index] = withFiles;
  if (index === undefined) return ok("finished");
  const part = await loadPart(store.backups, { vault, deployment: moment!.deployment }, parts[index]!);
  // A part of this snapshot was lost or damaged meanwhile.
  if (!part.ok) return part.failure.kind === "unavailable" ? part : ok(beginAgain(store.now, running));
  const keys = contentsOfPart(vault, part.value).map(contentKey);
  const done = await copyContents(store, keys.slice(content));
  if (!done.ok) return done;
  const at = content + done.value.done;
  const isFinished = at >= keys.length;
  return ok({
    ...running,
    withFiles: isFinished ? withFiles.slice(1) : withFiles,
    content: isFinished ? 0 : at,
    copied: copied + done.value.done,
    missing: [...new Set([...missing, ...done.value.missing])],
  });
}
