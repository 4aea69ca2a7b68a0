import { LIMITS } from "../../../model/limits.ts";
import { json, required } from "../content.ts";
import { session, signInAddress, signInCode } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Lifetime of a one-time code. */
const MINUTES = LIMITS.signInCode / 60;

/** Sessions of the console (contract 24). */

const tag = "Sessions";
const answer = json("Session", session);

export const sessionDescriptions = {
  getSession: {
    tag,
    summary: "Read the session of the request",
    description: "Only the console of the same origin may ask: `Sec-Fetch-Site` has to be `same-origin` (contract 24.2, 24.4).",
    answers: { 200: { description: "The session.", content: answer } },
  },
  signIn: {
    tag,
    summary: "Sign in",
    description:
      "Makes a session of 12 hours by a one-time code, a token or ADMIN_TOKEN, by the answer of the identity provider, or without them by Cloudflare Access. What the session of the request grants is kept, under a " +
      "new cookie (contract 24.3, 24.5). With `vaults`, the session of the request opens these to its token as its admin (contract 24.12).",
    body: required(json("SignIn", { code: signInCode.code })),
    answers: { 200: { description: "The session.", content: answer, headers: ["SetCookie"] } },
    errors: [
      "sign_in_needed",
      "not_invited",
      "account_refused",
      "issuer_unavailable",
      "busy",
      "database_full",
      "quota",
      "uncertain",
    ],
  },
  beginSignIn: {
    tag,
    summary: "Begin a sign-in at the identity provider",
    description:
      "Returns the address at which the person signs in, and sets the cookie that binds the answer to this browser. The provider sends the person " +
      "back to `/console/sign-in`, and that page signs in by `code` and `state` (contract 25.12).",
    answers: { 200: { description: "The address.", content: json("SignInAddress", signInAddress), headers: ["SetCookie"] } },
    errors: ["issuer_unavailable"],
    never: ["schema"],
  },
  signOut: {
    tag,
    summary: "Sign out",
    description: "The session ends at once, and the cookie is removed. Without a session the answer is the same (contract 24.6).",
    answers: { 204: { description: "There is no session.", headers: ["SetCookie"] } },
    errors: ["database_full"],
    never: ["unauthorized", "schema"],
  },
  createSignInCode: {
    tag,
    summary: "Make a one-time code",
    description: `It signs in to the console as the token, once, within ${MINUTES} minutes. A session makes none (contract 24.9).`,
    answers: { 200: { description: "The code.", content: json("SignInCode", signInCode) } },
    errors: ["database_full"],
  },
  createAdminSignInCode: {
    tag,
    summary: "Make a one-time code of the admin",
    description: `It signs in to the console as the admin, once, within ${MINUTES} minutes. A session makes none (contract 24.9).`,
    answers: { 200: { description: "The code.", content: json("SignInCode", signInCode) } },
    errors: ["database_full"],
    never: ["integrity"],
  },
} satisfies Partial<Descriptions>;
