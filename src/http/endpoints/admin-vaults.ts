import { newVault, vaultChange, vaultKeyRenewal } from "../../api/bodies.ts";
import type { Change } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { loadAllVaults } from "../../store/vaults/vaults.ts";
import { sendChange } from "../coordinator.ts";
import { newId } from "../new-id.ts";
import { presentAdminVault, presentListedVault } from "../present/vaults.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/vaults: lists, creates, changes, renews and deletes vaults. */

export async function listAllVaults({ store }: Call): ReplyTo<"listAllVaults"> {
  const vaults = await loadAllVaults(store);
  return vaults.ok ? ok({ json: vaults.value.map(presentListedVault) }) : vaults;
}

export const createVault = serveBy({
  parse({ body }: ParseCall): Result<Change> {
    const input = parseValue(newVault, body!.json, "the vault");
    return input.ok ? ok({ kind: "create-vault", ...input.value, description: input.value.description ?? "" }) : input;
  },
  // A repeated POST has to reach the coordinator of the first one, so the id is derived from its Idempotency-Key.
  handle: async (call: Call, change: Change) => writeVault(call, await newId(call, "new vault"), change),
});

export const updateVault = serveBy({
  parse({ body }: ParseCall): Result<Change> {
    const input = parseValue(vaultChange, body!.json, "the vault");
    return input.ok ? ok({ kind: "update-vault", ...input.value }) : input;
  },
  handle: (call: Call, change: Change) => writeVault(call, call.vault, change),
});

export const renewVaultKey = serveBy({
  parse({ body }: ParseCall): Result<Change> {
    const input = parseValue(vaultKeyRenewal, body!.json, "the renewal");
    return input.ok ? ok({ kind: "renew-key", ...input.value }) : input;
  },
  handle: (call: Call, change: Change) => writeVault(call, call.vault, change),
});

export const deleteVault = serveBy({
  parse: (): Result<Change> => ok({ kind: "delete-vault" }),
  async handle(call: Call, change: Change): ReplyTo<"deleteVault"> {
    const answer = await sendVaultChange(call, call.vault, change);
    return answer.ok ? ok({ response: call.c.body(null, 204), made: call.vault }) : answer;
  },
});

const sendVaultChange = (call: Call, id: string, change: Change) =>
  sendChange(call, id, change, { ids: [id], body: call.body?.bytes });

async function writeVault(call: Call, id: string, change: Change): ReplyTo<"updateVault"> {
  const answer = await sendVaultChange(call, id, change);
  return answer.ok ? ok({ json: presentAdminVault(answer.value.vault!), made: id }) : answer;
}
