import { createClient } from "@item-vault/client";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { ask, askSecret } from "../frame/prompt.ts";
import { hostOf, loadConfig } from "../frame/settings.ts";
import { changeConfig } from "./config-file.ts";
import type { LOGIN_OPTIONS } from "./table.ts";

/** `login`: stores a host and a token that the service accepts. */
export async function run({ io, options }: Call<typeof LOGIN_OPTIONS> & { options: { host?: string } }): Promise<void> {
  const known = hostOf(io.env, options.host, await loadConfig(io.env));
  const host = known ?? (await ask(io, "Host: ", { instead: "Add --host." }));
  const token = await askSecret(io, options.admin ? "Admin token: " : "Token: ");
  const client = createClient({ host, token });
  await (await client.send("GET", options.admin ? "/v1/admin/vaults" : "/v1/token")).body?.cancel();
  const path = await changeConfig(io.env, { host, [options.admin ? "admin_token" : "token"]: token });
  await write(io.stderr, `item-vault: stored in ${path}\n`);
}
