import { openKeyring } from "../../src/crypto/keyring.ts";
import type { Claims } from "../../src/crypto/token.ts";
import type { Permission } from "../../src/model/permission.ts";
import { sealToken } from "../../src/store/tokens/token-rows.ts";

/** When they were added, in Unix seconds: before everybody else. */
const ADDED_AT = 1;

/** Writes the rows of people whom nobody signs in as: their hashes and the indexes of their emails are not real. */
export async function seedPeople(
  env: Pick<Env, "DB" | "ROOT_KEYS">,
  count: number,
  vaults: Record<string, Permission>,
): Promise<void> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("no keyring");
  const { active } = keyring.value;
  const rows = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const name = `${"p".repeat(236)}${index + 100_000}@example.com`;
      const claims: Claims = {
        id: crypto.randomUUID(),
        name,
        dialect: "uuid",
        vaults,
        issuedAt: ADDED_AT,
        expiresAt: 0,
        kind: "person",
      };
      return { id: claims.id, sealed: await sealToken(active, claims), nameIndex: `seeded ${index}` };
    }),
  );
  for (let from = 0; from < rows.length; from += 100) {
    await env.DB.prepare(
      `INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by, kind, name_index)
       SELECT value ->> 'id', ?2, value ->> 'sealed', ${ADDED_AT * 1000}, 253402300799000, value ->> 'id', ?2, 'person', value ->> 'nameIndex' FROM json_each(?1)`,
    )
      .bind(JSON.stringify(rows.slice(from, from + 100)), active.id)
      .run();
  }
}
