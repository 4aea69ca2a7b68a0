import { json, listOf, listOfEither, required } from "../content.ts";
import {
  actorName,
  childToken,
  entry,
  listedChildToken,
  newChildToken,
  resolveAnswer,
  resolveRequest,
  token,
  vault,
} from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Operations of a token without a vault in the path, and the token's vaults. */

export const tokenDescriptions = {
  getOwnToken: {
    tag: "Tokens",
    summary: "Read the token of the request",
    description: "Returns the token as it was issued. It needs no permission and has no entry in the log (contract 8.10).",
    answers: { 200: { description: "The token.", content: json("Token", token) } },
  },
  createChildToken: {
    tag: "Tokens",
    summary: "Issue a token below that of the request",
    description:
      "For a token that was issued with `delegate`. The new one has no more than it, and ends with it (contract 8.16). Only this answer " +
      "contains the token, and that to a repeated request (contract 10.19).",
    body: required(json("NewChildToken", newChildToken)),
    answers: { 200: { description: "The token.", content: json("IssuedToken", childToken) } },
    errors: ["signer_removed", "quota", "database_full", "uncertain"],
  },
  listChildTokens: {
    tag: "Tokens",
    summary: "List the tokens that the token of the request has issued",
    description: "Those in use, oldest first (contract 8.17).",
    answers: { 200: { description: "The tokens.", content: listOfEither(["ListedToken", "BrokenToken"], [listedChildToken]) } },
  },
  revokeChildToken: {
    tag: "Tokens",
    summary: "Revoke a token below that of the request",
    description: "It ends at once, and with it those below it (contract 8.17).",
    answers: { 204: { description: "Revoked, or it had ended." } },
    errors: ["uncertain"],
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
  listActors: {
    tag: "Vaults",
    summary: "List who wrote in a vault",
    description:
      "Names of those who made the last writes, or with `item` the newest versions of that Item; no emails. Only for sessions of the console (contract 24.13).",
    parameters: ["OfItem"],
    answers: { 200: { description: "The last writer first.", content: listOf("ActorName", [actorName]) } },
    errors: ["invalid", "item_not_found"],
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
