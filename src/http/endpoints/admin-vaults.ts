import { newVault, vaultChange, vaultKeyRenewal } from "../../api/bodies.ts";
import type { Change } from "../../model/operation.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { loadAllVaults } from "../../store/vaults/vaults.ts";
import { sendChange } from "../coordinator.ts";
import { newId } from "../new-id.ts";
import { presentAdminVault, presentListedVault } from "../present/vaults.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/vaults: lists, creates, changes, renews and deletes vaults. */

export const listAllVaults = async ({ store }: Call): ReplyTo<"listAllVaults"> =>
  map(await loadAllVaults(store), (vaults) => ({ json: vaults.map(presentListedVault) }));

export const createVault = serveBy({
  parse({ body }: ParseCall): Result<Change> {
    const input = parseValue(newVault, body!.json, "the vault");
    return input.ok ? ok({ kind: "create-vault", ...input.value, description: input.value.description ?? "" }) : input;
  },
  // A repeated POST has to reach the coordinator of the first one, so the id is derived from its Idempotency-Key.
  handle: async (call: Call, change: Change) => writeVault(call, await newId(call, "new vault"), change),
});

export const updateVault = serveBy({
  parse: ({ body }: ParseCall): Result<Change> =>
    map(parseValue(vaultChange, body!.json, "the vault"), (input) => ({ kind: "update-vault", ...input })),
  handle: (call: Call, change: Change) => writeVault(call, call.vault, change),
});

export const renewVaultKey = serveBy({
  parse: ({ body }: ParseCall): Result<Change> =>
    map(parseValue(vaultKeyRenewal, body!.json, "the renewal"), (input) => ({ kind: "renew-key", ...input })),
  handle: (call: Call, change: Change) => writeVault(call, call.vault, change),
});

export const deleteVault = serveBy({
  parse: (): Result<Change> => ok({ kind: "delete-vault" }),
  handle: async (call: Call, change: Change): ReplyTo<"deleteVault"> =>
    map(await sendVaultChange(call, call.vault, change), () => ({ response: call.c.body(null, 204), made: call.vault })),
});

const sendVaultChange = (call: Call, id: string, change: Change) =>
  sendChange(call, id, change, { ids: [id], body: call.body?.bytes });

const writeVault = async (call: Call, id: string, change: Change): ReplyTo<"updateVault"> =>
  map(await sendVaultChange(call, id, change), (answer) => ({ json: presentAdminVault(answer.vault!), made: id }));
