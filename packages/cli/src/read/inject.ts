import { readFile } from "node:fs/promises";
import { withFallback } from "../fallback/resolve.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import { readAll, write } from "../frame/io.ts";
import { parseMode, writeWholeFile } from "../frame/output-file.ts";
import { unreadable } from "../frame/paths.ts";
import { resolveAll } from "./resolve.ts";
import type { INJECT_OPTIONS } from "./table.ts";
import { parseTemplate, referencesOf, renderTemplate } from "./template.ts";

/** `inject`: writes a template with the values of its references. Nothing is written unless all of them have a value. */
export async function run(call: Call<typeof INJECT_OPTIONS>): Promise<void> {
  const { io, options, client } = call;
  const mode = parseMode(options["file-mode"]);
  const template = await readTemplate(io, options["in-file"]);
  const parts = parseTemplate(template, io.env);
  const references = referencesOf(parts);
  const values = await withFallback(call, references, async () => resolveAll(await client(), references));
  const text = renderTemplate(parts, values);
  const path = options["out-file"];
  if (path === undefined) await write(io.stdout, text);
  else await writeWholeFile(path, text, { mode, force: options.force ?? false });
}

async function readTemplate({ stdin }: Call["io"], path: string | undefined): Promise<string> {
  const name = path ?? "stdin";
  const bytes = await (path === undefined ? readAll(stdin) : readFile(path)).catch(unreadable(name));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CliError(`The template ${name} is not UTF-8 text`, { exit: "usage", hint: "Save it as UTF-8." });
  }
}
