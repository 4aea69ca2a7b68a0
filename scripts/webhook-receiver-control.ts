/** What tests tell the receiver of webhooks, and what it tells them: without Node, because tests in workerd use it too. */

/**
 * What the receiver does with a request: answers a status, or JSON or a text with a 200, JSON also with another status or after some milliseconds, or else. `stall`: it
 * does not end the answer that it has begun.
 */
export type Behaviour =
  | number
  | { readonly json: unknown; readonly after?: number; readonly status?: number }
  | { readonly text: string }
  | "hang"
  | "die"
  | "endless"
  | "stall";

/** A request that the receiver got. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
