import { randomBytes } from "node:crypto";
import { CliError } from "../../frame/failure.ts";
import { requireSameKeys, unknownKeys } from "./compare.ts";
import { checkId } from "./document.ts";
import { loadKeyFile } from "./file.ts";
import { loadKeys } from "./service.ts";
import type { KeysCall } from "./table.ts";
import { applyChange, isLocal } from "./upload.ts";

/** `admin keys stage`: adds a new key, which is in no output. Run again before the upload, it adds no further key. */
export async function run(call: KeysCall, [wanted]: readonly string[]): Promise<void> {
  const file = await loadKeyFile(call.options.file);
  const keys = await loadKeys(await call.admin());
  requireSameKeys(file, keys);
  const [waiting] = unknownKeys(file, keys);
  if (waiting !== undefined)
    return applyChange(call, { file, done: `${file.path} has the new key ${waiting} already`, next: nextOf(waiting, file.path) });
  const used = new Set([
    ...keys.map(({ id }) => id),
    ...Object.keys(file.document.keys),
    ...Object.keys(file.document.verify ?? {}),
  ]);
  const id = wanted === undefined ? freeId(used) : checkId(wanted);
  if (used.has(id))
    throw new CliError(`The root key id ${id} was already used`, { exit: "conflict", hint: "Key ids cannot be reused." });
  const key = randomBytes(32).toString("base64");
  const document = { ...file.document, keys: { ...file.document.keys, [id]: key } };
  const done = `Added the key ${id} to ${file.path}. Keep a copy of the file offline`;
  return applyChange(call, { file, document, done, next: nextOf(id, file.path) });
}

/** `k2` and so on. */
function freeId(used: ReadonlySet<string>): string {
  let number = 1;
  while (used.has(`k${number}`)) number++;
  return `k${number}`;
}

/** A local service has one isolate, which reads the file when it starts. */
const nextOf = (id: string, path: string): string =>
  isLocal(path)
    ? `Then run \`item-vault admin keys activate ${id} --file ${path}\``
    : `When all isolates have it, after six minutes, run \`item-vault admin keys activate ${id}\``;
