import { env } from "cloudflare:workers";
import { hashToken } from "../../src/crypto/token.ts";
import { operationId } from "../../src/model/ids.ts";
import { type Answer, type Change, OPERATION_FORMAT, SERVICE, WITHOUT_TOKEN } from "../../src/model/operation.ts";
import type { Result } from "../../src/model/result.ts";
import { client, makeToken, makeVault } from "./service.ts";

/** A vault whose coordinator receives changes without an endpoint: several at a time are written as one group. */
export async function freshWriter() {
  const vault = await makeVault();
  const { id: actor, token } = await makeToken({ [vault]: "rw" });
  const items = `/v1/vaults/${vault}/items`;
  const tokenHash = await hashToken(token);
  const apply = (change: Change): Promise<Result<Answer>> => {
    const by = change.kind === "expire-item" ? SERVICE : actor;
    const id = operationId(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
    const origin = { userAgent: "", requestIp: "" };
    const operation = {
      format: OPERATION_FORMAT,
      id,
      vault,
      actor: by,
      token: WITHOUT_TOKEN.has(by) ? undefined : { id: by, hash: tokenHash },
      size: 0,
      origin,
      change,
    };
    return env.COORDINATOR.getByName(vault).write(operation);
  };
  return { vault, items, actor, token, tokenHash, call: client(token), apply };
}

export const kindOf = (answer: Result<Answer>): string | undefined => (answer.ok ? undefined : answer.failure.kind);

/** The bindings of a service that keeps so much. */
export const keeping = (versions: number, days: number): Partial<Env> => ({
  VERSIONS_KEPT: versions,
  DELETED_RETENTION_DAYS: days,
});

/** Makes a vault and its deletions older by days: no deletion that is before its vault's creation expires. */
export const ageVault = (vault: string, days: number): Promise<unknown> =>
  env.DB.batch(
    [
      "UPDATE vaults SET created_at = created_at - ?2 WHERE id = ?1",
      "UPDATE deleted_items SET deleted_at = deleted_at - ?2 WHERE vault_id = ?1",
    ].map((sql) => env.DB.prepare(sql).bind(vault, days * 86_400_000)),
  );

/** The rows that D1 holds of an Item. */
export async function rowsOf(vault: string, item: string) {
  const all = async (sql: string) => (await env.DB.prepare(sql).bind(vault, item).all<any>()).results;
  return {
    versions: (await all("SELECT version FROM item_versions WHERE vault_id = ? AND item_id = ? ORDER BY version")).map(
      ({ version }) => version as number,
    ),
    files: await all("SELECT id, generation, since FROM files WHERE vault_id = ? AND item_id = ? ORDER BY id"),
    ended: await all(
      "SELECT id, generation, since, until FROM file_versions WHERE vault_id = ? AND item_id = ? ORDER BY until, id",
    ),
    deleted: (await all("SELECT version, deleted_by FROM deleted_items WHERE vault_id = ? AND id = ?"))[0],
  };
}

/** The counts in the row of a vault. */
export const countsOf = async (vault: string) =>
  (await env.DB.prepare(
    "SELECT items, created, deleted, restored, destroyed, files, file_bytes, versions_kept FROM vaults WHERE id = ?",
  )
    .bind(vault)
    .first<Record<string, number>>())!;

export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.failure.kind);
  return result.value;
}
