import * as z from "zod";
import { LIMITS } from "../../model/limits.ts";
import type { Change } from "../../model/operation.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { explain, optional, text } from "../../model/text.ts";
import { loadAllVaults } from "../../store/vaults.ts";
import { sendChange } from "../coordinator.ts";
import { newId } from "../new-id.ts";
import { presentListedVault, presentVault } from "../present.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** /v1/admin/vaults: lists, creates, renames and deletes vaults. */

const name = text(LIMITS.title).min(1, "is empty");
const newVault = z.object({ name, description: optional(text()) });
const vaultChange = z.object({ name: optional(name), description: optional(text()) });

export async function listAllVaults({ c, store }: Call): Promise<Result<Reply>> {
  const vaults = await loadAllVaults(store);
  return vaults.ok ? ok({ response: c.json(vaults.value.map(presentListedVault)) }) : vaults;
}

export const createVault = {
  parse({ body }: ParseCall): Result<Change> {
    const input = newVault.safeParse(body!.json);
    if (!input.success) return invalid(explain(input.error, "the vault"));
    return ok({ kind: "create-vault", name: input.data.name, description: input.data.description ?? "" });
  },
  // A repeated POST has to reach the coordinator of the first one, so the id is derived from its Idempotency-Key.
  handle: async (call: Call, change: Change) => writeVault(call, await newId(call, "new vault"), change),
};

export const updateVault = {
  parse({ body }: ParseCall): Result<Change> {
    const input = vaultChange.safeParse(body!.json);
    return input.success ? ok({ kind: "update-vault", ...input.data }) : invalid(explain(input.error, "the vault"));
  },
  handle: (call: Call, change: Change) => writeVault(call, call.vault, change),
};

export const deleteVault = {
  parse: (): Result<Change> => ok({ kind: "delete-vault" }),
  handle: (call: Call, change: Change) => writeVault(call, call.vault, change),
};

async function writeVault(call: Call, id: string, change: Change): Promise<Result<Reply>> {
  const answer = await sendChange(call, id, change, { ids: [id], body: call.body?.bytes });
  if (!answer.ok) return answer;
  const { vault } = answer.value;
  return ok({ response: vault ? call.c.json(presentVault(vault, call.dialect)) : call.c.body(null, 204), made: id });
}
