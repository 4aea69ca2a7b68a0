import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { changeConfig } from "./config-file.ts";

/** `logout`: forgets the tokens. They stay valid until they are revoked. */
export async function run({ io }: Call): Promise<void> {
  const path = await changeConfig(io.env, { token: undefined, admin_token: undefined });
  await write(io.stderr, `item-vault: removed the tokens from ${path}; \`item-vault token revoke\` ends a token\n`);
}
