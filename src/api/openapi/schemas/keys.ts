import { KEY_STATES } from "../../../model/key-state.ts";
import type { Schema } from "../types.ts";
import { closed, integer, words } from "./shapes.ts";

/** The root keys (contract 20). */

const rows = (what: string): Schema => integer(`How many ${what} are sealed under it.`, 0);

export const keySchemas: Readonly<Record<string, Schema>> = {
  RootKey: closed(
    "A root key, without key material (contract 20.2).",
    {
      id: { type: "string", maxLength: 32 },
      state: words("How the service uses it (contract 20.1).", KEY_STATES),
      fingerprint: {
        type: "string",
        pattern: "^[0-9a-f]{16}$",
        description: "Names the key: the first 8 bytes of the SHA-256 of its public key. Absent when it is not known.",
      },
      publicKey: {
        type: "string",
        description:
          "The Ed25519 public key that verifies its tokens, in base64. Absent when `ROOT_KEYS` has no part of the key.",
      },
      verifies: { type: "boolean", description: "Whether tokens that it signed are accepted." },
      vaults: rows("vaults"),
      tokens: rows("tokens"),
      endedTokens: rows("tokens that have ended"),
      backup: { type: "boolean", description: "Whether the newest backup needs it." },
      removable: { type: "boolean", description: "Whether nothing needs it, so that `ROOT_KEYS` may lose it." },
    },
    ["fingerprint", "publicKey"],
  ),
};
