import { entriesOf } from "@item-vault/client";
import { adminVaultIdOf } from "../api/find.ts";
import { PAGE_ENTRIES_MAX } from "../api/lists.ts";
import type { Call } from "../frame/command.ts";
import { parseTime } from "../frame/duration.ts";
import { write } from "../frame/io.ts";
import { parseMode, writeWholeFile } from "../frame/output-file.ts";
import { plural } from "../frame/printable.ts";
import { jsonOf, tell } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";
import type { ACTIVITY_EXPORT_OPTIONS } from "./table.ts";

/** `activity export`: one entry a line, as the service gives it (contract 23.2). */
export async function run({ io, options, admin }: Call<typeof ACTIVITY_EXPORT_OPTIONS>): Promise<void> {
  const [since, until] = (["since", "until"] as const).map((name) => options[name] && parseTime(`--${name}`, options[name]));
  const mode = parseMode(options["file-mode"]);
  const connected = await admin();
  const vault = options.vault === undefined ? undefined : await adminVaultIdOf(connected, options.vault);
  const file = options["out-file"];
  const progress = startProgress(io, "", undefined, (done) => plural(done, "entry", "entries"));
  let count = 0;
  async function* lines(): AsyncGenerator<Uint8Array> {
    const query = { limit: PAGE_ENTRIES_MAX, since, until, vault };
    for await (const entry of entriesOf(connected, "GET /v1/admin/activity/export", { query })) {
      count++;
      if (file !== undefined) progress.add(1);
      yield new TextEncoder().encode(`${jsonOf(entry)}\n`);
    }
  }
  try {
    if (file === undefined) for await (const line of lines()) await write(io.stdout, line);
    else await writeWholeFile(file, lines(), { mode, force: options.force ?? false });
  } finally {
    progress.end();
  }
  if (file !== undefined) await tell(io, plural(count, "entry", "entries"));
}
