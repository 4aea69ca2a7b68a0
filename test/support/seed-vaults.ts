import { env } from "cloudflare:workers";
import { type Claims, hashToken, signToken } from "../../src/crypto/token.ts";
import { addVaultKey } from "../../src/crypto/vault-keys.ts";
import type { NamedVault } from "../../src/model/vault.ts";
import { sealToken } from "../../src/store/tokens/token-rows.ts";
import { sealVault, vaultRow } from "../../src/store/vaults/rows.ts";
import { keyringOf } from "./root-keys.ts";

/** Inserts empty vaults, each with a token that reads and writes it, under k1, without requests: those would take minutes. */

export interface Seeded {
  readonly vault: string;
  readonly id: string;
  readonly token: string;
}

const QUOTA = { items: null, bytes: null, fileBytes: null };
const EMPTY = {
  items: 0,
  created: 0,
  deleted: 0,
  restored: 0,
  destroyed: 0,
  files: 0,
  fileBytes: 0,
  sealedBytes: 0,
  quota: QUOTA,
};

/** A parameter of D1 has at most 2 MB. */
const STEP = 500;

const insert = (table: string, row: object): string => {
  const names = Object.keys(row);
  return `INSERT INTO ${table} (${names.join()}) SELECT ${names.map((name) => `value ->> '${name}'`).join()} FROM json_each(?1)`;
};

export async function seedVaults(count: number): Promise<Seeded[]> {
  const keyring = await keyringOf(env);
  const now = Math.floor(Date.now() / 1000) * 1000;
  const one = async () => {
    const id = crypto.randomUUID();
    const dataKeyId = crypto.randomUUID();
    const { keys, wrapped } = await addVaultKey(keyring, id, dataKeyId);
    const vault: NamedVault = {
      ...EMPTY,
      id,
      dataKeyId,
      keyNumber: 1,
      earlierKeys: 0,
      name: "seeded",
      description: "",
      attributeVersion: 1,
      contentVersion: 0,
      createdAt: now,
      updatedAt: now,
    };
    const times = { issuedAt: now / 1000, expiresAt: now / 1000 + 86_400 };
    const claims: Claims = { id: crypto.randomUUID(), name: "seeded", dialect: "uuid", vaults: { [vault.id]: "rw" }, ...times };
    const token = await signToken(keyring, claims);
    const sealed = await sealToken(keyring.active, claims);
    const row = {
      id: claims.id,
      root_key_id: "k1",
      sealed,
      created_at: now,
      expires_at: now + 86_400_000,
      claims: await hashToken(token),
      signed_by: "k1",
    };
    return {
      made: { vault: vault.id, id: claims.id, token },
      vault: vaultRow(vault, await sealVault(keys, vault), wrapped),
      row,
    };
  };
  const seeded: Seeded[] = [];
  while (seeded.length < count) {
    const all = await Promise.all(Array.from({ length: Math.min(STEP, count - seeded.length) }, one));
    const batches = [
      [insert("vaults", all[0]!.vault), all.map(({ vault }) => vault)],
      [insert("tokens", all[0]!.row), all.map(({ row }) => row)],
    ] as const;
    await env.DB.batch(batches.map(([sql, rows]) => env.DB.prepare(sql).bind(JSON.stringify(rows))));
    seeded.push(...all.map(({ made }) => made));
  }
  return seeded;
}
