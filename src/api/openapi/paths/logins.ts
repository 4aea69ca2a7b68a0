import { LIMITS } from "../../../model/limits.ts";
import { json, required } from "../content.ts";
import { loginCode, loginRequest, loginToken, newAuthorization, newLoginCode } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Logins of people from a terminal (contract 28). */

const tag = "Logins";

export const loginDescriptions = {
  createAuthorization: {
    tag,
    summary: "Confirm a login in a browser",
    description:
      "The console of the same origin sends it when a person has confirmed. The code goes to the address on the machine of the browser " +
      "and is redeemed with the verifier of the challenge (contract 28.3, RFC 7636).",
    body: required(json("NewAuthorization", newAuthorization)),
    answers: { 200: { description: "The code.", content: json("LoginCode", loginCode) } },
    errors: ["out_of_scope", "database_full"],
  },
  createLoginCode: {
    tag,
    summary: "Make a code that logs in a terminal",
    description:
      `The console of the same origin sends it for a person, who pastes the code into a terminal. The code is used once, within ${LIMITS.loginCode / 60} minutes ` +
      "(contract 28.5).",
    body: required(json("NewLoginCode", newLoginCode)),
    answers: { 200: { description: "The code.", content: json("LoginCode", loginCode) } },
    errors: ["out_of_scope", "database_full"],
  },
  redeemLogin: {
    tag,
    summary: "Get the token of a login",
    description:
      "By the code of a login in a browser with its verifier, or by a code that a person has pasted (contract 28.4, 28.6). Only this answer " +
      "contains the token.",
    body: required(json("LoginRequest", loginRequest)),
    answers: { 200: { description: "The token.", content: json("IssuedToken", loginToken) } },
    errors: [
      "invalid",
      "body_too_large",
      "encoding",
      "rate",
      "internal",
      "misconfigured",
      "schema",
      "unavailable",
      "database_full",
      "unauthorized",
      "quota",
      "uncertain",
    ],
  },
} satisfies Partial<Descriptions>;
