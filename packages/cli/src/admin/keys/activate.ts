import { CliError } from "../../frame/failure.ts";
import { keyNamed, requireSameKeys } from "./compare.ts";
import { loadKeyFile } from "./file.ts";
import { loadKeys } from "./service.ts";
import type { KeysCall } from "./table.ts";
import { applyChange, howToUpload } from "./upload.ts";

/**
 * `admin keys activate`. The service must already know the key, by an earlier upload: isolates with the old value would refuse texts and
 * tokens of the key.
 */
export async function run(call: KeysCall, [id = ""]: readonly string[]): Promise<void> {
  const file = await loadKeyFile(call.options.file);
  const keys = await loadKeys(await call.admin());
  const hint = `${howToUpload(file.path)}.`;
  if (!keys.some((key) => key.id === id) && Object.hasOwn(file.document.keys, id))
    throw new CliError(`The service does not have the key ${id} yet`, { exit: "conflict", hint });
  const { state } = keyNamed(keys, id);
  requireSameKeys(file, keys);
  if (state === "missing" || state === "removed") throw new CliError(`The key ${id} is ${state}`, { exit: "conflict" });
  const next = "Then run `item-vault admin keys rewrap`";
  if (file.document.active === id)
    return applyChange(call, { file, done: `${id} is the active key of ${file.path} already`, next });
  const document = { ...file.document, active: id };
  return applyChange(call, { file, document, done: `Made ${id} the active key of ${file.path}`, next });
}
