import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";

/** `whoami`: shows the token that the service has accepted. */
export async function run({ io, access, client }: Call): Promise<void> {
  const { data: token } = await (await client()).call("GET /v1/token");
  const lines = [
    ["host", (await access()).host],
    ["token", token.id],
    ["name", JSON.stringify(token.name)],
    ["expires", token.expiresAt],
    ...Object.entries(token.vaults).map(([vault, permission]) => ["vault", `${vault} ${permission}`]),
  ];
  await write(io.stdout, lines.map(([name, value]) => `${name!.padEnd(8)}${value}\n`).join(""));
}
