import type { Call } from "../frame/command.ts";
import { write } from "../frame/io.ts";
import type { READ_OPTIONS } from "./table.ts";

/** `read`: prints the value of one reference. */
export async function run({ io, args, options, client }: Call<typeof READ_OPTIONS>): Promise<void> {
  const value = await (await client()).get(args[0]!);
  await write(io.stdout, options["no-newline"] ? value : `${value}\n`);
}
