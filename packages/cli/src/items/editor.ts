import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { writableOf } from "@item-vault/transfer/writable";
import type { Item } from "../api/shapes.ts";
import { CliError, failureOf } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { ask, canAsk } from "../frame/prompt.ts";
import { ENDING_SIGNALS } from "../frame/signals.ts";
import { tell } from "../output/format.ts";
import { parseItem, type WrittenItem } from "./input.ts";
import { readInput, textOf } from "./sources.ts";

/** `item edit` in the user's editor. */

/**
 * Opens the editable part of an Item as JSON, in a file of mode 0600 in a folder of mode 0700, and passes the edited Item to `save`. Returns
 * the saved Item, or undefined without a change. The folder is removed, also after a signal. If the edit cannot be saved, the folder stays
 * and the error names it.
 */
export async function editInteractively(
  io: Io,
  item: Item,
  save: (edited: WrittenItem) => Promise<Item>,
): Promise<Item | undefined> {
  let folder: string | undefined;
  // Before there is a folder, because a signal without a listener ends the process at once.
  const removing = removeAtSignal(() => folder);
  try {
    folder = mkdtempSync(join(tmpdir(), "item-vault-")); // of mode 0700
    const file = join(folder, "item.json");
    const before = writableOf(item);
    await writeFile(file, `${JSON.stringify(before, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
    for (;;) {
      await openEditor(io, file, removing);
      const bytes = await readInput(file);
      try {
        const text = textOf(bytes, "The edited text");
        if (text.trim() === "") return undefined;
        const edited = parseItem(text, "The edited text");
        return isDeepStrictEqual(edited, before) ? undefined : await save(edited);
      } catch (error) {
        const failure = failureOf(error);
        if (!failure) throw error;
        if (failure.exit !== "usage" || !canAsk(io)) throw removing.kept(failure, file);
        await tell(io, failure.message);
        if (/^n/i.test((await ask(io, "Edit again? [Y/n] ")).trim())) throw removing.kept(failure, file);
      }
    }
  } finally {
    removing.end();
  }
}

interface Removing {
  /** The editor that runs now. A Ctrl-C is for it alone; other signals end it first. */
  editor?: ReturnType<typeof spawn> | undefined;
  /** Keeps the folder. Returns the failure with a hint. */
  kept(failure: CliError, file: string): CliError;
  end(): void;
}

/** `folderOf`: the folder, as soon as there is one. */
function removeAtSignal(folderOf: () => string | undefined): Removing {
  let keep = false;
  const remove = () => {
    const folder = folderOf();
    if (!keep && folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  const listeners = Object.entries(ENDING_SIGNALS).map(([signal, number]) => {
    const listener = () => {
      if (signal === "SIGINT" && removing.editor) return;
      removing.editor?.kill("SIGTERM");
      remove();
      process.exit(128 + number);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  const removing: Removing = {
    kept({ message, exit }, file) {
      keep = true;
      const why = exit === "conflict" ? "The item was changed while you edited it" : message;
      return new CliError(why, {
        exit,
        hint: `Your text, with its secrets, is kept in ${file}. Compare it with \`item get --format json\`, then run \`item edit <item> ${file}\`, and delete the file.`,
      });
    },
    end() {
      for (const off of listeners) off();
      remove();
    },
  };
  return removing;
}

/** Runs the editor as git does: the variable may have arguments. Throws if it fails; the Item is not changed. */
async function openEditor({ env }: Io, file: string, removing: Removing): Promise<void> {
  const editor = env["VISUAL"] || env["EDITOR"] || "vi";
  // With exec, a signal reaches the editor, and not a shell before it. A command with shell syntax may not work with exec.
  const exec = /^[\w./ -]+$/.test(editor) ? "exec " : "";
  const child = spawn("sh", ["-c", `${exec}${editor} "$@"`, editor, file], { stdio: "inherit" });
  removing.editor = child;
  const code = await new Promise<number | null>((end, reject) => {
    child.on("error", reject);
    child.on("close", end);
  });
  removing.editor = undefined;
  if (code !== 0) throw new CliError("The editor failed: nothing was changed", { hint: "Set VISUAL or EDITOR." });
}
