import { type AssociatedData, NOWHERE } from "../../crypto/seal.ts";
import { TOKEN_KINDS } from "../../model/token-kind.ts";
import { type Table, textOf } from "./table.ts";

/** The tables outside vaults. */

/** Replaces the vault of a text, because the deployment owns the row. */
const outside =
  <Row>(text: (vault: string, row: Row) => AssociatedData) =>
  (_: string, row: Row): AssociatedData =>
    text(NOWHERE, row);

const textOfToken = outside(textOf("token", "id", 1));

const uuid = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** The id is the SHA-256 of the secret, which has the length of two UUIDs. */
const textOfSecret =
  (kind: AssociatedData["kind"]) =>
  (_: string, { id }: { readonly id: string }): AssociatedData => ({
    kind,
    vault: uuid(id.slice(0, 32)),
    record: uuid(id.slice(32)),
    version: 1,
  });

export const DEPLOYMENT_TABLES = {
  root_keys: {
    key: ["id"],
    columns: { id: "root key", proof: "sealed", fingerprint: "text" },
    associatedData: { proof: (): AssociatedData => ({ kind: "proof", vault: NOWHERE, record: NOWHERE, version: 1 }) },
    backup: { in: ["registry"] },
    purge: { never: "a row proves that the root key of its id is the right one" },
  },
  root_key_uses: {
    key: ["id"],
    columns: { id: "root key", vaults: "number", tokens: "number", ended_tokens: "number" },
    backup: { not: "triggers count again what a restore writes" },
    purge: { never: "a root key has one row" },
  },
  deployment: {
    key: ["id"],
    columns: { id: "id" },
    backup: { not: "each manifest has it" },
    purge: { never: "it is one row" },
  },
  counters: {
    key: ["name"],
    columns: { name: "text", value: "number" },
    backup: { not: "they tell of this database only" },
    purge: { never: "it has a row for each name" },
  },
  job_writes: {
    key: ["id", "created_at"],
    columns: { id: "id", created_at: "time", writes: "number" },
    backup: { not: "it tells how far a job has written this database" },
    purge: { after: "60 days" },
  },
  tokens: {
    key: ["id"],
    columns: {
      id: "id",
      root_key_id: "root key",
      sealed: "sealed",
      created_at: "time",
      expires_at: "time",
      claims: "text",
      signed_by: "root key",
      kind: "text?",
      name_index: "index?",
      ancestor_1: "id?",
      ancestor_2: "id?",
      ancestor_3: "id?",
    },
    words: { kind: TOKEN_KINDS },
    associatedData: { sealed: textOfToken },
    derived: { name_index: "sealed" },
    // Columns that authenticate a token are left out. The token comes back as the name of an ended token.
    backup: { in: ["registry"], without: ["claims", "kind", "name_index", "ancestor_1", "ancestor_2", "ancestor_3"] },
    purge: { after: "it expires: then it is in ended_tokens" },
    countedByRootKey: true,
  },
  ended_tokens: {
    key: ["id"],
    columns: {
      id: "id",
      root_key_id: "root key",
      sealed: "sealed",
      created_at: "time",
      expires_at: "time",
      ended_at: "time",
      signed_by: "root key",
    },
    associatedData: { sealed: textOfToken },
    backup: { in: ["registry"] },
    purge: { never: "Items and the log may still name them" },
    countedByRootKey: true,
  },
  sessions: {
    key: ["id"],
    columns: {
      id: "text",
      token_id: "id?",
      expires_at: "time",
      root_key_id: "root key",
      sealed: "sealed",
    },
    // A one-time code has its own kind: `signInCode`, `authorizationCode` or `loginCode`.
    associatedData: { sealed: textOfSecret("session") },
    backup: { not: "no backup signs anybody in" },
    purge: { after: "it expires" },
  },
  exchanges: {
    key: ["id"],
    columns: {
      id: "id",
      issuer_id: "id",
      at: "time",
      exchanges: "number",
      token_id: "id?",
      root_key_id: "root key",
      sealed: "sealed",
    },
    associatedData: { sealed: outside(textOf("exchange", "id", 1)) },
    backup: { not: "no backup says which tokens of others were used" },
    purge: { after: "a day: then the token that was presented has expired" },
  },
  past_writes: {
    key: ["action"],
    columns: { action: "text", writes: "number" },
    backup: { in: ["registry"] },
    purge: { never: "a count of /metrics never goes back" },
  },
} as const satisfies Readonly<Record<string, Table>>;
