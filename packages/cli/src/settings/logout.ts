import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { configPath, loadConfig } from "../frame/settings.ts";
import { changeConfig } from "./config-file.ts";

/** `logout`: forgets the tokens. They stay valid until they are revoked. */
export async function run({ io }: Call): Promise<void> {
  const { token, admin_token: admin, token_command, admin_token_command } = await loadConfig(io.env);
  const commands = token_command || admin_token_command ? "; a command that prints a token stays" : "";
  if ((token ?? admin) === undefined) {
    await write(io.stderr, `item-vault: no token is stored in ${configPath(io.env)}${commands}\n`);
    return;
  }
  const path = await changeConfig(io.env, { token: undefined, admin_token: undefined });
  await write(io.stderr, `item-vault: removed the tokens from ${path}${commands}; \`item-vault token revoke\` ends a token\n`);
}
