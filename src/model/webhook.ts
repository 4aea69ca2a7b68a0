/** Webhooks (contract 17): receivers of the events of a vault. The admin makes them; the vault's coordinator delivers. */

/** `PAUSED`: a receiver has failed for a day. `DISABLED`: by the admin, or because the receiver answered 410. */
export const WEBHOOK_STATES = ["ACTIVE", "PAUSED", "DISABLED"] as const;

export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Why a delivery failed. `url`: the URL is not allowed any more. `restored`: see contract 17.11. */
export const DELIVERY_FAULTS = ["status", "redirect", "timeout", "network", "url", "restored", "integrity"] as const;

type DeliveryFault = (typeof DELIVERY_FAULTS)[number];

export interface DeliveryError {
  readonly kind: DeliveryFault;
  /** The status of the receiver's answer. Nothing else of the answer is kept. */
  readonly status?: number | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** An attempt to deliver a message. */
export interface Attempt {
  /** Start of the attempt, in Unix milliseconds. */
  readonly at: number;
  /** Duration of the attempt. */
  readonly milliseconds: number;
  /** The status of the receiver's answer, if there was one. */
  readonly status?: number | undefined;
  /** Why it failed; absent: the receiver has the message. */
  readonly error?: DeliveryFault | undefined;
}

/** An attempt and the content of its message. */
export interface RecordedAttempt extends Attempt {
  /** Number of events in the message. */
  readonly events: number;
  /** The admin has asked for it. */
  readonly test?: true | undefined;
}

/** Why an attempt failed, when it ended; `undefined`: it did not. */
export const errorOf = ({ at, milliseconds, status, error }: Attempt): DeliveryError | undefined =>
  error && { kind: error, status, at: at + milliseconds };

/** A webhook as the admin sees it. Times are Unix milliseconds. */
export interface Webhook {
  readonly id: string;
  /** Absent if its row cannot be decrypted. */
  readonly url?: string | undefined;
  /** Only in the answer to the request that made or replaced it. */
  readonly secret?: string | undefined;
  readonly state: WebhookState;
  /** The name of the file of `item-vault apply` that has made it (contract 13.29). */
  readonly managedBy?: string | undefined;
  readonly createdAt: number;
  readonly lastDelivery?: number | undefined;
  readonly lastError?: DeliveryError | undefined;
  /** Attempts that failed since the last delivery. */
  readonly failures: number;
  /** Events that are not delivered yet. */
  readonly pending: number;
}

export interface NewWebhook {
  readonly url: string;
  readonly enabled: boolean;
  readonly managedBy?: string | undefined;
}

export interface WebhookChange {
  readonly url?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** Makes the webhook active again: from the event where it stopped, or only with events from now on. */
  readonly resume?: "cursor" | "latest" | undefined;
  /** Makes a new secret. The value is the number of seconds for which the previous one also signs. */
  readonly rotateSecret?: number | undefined;
}

/** A request to the coordinator about the webhooks of a vault. It is plain data, because it crosses Durable Object RPC. */
export type WebhookRequest =
  | { readonly kind: "list" }
  | { readonly kind: "get"; readonly id: string }
  /** Takes effect once, even if sent again with the same id. `request` is a hash of the content. */
  | { readonly kind: "create"; readonly id: string; readonly request: string; readonly webhook: NewWebhook }
  /** Sent again with the same `request`, it makes no second secret. */
  | { readonly kind: "update"; readonly id: string; readonly request: string; readonly change: WebhookChange }
  | { readonly kind: "delete"; readonly id: string };

/** A request for the attempts to deliver to a webhook, or for a test, in the same way. */
export interface AttemptRequest {
  readonly kind: "list" | "test";
  readonly id: string;
}

/** Returns true if a request changes anything. */
export const isWebhookWrite = ({ kind }: WebhookRequest): boolean => kind !== "list" && kind !== "get";
