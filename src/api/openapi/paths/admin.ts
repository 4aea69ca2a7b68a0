import { json, listOfEither, required } from "../content.ts";
import { adminVault, DATA_KEY, issuedToken, newToken, newVault, token } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Vaults and tokens (contract 13.12 to 13.23). Without the secret `ADMIN_TOKEN` the paths do not exist. */

const vaultDescriptions = {
  listAllVaults: {
    tag: "Admin: vaults",
    summary: "List all vaults",
    description: "The oldest first, also those whose record cannot be decrypted (contract 13.12, 13.18).",
    answers: { 200: { description: "The vaults.", content: listOfEither(["AdminVault", "BrokenVault"]) } },
  },
  createVault: {
    tag: "Admin: vaults",
    summary: "Create a vault",
    description: "The key of a repeated request is never free again (contract 13.12, 10.13).",
    body: required(json("NewVault", newVault)),
    coordinated: true,
    answers: { 200: { description: "The vault.", content: json("AdminVault", adminVault) } },
  },
  updateVault: {
    tag: "Admin: vaults",
    summary: "Change a vault",
    description: "Changes name, description and quotas (contract 13.13, 13.23).",
    body: required(json("VaultChange", { name: "Staging" })),
    coordinated: true,
    answers: { 200: { description: "The vault.", content: json("AdminVault", adminVault) } },
  },
  renewVaultKey: {
    tag: "Admin: vaults",
    summary: "Give a vault a new data key",
    description: "What is stored stays under the key before (contract 20.21). A vault that has another key stays as it is.",
    body: required(json("VaultKeyRenewal", { replaces: DATA_KEY.id })),
    coordinated: true,
    answers: { 200: { description: "The vault.", content: json("AdminVault", adminVault) } },
    errors: ["keys_used_up"],
  },
  deleteVault: {
    tag: "Admin: vaults",
    summary: "Delete a vault",
    description: "Its keys are deleted, so nothing can decrypt its Items any more (contract 13.13).",
    coordinated: true,
    answers: { 204: { description: "The vault is deleted." } },
  },
} satisfies Partial<Descriptions>;

const tokenDescriptions = {
  listTokens: {
    tag: "Admin: tokens",
    summary: "List the tokens",
    description: "Those that were not revoked, the oldest first (contract 13.15, 13.18).",
    answers: { 200: { description: "The tokens.", content: listOfEither(["ListedToken", "BrokenToken"]) } },
  },
  createToken: {
    tag: "Admin: tokens",
    summary: "Issue a token",
    description: "Only this answer contains the token, and that to a repeated request (contract 13.14, 10.19).",
    body: required(json("NewToken", newToken)),
    answers: { 200: { description: "The token.", content: json("IssuedToken", issuedToken) } },
    errors: ["signer_removed", "database_full", "uncertain"],
  },
  getToken: {
    tag: "Admin: tokens",
    summary: "Look up a token",
    description: "Also one that was revoked or has expired (contract 13.17).",
    answers: {
      200: {
        description: "The token.",
        content: {
          "application/json": {
            schema: { oneOf: [{ $ref: "#/components/schemas/ListedToken" }, { $ref: "#/components/schemas/BrokenToken" }] },
            example: token,
          },
        },
      },
    },
  },
  revokeToken: {
    tag: "Admin: tokens",
    summary: "Revoke a token",
    description: "It is refused from the next request on (contract 8.7, 13.15).",
    answers: { 204: { description: "The token is revoked." } },
    errors: ["out_of_scope", "uncertain"],
  },
} satisfies Partial<Descriptions>;

export const adminDescriptions = { ...vaultDescriptions, ...tokenDescriptions };
