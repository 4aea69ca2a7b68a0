import { open } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import { findFile, findItem } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { CliError } from "../frame/failure.ts";
import type { Io } from "../frame/io.ts";
import { unreadable } from "../frame/paths.ts";
import { filesTable } from "../items/present.ts";
import { show } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";
import { type Bytes, measured, upload } from "./content.ts";
import type { FILE_PUT_OPTIONS } from "./table.ts";

/** `file put`: uploads a file or stdin as it is read. */
export async function run({ io, args, options, client: connect }: Call<typeof FILE_PUT_OPTIONS>): Promise<void> {
  const [itemName, path] = args as [string, string];
  const name = options.name ?? (path === "-" ? undefined : basename(path));
  if (name === undefined && options.replace === undefined)
    throw new CliError("A file from stdin needs a name", { exit: "usage", hint: "Give --name." });
  const input = await openInput(io, path);
  try {
    const client = await connect();
    const item = await findItem(client, itemName, options.vault);
    const replace = options.replace === undefined ? undefined : (await findFile(client, item, options.replace)).id;
    const { section } = options;
    const progress = startProgress(io, name ?? "", input.size);
    const { bytes } = measured(input.bytes, input.size, progress);
    const uploaded = upload(client, item, bytes, { name: name ?? "", section, size: input.size, ...(replace && { replace }) });
    const file = await uploaded.finally(() => progress.end());
    await show(io, options.format, { json: file, table: (columns) => filesTable([file], columns) });
  } finally {
    input.close();
  }
}

interface Input {
  readonly bytes: Bytes;
  /** In bytes; `undefined` for stdin. */
  readonly size: number | undefined;
  /** Ends reading: an open stdin would keep the process alive after a failure. */
  readonly close: () => void;
}

const inputOf = (stream: Readable, size?: number): Input => ({
  bytes: Readable.toWeb(stream) as Bytes,
  size,
  close: () => void stream.destroy(),
});

/** Opens the upload. Throws a CliError for an unreadable file. */
async function openInput({ stdin }: Io, path: string): Promise<Input> {
  if (path === "-") return inputOf(stdin);
  const file = await open(path, "r").catch(unreadable(path));
  const { size, isFile } = await file.stat().then((found) => ({ size: found.size, isFile: found.isFile() }));
  if (!isFile) {
    await file.close();
    throw new CliError(`${path} is not a file`, { exit: "usage", hint: "Use `-` for a pipe." });
  }
  return inputOf(file.createReadStream(), size);
}
