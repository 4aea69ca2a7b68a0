import { newVault, quotaInput, vaultChange, vaultKeyRenewal } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, integer, ref } from "./shapes.ts";

/** Vaults in answers and requests (contract 2.5, 13.12, 13.13, 13.18, 13.23). */

const broken: Schema = {
  type: "string",
  enum: ["integrity", "misconfigured"],
  description: "Why the stored record cannot be decrypted (contract 13.18).",
};

/** A damaged column may hold any text. */
const stored: Schema = { type: "string", description: "The id, as the row has it." };

const common: Readonly<Record<string, Schema>> = {
  attributeVersion: integer("+1 for each change of name, description, quota or key.", 1),
  contentVersion: integer("+1 for each write to an Item.", 0),
  items: integer("How many Items the vault holds.", 0),
  type: { type: "string", const: "USER_CREATED" },
  createdAt: ref("Time"),
  updatedAt: ref("Time"),
};
const named: Readonly<Record<string, Schema>> = { name: { type: "string" }, description: { type: "string" } };
const counted: Readonly<Record<string, Schema>> = {
  quota: ref("Quota"),
  usage: ref("Usage"),
  dataKey: ref("DataKey"),
  earlierKeys: integer("How many earlier data keys its records may be under (contract 20.22).", 0),
  webhooks: integer("How many webhooks it has. Only in the list, and absent without one (contract 13.12).", 1),
};
const optional = ["webhooks"];

export const vaultSchemas: Readonly<Record<string, Schema>> = {
  Vault: closed("A vault (contract 2.5).", { id: ref("Id"), ...named, ...common }),
  AdminVault: closed(
    "A vault for the admin, with its quotas, what it uses of them (contract 13.23), and its data keys (contract 20.20).",
    { id: ref("Uuid"), ...named, ...common, ...counted },
    optional,
  ),
  BrokenVault: closed(
    "A vault whose stored record cannot be decrypted. It can only be deleted (contract 13.18).",
    {
      id: stored,
      ...common,
      attributeVersion: integer("As the row has it.", 0),
      ...counted,
      dataKey: closed("The data key that seals the vault.", { id: stored, createdAt: ref("Time") }),
      broken,
    },
    optional,
  ),
  DataKey: closed("The data key that seals the vault (contract 20.20).", { id: ref("Uuid"), createdAt: ref("Time") }),
  Quota: closed("What a vault may hold (contract 12.6).", {
    items: integer("Items, deleted ones included.", 0),
    bytes: integer("Bytes of the encrypted form of Items and of the rows of Files.", 0),
    fileBytes: integer("Bytes of contents.", 0),
  }),
  Usage: closed("What a vault uses of its quotas.", {
    items: integer("Items, deleted ones included.", 0),
    bytes: integer("Bytes of the encrypted form of Items and of the rows of Files.", 0),
    fileBytes: integer("Bytes of contents.", 0),
  }),
  QuotaInput: body("The quotas that change (contract 13.23).", quotaInput, {
    items: "Items. `null` makes it the default again.",
    bytes: "Bytes of the encrypted form of Items and of the rows of Files. `null` makes it the default again.",
    fileBytes: "Bytes of contents. `null` makes it the default again.",
  }),
  NewVault: body("A vault to create (contract 13.12).", newVault, {
    name: "The name.",
    description: "A description.",
    quota: "What it may hold; absent: the defaults.",
  }),
  VaultKeyRenewal: body("A new data key for a vault (contract 20.21).", vaultKeyRenewal, {
    replaces: "The id of the data key that the vault has.",
  }),
  VaultChange: body("What changes of a vault (contract 13.13). What is absent stays.", vaultChange, {
    name: "The name.",
    description: "A description.",
    quota: "The quotas that change.",
  }),
};
