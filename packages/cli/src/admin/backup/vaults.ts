import type { Answer, BackedUpVaults, Client } from "@item-vault/client";
import type { Io } from "../../frame/io.ts";
import { show, tell } from "../../output/format.ts";
import { tableOf } from "../../output/table.ts";

/** `admin backup --vaults`: what the bucket of backups can restore (contract 21.15). */

/** Writes the vaults as a list, and on stderr the snapshots that do not open. */
export async function showBackedUpVaults(io: Io, client: Client, format: string | undefined): Promise<void> {
  const vaults: BackedUpVaults["vaults"] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const { data: page }: Answer<"GET /v1/admin/backups/vaults"> = await client.call("GET /v1/admin/backups/vaults", {
      query: { after },
    });
    vaults.push(...page.vaults);
    after = page.next;
  }
  const rows = vaults.map(({ id, name = "", snapshot = "", createdAt = "", items = "" }) => [
    id,
    name,
    String(snapshot),
    createdAt,
    String(items),
  ]);
  const table = (columns: number | undefined) => tableOf(["ID", "NAME", "SNAPSHOT", "CREATED", "ITEMS"], rows, columns);
  await show(io, format, { json: vaults, table });
  for (const { id, snapshot, skipped } of vaults) {
    for (const { snapshot: number, reason } of skipped)
      await tell(io, `${id}: snapshot ${number} cannot be decrypted: ${reason}`);
    if (snapshot === undefined && skipped.length === 0) await tell(io, `${id}: no snapshot is finished`);
  }
}
