import { json, required } from "../content.ts";
import { authorization, deviceCode, loginRequest, loginToken, newAuthorization, waitingDevice } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** Logins of people from a terminal (contract 28). */

const tag = "Logins";

/** The failures of a request for which nobody is authenticated. */
const OPEN = [
  "invalid",
  "body_too_large",
  "encoding",
  "rate",
  "internal",
  "misconfigured",
  "schema",
  "unavailable",
  "database_full",
] as const;

export const loginDescriptions = {
  createAuthorization: {
    tag,
    summary: "Confirm a login in a browser",
    description:
      "The console of the same origin sends it when a person has confirmed. The code goes to the address on the machine of the browser " +
      "and is redeemed with the verifier of the challenge (contract 28.3, RFC 7636).",
    body: required(json("NewAuthorization", newAuthorization)),
    answers: { 200: { description: "The code.", content: json("Authorization", authorization) } },
    errors: ["out_of_scope", "database_full"],
  },
  confirmDevice: {
    tag,
    summary: "Show the device of a user code, or confirm its login",
    description:
      "The person types the code that the device shows. The fifth code that no device waits with ends the session (contract 28.6).",
    body: required(json("TypedDevice", { user_code: deviceCode.user_code })),
    answers: { 200: { description: "The device.", content: json("WaitingDevice", waitingDevice) } },
    errors: ["out_of_scope", "database_full"],
  },
  createDeviceCode: {
    tag,
    summary: "Begin the login of a device",
    description: "For a machine without a browser (contract 28.5, RFC 8628). The device shows the user code to a person.",
    body: required(json("NewDevice", { expiresIn: 3600 })),
    answers: { 200: { description: "The codes.", content: json("DeviceCode", deviceCode) } },
    errors: OPEN,
  },
  redeemLogin: {
    tag,
    summary: "Get the token of a login",
    description:
      "By the code of a login in a browser with its verifier, or by a device code that a person has confirmed (contract 28.4, 28.7). Only " +
      "this answer contains the token.",
    body: required(json("LoginRequest", loginRequest)),
    answers: { 200: { description: "The token.", content: json("IssuedToken", loginToken) } },
    errors: [...OPEN, "authorization_pending", "slow_down", "expired_token", "unauthorized", "quota", "uncertain"],
  },
} satisfies Partial<Descriptions>;
