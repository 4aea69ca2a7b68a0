/**
 * The signatures of webhooks: Standard Webhooks 1.0.0, symmetric scheme
 * (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, "Signature scheme").
 */

const PREFIX = "whsec_";

const encoder = new TextEncoder();

/** Creates a secret: `whsec_` and 32 random bytes in base64. */
export const createWebhookSecret = (): string => PREFIX + crypto.getRandomValues(new Uint8Array(32)).toBase64();

interface SignedMessage {
  /** The header `webhook-id`. It contains no full stop. */
  readonly id: string;
  /** The header `webhook-timestamp`: the time of the attempt in Unix seconds. */
  readonly timestamp: number;
  readonly body: string;
}

/** Returns the header `webhook-signature`: one `v1` signature (HMAC-SHA-256) for each secret, separated by spaces. */
export async function signWebhook(secrets: readonly string[], { id, timestamp, body }: SignedMessage): Promise<string> {
  const content = encoder.encode(`${id}.${timestamp}.${body}`);
  const signatures = await Promise.all(secrets.map((secret) => sign(secret, content)));
  return signatures.map((signature) => `v1,${signature}`).join(" ");
}

async function sign(secret: string, content: Uint8Array): Promise<string> {
  const bytes = Uint8Array.fromBase64(secret.slice(PREFIX.length));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, content)).toBase64();
}
