import { fileIdOf, findItem } from "../api/find.ts";
import type { Call } from "../frame/command.ts";
import { filesTable } from "../items/present.ts";
import { show, tell } from "../output/format.ts";
import type { FILE_DELETE_OPTIONS, FILE_LIST_OPTIONS } from "./table.ts";

/** `file list`. */
export async function list({ io, args, options, client: connect }: Call<typeof FILE_LIST_OPTIONS>): Promise<void> {
  const client = await connect();
  const path = await findItem(client, args[0]!, options.vault);
  const { data: files } = await client.call("GET /v1/vaults/{vault}/items/{item}/files", { path });
  await show(io, options.format, { json: files, table: (columns) => filesTable(files, columns) });
}

/** `file delete`. */
export async function remove({ io, args, options, client: connect }: Call<typeof FILE_DELETE_OPTIONS>): Promise<void> {
  const client = await connect();
  const path = await findItem(client, args[0]!, options.vault);
  const id = await fileIdOf(client, path, args[1]!);
  await client.call("DELETE /v1/vaults/{vault}/items/{item}/files/{file}", { path: { ...path, file: id } });
  await tell(io, `Deleted the file ${id}`);
}
