import * as z from "zod";
import { fingerprint } from "../crypto/seal.ts";
import { parseId, uuidOf } from "../model/ids.ts";
import { LIMITS } from "../model/limits.ts";
import { ADMIN, type Change } from "../model/operation.ts";
import { fail, invalid, ok, type Result } from "../model/result.ts";
import { explain, optional, text } from "../model/text.ts";
import { readAllVaults } from "../store/vaults.ts";
import { enterAdmin, enterAdminToSeal } from "./admin.ts";
import { readBody } from "./body.ts";
import { presentVault } from "./present.ts";
import type { Call, Handler } from "./route.ts";
import { readIdempotency, send } from "./write.ts";

/** /v1/admin/vaults: vaults are made, renamed and destroyed here. */

const name = text(LIMITS.title).min(1, "is empty");
const newVault = z.object({ name, description: optional(text()) });
const vaultChange = z.object({ name: optional(name), description: optional(text()) });

export const listAllVaults: Handler = async (c) => {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const vaults = await readAllVaults(store.value);
  return vaults.ok ? ok(c.json(vaults.value.map((vault) => presentVault(vault, "uuid")))) : vaults;
};

export const createVault: Handler = async (c) => {
  const store = await enterAdminToSeal(c);
  if (!store.ok) return store;
  const body = await readBody(c.req.raw);
  if (!body.ok) return body;
  const input = newVault.safeParse(body.value.json);
  if (!input.success) return invalid(explain(input.error, "the vault"));
  const vault = await newVaultId(c);
  return write(
    c,
    vault,
    { kind: "create-vault", name: input.data.name, description: input.data.description ?? "" },
    body.value.bytes,
  );
};

export const updateVault: Handler = async (c) => {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const vault = parseId(c.req.param("vault")!);
  if (vault === undefined) return fail("vault_id");
  const body = await readBody(c.req.raw);
  if (!body.ok) return body;
  const input = vaultChange.safeParse(body.value.json);
  if (!input.success) return invalid(explain(input.error, "the vault"));
  return write(c, vault, { kind: "update-vault", ...input.data }, body.value.bytes);
};

export const deleteVault: Handler = async (c) => {
  const store = await enterAdmin(c);
  if (!store.ok) return store;
  const vault = parseId(c.req.param("vault")!);
  return vault === undefined ? fail("vault_id") : write(c, vault, { kind: "delete-vault" });
};

async function write(c: Call, vault: string, change: Change, body?: Uint8Array): Promise<Result<Response>> {
  const idempotency = await readIdempotency(c, ADMIN, [vault], body);
  if (!idempotency.ok) return idempotency;
  const answer = await send(c, { vault, actor: ADMIN, size: body?.length ?? 0, idempotency: idempotency.value, change });
  if (!answer.ok) return answer;
  return ok(answer.value.vault ? c.json(presentVault(answer.value.vault, "uuid")) : c.body(null, 204));
}

/** A repeated POST has to meet the coordinator of the first one, so its Idempotency-Key decides the id. */
async function newVaultId(c: Call): Promise<string> {
  const key = c.req.header("Idempotency-Key");
  return key === undefined ? crypto.randomUUID() : uuidOf(Uint8Array.fromBase64(await fingerprint(ADMIN, "new vault", key)));
}
