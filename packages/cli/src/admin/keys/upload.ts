import { spawn } from "node:child_process";
import { basename } from "node:path";
import { CliError } from "../../frame/failure.ts";
import { tell } from "../../output/format.ts";
import { wranglerIn } from "../deploy/cloudflare.ts";
import { type KeyDocument, textOf } from "./document.ts";
import { type KeyFile, saveKeyFile } from "./file.ts";
import type { KeysCall } from "./table.ts";

/** A changed document that a command saves, and uploads or explains how to upload. */

export interface Change {
  readonly file: KeyFile;
  /** Absent: an earlier run has written it to the file. */
  readonly document?: KeyDocument | undefined;
  /** The change, as a sentence without a full stop. */
  readonly done: string;
  /** The next step after the service has the new keys. */
  readonly next: string;
}

/** wrangler reads these files for a service on this machine, and never for a deployed one. */
export const isLocal = (path: string): boolean => /^\.dev\.vars(\..+)?$/.test(basename(path));

/** Returns the way in which the service gets the ROOT_KEYS of a file, as part of a sentence. */
export const howToUpload = (path: string): string =>
  isLocal(path) ? `Restart the local service, which reads ${path}` : `Upload it with \`${uploadCommand(path)}\``;

/** Returns the command with the program that --upload starts: `npx wrangler` without a release could run another one. */
const uploadCommand = (path: string): string => [...wranglerIn(process.cwd()), "secret", "bulk", path].join(" ");

/** Throws a CliError if the file cannot be written or belongs to a local service, or if wrangler fails. */
export async function applyChange({ io, options }: KeysCall, { file, document, done, next }: Change): Promise<void> {
  const { path } = file;
  if (options.upload && isLocal(path))
    throw new CliError(`${path} has the keys of a local service, and --upload replaces those of the deployed one`, {
      exit: "usage",
      hint: "Leave out --upload, and restart the local service.",
    });
  if (options["dry-run"]) return tell(io, `Would do: ${done}. Nothing was changed`);
  if (document) await saveKeyFile(file, document);
  await tell(io, done);
  if (!options.upload) return tell(io, `${howToUpload(path)}. ${next}`);
  await putSecret(textOf(document ?? file.document), path);
  await tell(io, `The service has the new ROOT_KEYS. ${next}`);
}

/** Uploads ROOT_KEYS alone. wrangler reads the value from its input, so it is in no list of processes. */
async function putSecret(value: string, path: string): Promise<void> {
  const failed = (what: string) =>
    new CliError(`wrangler ${what}: ${path} is changed, and the service is not`, {
      hint: `Run \`${uploadCommand(path)}\` in the folder of the wrangler.toml.`,
    });
  // By path or by an exact release: the value must not reach another program called wrangler.
  const [program, ...first] = wranglerIn(process.cwd());
  const child = spawn(program!, [...first, "secret", "put", "ROOT_KEYS"], { stdio: ["pipe", process.stderr, process.stderr] });
  child.stdin.on("error", () => undefined); // it may end before it has read
  child.stdin.end(value);
  await new Promise<void>((resolve, reject) => {
    child.on("error", () => reject(failed("could not be started")));
    child.on("close", (code) => (code === 0 ? resolve() : reject(failed("failed"))));
  });
}
