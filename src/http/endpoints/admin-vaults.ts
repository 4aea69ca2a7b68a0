import * as z from "zod";
import { fingerprint } from "../../crypto/seal.ts";
import { uuidOf } from "../../model/ids.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN, type Change } from "../../model/operation.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { explain, optional, text } from "../../model/text.ts";
import { loadAllVaults } from "../../store/vaults.ts";
import { sendChange } from "../coordinator.ts";
import { presentAdminVault } from "../present.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** /v1/admin/vaults: lists, creates, changes and deletes vaults. */

const name = text(LIMITS.title).min(1, "is empty");
/** `null` stands for the default. */
const limit = z.int("is not an integer").min(0, "is less than 0").nullable().optional();
const quota = optional(z.object({ items: limit, bytes: limit, fileBytes: limit }, "is not an object"));
const newVault = z.object({ name, description: optional(text()), quota });
const vaultChange = z.object({ name: optional(name), description: optional(text()), quota });

export async function listAllVaults({ c, store, dialect }: Call): Promise<Result<Reply>> {
  const vaults = await loadAllVaults(store);
  return vaults.ok ? ok({ response: c.json(vaults.value.map((vault) => presentAdminVault(vault, dialect))) }) : vaults;
}

export const createVault = {
  parse({ body }: ParseCall): Result<Change> {
    const input = newVault.safeParse(body!.json);
    if (!input.success) return invalid(explain(input.error, "the vault"));
    return ok({ kind: "create-vault", ...input.data, description: input.data.description ?? "" });
  },
  handle: async (call: Call, change: Change) => writeVault(call, await newVaultId(call), change),
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
  return ok({ response: vault ? call.c.json(presentAdminVault(vault, call.dialect)) : call.c.body(null, 204) });
}

/** A repeated POST has to reach the coordinator of the first one, so the id is derived from its Idempotency-Key. */
async function newVaultId({ idempotencyKey: key }: Call): Promise<string> {
  return key === undefined ? crypto.randomUUID() : uuidOf(Uint8Array.fromBase64(await fingerprint(ADMIN, "new vault", key)));
}
