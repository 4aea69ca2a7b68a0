import { namesIn, vaultsOfToken } from "../api/names.ts";
import { scopesOf } from "../api/shapes.ts";
import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import { printable } from "../frame/printable.ts";
import { jsonOf } from "../output/format.ts";

/** `whoami`: shows the token that the service has accepted. */
export async function run({ io, access, client }: Call): Promise<void> {
  const connected = await client();
  const { data: token } = await connected.call("GET /v1/token");
  const nameOf = namesIn(await vaultsOfToken(connected));
  const lines = [
    ["host", (await access()).host],
    ["token", token.id],
    ["name", jsonOf(token.name)],
    ["expires", token.expiresAt],
    ...scopesOf(token, nameOf).map((scope) => ["vault", scope]),
  ];
  await write(io.stdout, lines.map(([name, value]) => `${name!.padEnd(8)}${printable(value!)}\n`).join(""));
}
