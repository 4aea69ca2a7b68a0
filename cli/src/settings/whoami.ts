import { textOf } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { jsonOf } from "../output/format.ts";

/** `whoami`: shows the token that the service has accepted. */
export async function run({ io, access, client }: Call): Promise<void> {
  const { data: token } = await (await client()).call("GET /v1/token");
  const lines = [
    ["host", (await access()).host],
    ["token", token.id],
    ["name", jsonOf(token.name)],
    ["expires", token.expiresAt],
    ...Object.entries(token.vaults).map(([vault, scope]) => ["vault", `${vault} ${textOf(scope)}`]),
  ];
  await write(io.stdout, lines.map(([name, value]) => `${name!.padEnd(8)}${printable(value!)}\n`).join(""));
}
