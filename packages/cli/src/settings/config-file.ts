import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Io } from "../frame/io.ts";
import { writeWholeFile } from "../frame/output-file.ts";
import { type Config, configPath, loadConfig } from "../frame/settings.ts";

/** Removes the sources of a token. */
export const NO_TOKENS = {
  token: undefined,
  token_command: undefined,
  admin_token: undefined,
  admin_token_command: undefined,
} as const;

/** Replaces attributes of the config file; `undefined` removes an attribute. Returns its path. */
export async function changeConfig(
  env: Io["env"],
  changes: { readonly [Name in keyof Config]?: Config[Name] | undefined },
): Promise<string> {
  const path = configPath(env);
  const config = { ...(await loadConfig(env)), ...changes };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeWholeFile(path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, force: true });
  return path;
}
