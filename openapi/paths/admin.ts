import { json, listOfEither, required } from "../content.ts";
import { adminVault, issuedToken, newToken, newVault, token } from "../examples.ts";
import { ADMIN, type Row } from "../operation.ts";

/** Vaults and tokens (contract 13.12 to 13.23). Without the secret `ADMIN_TOKEN` the paths do not exist. */

const VAULTS = "/v1/admin/vaults";
const TOKENS = "/v1/admin/tokens";

const vaultRows: readonly Row[] = [
  {
    method: "get",
    path: VAULTS,
    operationId: "listAllVaults",
    tag: "Admin: vaults",
    summary: "List all vaults",
    description: "The oldest first, also those whose record does not open (contract 13.12, 13.18).",
    access: ADMIN,
    answers: { 200: { description: "The vaults.", content: listOfEither(["AdminVault", "BrokenVault"]) } },
  },
  {
    method: "post",
    path: VAULTS,
    operationId: "createVault",
    tag: "Admin: vaults",
    summary: "Create a vault",
    description: "The key of a repeated request is never free again (contract 13.12, 10.13).",
    access: ADMIN,
    json: required(json("NewVault", newVault)),
    idempotent: true,
    coordinated: true,
    answers: { 200: { description: "The vault.", content: json("AdminVault", adminVault) } },
  },
  {
    method: "patch",
    path: `${VAULTS}/{vault}`,
    operationId: "updateVault",
    tag: "Admin: vaults",
    summary: "Change a vault",
    description: "Changes name, description and quotas (contract 13.13, 13.23).",
    access: ADMIN,
    json: required(json("VaultChange", { name: "Staging" })),
    idempotent: true,
    coordinated: true,
    answers: { 200: { description: "The vault.", content: json("AdminVault", adminVault) } },
  },
  {
    method: "delete",
    path: `${VAULTS}/{vault}`,
    operationId: "deleteVault",
    tag: "Admin: vaults",
    summary: "Delete a vault",
    description: "Its keys are deleted, so nothing can decrypt its Items any more (contract 13.13).",
    access: ADMIN,
    idempotent: true,
    coordinated: true,
    answers: { 204: { description: "The vault is deleted." } },
  },
];

const tokenRows: readonly Row[] = [
  {
    method: "get",
    path: TOKENS,
    operationId: "listTokens",
    tag: "Admin: tokens",
    summary: "List the tokens",
    description: "Those that were not revoked, the oldest first (contract 13.15, 13.18).",
    access: ADMIN,
    answers: { 200: { description: "The tokens.", content: listOfEither(["ListedToken", "BrokenToken"]) } },
  },
  {
    method: "post",
    path: TOKENS,
    operationId: "createToken",
    tag: "Admin: tokens",
    summary: "Issue a token",
    description: "Only this answer contains the token, and that to a repeated request (contract 13.14, 10.19).",
    access: ADMIN,
    json: required(json("NewToken", newToken)),
    idempotent: true,
    answers: { 200: { description: "The token.", content: json("IssuedToken", issuedToken) } },
    errors: ["signer_removed", "database_full", "uncertain"],
  },
  {
    method: "get",
    path: `${TOKENS}/{token}`,
    operationId: "getToken",
    tag: "Admin: tokens",
    summary: "Look up a token",
    description: "Also one that was revoked or has expired (contract 13.17).",
    access: ADMIN,
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
  {
    method: "delete",
    path: `${TOKENS}/{token}`,
    operationId: "revokeToken",
    tag: "Admin: tokens",
    summary: "Revoke a token",
    description: "It is refused from the next request on (contract 8.7, 13.15).",
    access: ADMIN,
    answers: { 204: { description: "The token is revoked." } },
    errors: ["uncertain"],
  },
];

export const adminRows: readonly Row[] = [...vaultRows, ...tokenRows];
