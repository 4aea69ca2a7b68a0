import { LIMITS } from "../../../model/limits.ts";
import { loginRequest, newAuthorization, newLoginCode } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, ref } from "./shapes.ts";

/** Logins of people from a terminal (contract 28). */

const SECRET: Schema = { type: "string", pattern: "^[A-Za-z0-9_-]{43}$" };
const PATTERNS = {
  redirect_uri: "^http://(127\\.0\\.0\\.1|\\[::1\\]):[1-9][0-9]{0,4}(/[A-Za-z0-9_./-]{0,100})?$",
  code_challenge: "^[A-Za-z0-9_-]{43}$",
  code_verifier: "^[A-Za-z0-9_.~-]{43,128}$",
};

const asked = {
  vaults:
    "The vaults of the token, with what it may do there. The person has each of these permissions. By default all of the person.",
  expiresIn: `Seconds until the token expires; by default ${LIMITS.loginLifetime}.`,
};

export const loginSchemas: Readonly<Record<string, Schema>> = {
  NewAuthorization: body("A login in a browser that a person confirms (contract 28.3).", newAuthorization, {
    ...asked,
    admin:
      "Whether the token is for the admin routes (contract 8.18); by default no. The person is an administrator, and it lives for an hour at most.",
    redirect_uri: {
      description: "Where the code goes: an IP literal of this machine with a port (RFC 8252 section 7.3).",
      pattern: PATTERNS.redirect_uri,
    },
    code_challenge: {
      description: "The SHA-256 of the verifier, in base64url (RFC 7636 section 4.2).",
      pattern: PATTERNS.code_challenge,
    },
  }),
  LoginCode: closed("The code of a login (contract 28.3, 28.5).", {
    id: ref("Id", "The id of the token that the code gives."),
    code: { ...SECRET, description: "The code. Only this answer contains it." },
    expiresAt: ref("Time"),
  }),
  NewLoginCode: body("A login code that a person makes (contract 28.5).", newLoginCode, {
    vaults: "The vaults of the token, with what it may do there. The person has each of these permissions.",
    expiresIn: `Seconds until the token expires; by default ${LIMITS.loginCodeLifetime}.`,
  }),
  LoginRequest: body("What redeems a login (contract 28.4, 28.6).", loginRequest, {
    code: "The code.",
    code_verifier: {
      description:
        "Of a login in a browser: the text whose SHA-256 was the challenge (RFC 7636 section 4.1). A code that was pasted has none.",
      pattern: PATTERNS.code_verifier,
    },
    redirect_uri: {
      description: "Where the code was sent. When it is there, it has to be the same.",
      pattern: PATTERNS.redirect_uri,
    },
  }),
};
