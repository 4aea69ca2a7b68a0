import { loginRequest, newAuthorization, newDevice, typedDevice } from "../../contract/bodies.ts";
import { LIMITS } from "../../src/model/limits.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { closed, integer, permissions, ref } from "./shapes.ts";

/** Logins of people from a terminal (contract 28). */

const SECRET: Schema = { type: "string", pattern: "^[A-Za-z0-9_-]{43}$" };
const LETTERS = "[BCDFGHJKLMNPQRSTVWXZbcdfghjklmnpqrstvwxz]{4}";
const PATTERNS = {
  user_code: `^${LETTERS}[ -]?${LETTERS}$`,
  redirect_uri: "^http://(127\\.0\\.0\\.1|\\[::1\\]):[1-9][0-9]{0,4}(/[A-Za-z0-9_./-]{0,100})?$",
  code_challenge: "^[A-Za-z0-9_-]{43}$",
  code_verifier: "^[A-Za-z0-9_.~-]{43,128}$",
};

/** What a login asks for. */
const asked = {
  vaults:
    "The vaults of the token, with what it may do there. The person has each of these permissions. By default all of the person.",
  expiresIn: { description: "Seconds until the token expires.", default: LIMITS.loginLifetime },
};

export const loginSchemas: Readonly<Record<string, Schema>> = {
  NewAuthorization: body("A login in a browser that a person confirms (contract 28.3).", newAuthorization, {
    ...asked,
    admin: {
      description:
        "Whether the token is for the admin routes (contract 8.18): the person is an administrator, and it lives for an hour at most.",
      default: false,
    },
    redirect_uri: {
      description: "Where the code goes: an IP literal of this machine with a port (RFC 8252 section 7.3).",
      pattern: PATTERNS.redirect_uri,
    },
    code_challenge: {
      description: "The SHA-256 of the verifier, in base64url (RFC 7636 section 4.2).",
      pattern: PATTERNS.code_challenge,
    },
  }),
  Authorization: closed("The code of a login in a browser (contract 28.3).", {
    code: { ...SECRET, description: "The code. Only this answer contains it." },
    expiresAt: ref("Time"),
  }),
  NewDevice: body("A device that asks for a login (contract 28.5).", newDevice, asked),
  DeviceCode: closed("The codes of a device that waits (contract 28.5).", {
    device_code: { ...SECRET, description: "What the device sends to `/v1/login/token`. Only this answer contains it." },
    user_code: {
      type: "string",
      pattern: "^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$",
      description: "What the person types into the console.",
    },
    verification_uri: { type: "string", format: "uri", description: "Where the person types it." },
    expires_in: integer("Seconds until both codes expire.", 1),
    interval: integer("Seconds between two requests of the device.", 1),
  }),
  TypedDevice: body("A user code that a person has typed (contract 28.6).", typedDevice, {
    user_code: { description: "The code, in any case; white space and hyphens do not count.", pattern: PATTERNS.user_code },
    confirm: {
      description: "Whether the person confirms the login. Otherwise the answer only shows the device.",
      default: false,
    },
  }),
  WaitingDevice: closed("A device that waits for a login (contract 28.6).", {
    address: { type: "string", description: "The address of its request; empty where the platform gives none." },
    program: { type: "string", description: "What it says of itself: its `User-Agent`." },
    vaults: permissions,
    expiresIn: integer("How many seconds its token would live.", 1),
    createdAt: ref("Time"),
    expiresAt: ref("Time", "Until when it waits."),
    confirmed: { type: "boolean", description: "Whether this request has confirmed the login." },
  }),
  LoginRequest: body("What redeems a login: `code` with `code_verifier`, or `device_code` (contract 28.4, 28.7).", loginRequest, {
    code: "The code of a login in a browser.",
    code_verifier: {
      description: "The text whose SHA-256 was the challenge (RFC 7636 section 4.1).",
      pattern: PATTERNS.code_verifier,
    },
    redirect_uri: {
      description: "Where the code was sent. When it is there, it has to be the same.",
      pattern: PATTERNS.redirect_uri,
    },
    device_code: "The code of a device.",
  }),
};
