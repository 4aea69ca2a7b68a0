import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { ask, askSecret } from "../frame/prompt.ts";
import { checkScheme, timeoutOf } from "../frame/connection.ts";
import { connectTo } from "../frame/connect.ts";
import { hostOf, loadConfig } from "../frame/settings.ts";
import { changeConfig, NO_TOKENS } from "./config-file.ts";
import type { LOGIN_OPTIONS } from "./options.ts";

/** `login`: stores a host and a token that the service accepts, in place of a command that prints the token. */
export async function run({ io, options }: Call<typeof LOGIN_OPTIONS>): Promise<void> {
  const config = await loadConfig(io.env);
  const known = hostOf(io.env, options.host, config);
  const host = known ?? (await ask(io, "Host: ", { instead: "Add --host." }));
  checkScheme(io.env, host, options);
  const token = await askSecret(io, options.admin ? "Admin token: " : "Token: ");
  const client = connectTo({ host, token, timeout: timeoutOf(io.env, options) }, { admin: options.admin ?? false });
  await client.call(options.admin ? "GET /v1/admin/vaults" : "GET /v1/token");
  // The other token is for the host that was stored with it, and must not be sent to this one.
  const kept = config.host === host ? {} : NO_TOKENS;
  const stored = options.admin ? { admin_token: token, admin_token_command: undefined } : { token, token_command: undefined };
  const path = await changeConfig(io.env, { ...kept, host, ...stored });
  await write(io.stderr, `item-vault: stored in ${path}\n`);
}
