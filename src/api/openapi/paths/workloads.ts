import { json, listOf, listOfEither, required } from "../content.ts";
import { exchangedToken, issuer, newIssuer, newRule, pastExchange, rule } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Workload identity (contract 27). */

const either = (schema: string, example: unknown) => ({
  "application/json": {
    schema: { oneOf: [{ $ref: `#/components/schemas/${schema}` }, { $ref: "#/components/schemas/BrokenPerson" }] },
    example,
  },
});

export const workloadDescriptions = {
  listIssuers: {
    tag: "Admin: workloads",
    summary: "List the issuers of workload tokens",
    description: "The oldest first (contract 27.1).",
    answers: { 200: { description: "The issuers.", content: listOfEither(["Issuer", "BrokenPerson"], [issuer]) } },
  },
  createIssuer: {
    tag: "Admin: workloads",
    summary: "Add an issuer of workload tokens",
    description: "From now on its tokens are exchanged where a rule says so (contract 27.1).",
    body: required(json("NewIssuer", newIssuer)),
    answers: { 200: { description: "The issuer.", content: json("Issuer", issuer) } },
    errors: ["issuer_exists", "quota", "database_full", "uncertain"],
  },
  getIssuer: {
    tag: "Admin: workloads",
    summary: "Read an issuer",
    description: "One of the list (contract 27.1).",
    answers: { 200: { description: "The issuer.", content: either("Issuer", issuer) } },
  },
  deleteIssuer: {
    tag: "Admin: workloads",
    summary: "Delete an issuer",
    description: "Its rules and their tokens end with it (contract 27.2).",
    answers: { 204: { description: "The issuer is deleted, or was." } },
    errors: ["out_of_scope", "uncertain"],
  },
  listRules: {
    tag: "Admin: workloads",
    summary: "List the rules for workload tokens",
    description: "The oldest first (contract 27.3).",
    answers: { 200: { description: "The rules.", content: listOfEither(["Rule", "BrokenPerson"], [rule]) } },
  },
  createRule: {
    tag: "Admin: workloads",
    summary: "Add a rule for workload tokens",
    description:
      "Workload tokens with these claims are exchanged for tokens with these vaults (contract 27.3), or people with them sign in (contract 25.13).",
    body: required(json("NewRule", newRule)),
    answers: { 200: { description: "The rule.", content: json("Rule", rule) } },
    errors: ["out_of_scope", "issuer_not_found", "signer_removed", "quota", "database_full", "uncertain"],
  },
  testRule: {
    tag: "Admin: workloads",
    summary: "Test a rule",
    description: "Says which of the last workload tokens of the issuer a rule would match; it adds nothing (contract 27.5).",
    body: required(json("NewRule", newRule)),
    answers: { 200: { description: "The last workload tokens.", content: listOf("PastExchange", [pastExchange]) } },
    errors: ["issuer_not_found"],
  },
  getRule: {
    tag: "Admin: workloads",
    summary: "Read a rule",
    description: "One of the list (contract 27.3).",
    answers: { 200: { description: "The rule.", content: either("Rule", rule) } },
  },
  deleteRule: {
    tag: "Admin: workloads",
    summary: "Delete a rule",
    description: "Its tokens end with it (contract 27.4).",
    answers: { 204: { description: "The rule is deleted, or was." } },
    errors: ["out_of_scope", "uncertain"],
  },
  exchangeToken: {
    tag: "Tokens",
    summary: "Exchange a workload token",
    description:
      "Exchanges the token of a workload for one of this service, where a rule matches it (contract 27.6 to 27.9; RFC 8693).",
    body: {
      required: true,
      content: { "application/x-www-form-urlencoded": { schema: { $ref: "#/components/schemas/ExchangeForm" } } },
    },
    answers: { 200: { description: "The token.", content: json("ExchangedToken", exchangedToken) } },
    errors: [
      "invalid",
      "unauthorized",
      "body_too_large",
      "encoding",
      "rate",
      "internal",
      "integrity",
      "misconfigured",
      "schema",
      "unavailable",
      "issuer_unavailable",
      "uncertain",
      "database_full",
    ],
  },
} satisfies Partial<Descriptions>;
