import { json, listOf, listOfEither, required } from "../content.ts";
import { entry, resolveAnswer, resolveRequest, token, vault } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** What a token can ask for without a vault in the path, and its vaults. */

export const tokenDescriptions = {
  getOwnToken: {
    tag: "Tokens",
    summary: "Read the token of the request",
    description: "Returns the token as it was issued. It needs no permission and has no entry in the log (contract 8.10).",
    answers: { 200: { description: "The token.", content: json("Token", token) } },
  },
  resolveReferences: {
    tag: "References",
    summary: "Resolve references",
    description:
      "Resolves up to 100 secret references. Each entry of the answer has a value, or the status and message of its own refusal " +
      "(contract 16). The request changes nothing. It counts as one request for each reference.",
    parameters: ["IfNoneMatch"],
    body: required(json("ResolveRequest", resolveRequest)),
    answers: {
      200: {
        description: "An entry for each reference.",
        content: json("ResolveAnswer", resolveAnswer),
        headers: ["ETagOfValues"],
      },
      304: { description: "The client has this answer (contract 16.11).", headers: ["ETag"] },
    },
  },
  listVaults: {
    tag: "Vaults",
    summary: "List the vaults that the token reads",
    description: "The oldest first, without pages (contract 11.1, 11.7). Filters: contract 5.3 and 5.10.",
    parameters: ["VaultFilter"],
    answers: { 200: { description: "The vaults.", content: listOf("Vault", [vault]), headers: ["Broken"] } },
    errors: ["filter", "invalid"],
  },
  getVault: {
    tag: "Vaults",
    summary: "Read a vault",
    description: "Returns the vault with its counters (contract 2.5).",
    answers: { 200: { description: "The vault.", content: json("Vault", vault) } },
  },
  listActivity: {
    tag: "Activity",
    summary: "Read the activity log",
    description: "What was done in the vaults that the token reads, newest first (contract 13.5 to 13.11, 13.19, 13.20).",
    parameters: ["LogLimit", "Before", "Offset", "ByVault", "ByActor", "ByItem", "ByAction", "ByResult"],
    answers: {
      200: {
        description: "A page of the log.",
        content: listOfEither(["ActivityEntry", "BrokenActivityEntry"], [entry]),
        headers: ["LogRange", "LogGap", "Link"],
      },
    },
    errors: ["invalid"],
  },
} satisfies Partial<Descriptions>;
