import { json, required } from "../content.ts";
import { session, signInCode } from "../examples.ts";
import { ADMIN, ANY_TOKEN, CONSOLE, type Row } from "../operation.ts";

/** Sessions of the console (contract 24). */

const tag = "Sessions";
const path = "/console/session";
const answer = json("Session", session);

export const sessionRows: readonly Row[] = [
  {
    method: "get",
    path,
    operationId: "getSession",
    tag,
    summary: "Read the session of the request",
    description: "Only the console of the same origin may ask: `Sec-Fetch-Site` has to be `same-origin` (contract 24.2, 24.4).",
    access: CONSOLE,
    answers: { 200: { description: "The session.", content: answer } },
  },
  {
    method: "post",
    path,
    operationId: "signIn",
    tag,
    summary: "Sign in",
    description:
      "Makes a session of 12 hours by a one-time code, a token or ADMIN_TOKEN, or without them by Cloudflare Access. What the session of the request grants is kept, under a " +
      "new cookie (contract 24.3, 24.5). With `vaults`, the session of the request opens these to its token as its admin (contract 24.12).",
    access: CONSOLE,
    json: required(json("SignIn", { code: signInCode.code })),
    answers: { 200: { description: "The session.", content: answer, headers: ["SetCookie"] } },
    errors: ["not_invited", "access_unavailable", "database_full"],
  },
  {
    method: "delete",
    path,
    operationId: "signOut",
    tag,
    summary: "Sign out",
    description: "The session ends at once, and the cookie is removed. Without a session the answer is the same (contract 24.6).",
    access: CONSOLE,
    answers: { 204: { description: "There is no session.", headers: ["SetCookie"] } },
    errors: ["database_full"],
    never: ["unauthorized", "rate", "schema"],
  },
  {
    method: "post",
    path: "/v1/sign-in-codes",
    operationId: "createSignInCode",
    tag,
    summary: "Make a one-time code",
    description: "It signs in to the console as the token, once and within 10 minutes. A session makes none (contract 24.9).",
    access: { ...ANY_TOKEN, direct: true },
    answers: { 200: { description: "The code.", content: json("SignInCode", signInCode) } },
    errors: ["database_full"],
  },
  {
    method: "post",
    path: "/v1/admin/sign-in-codes",
    operationId: "createAdminSignInCode",
    tag,
    summary: "Make a one-time code of the admin",
    description: "It signs in to the console as the admin, once and within 10 minutes. A session makes none (contract 24.9).",
    access: { ...ADMIN, direct: true },
    answers: { 200: { description: "The code.", content: json("SignInCode", signInCode) } },
    errors: ["database_full"],
    never: ["integrity"],
  },
];
