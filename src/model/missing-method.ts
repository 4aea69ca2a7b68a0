/**
 * Whether a call of a coordinator failed because its class does not have the method: during a deployment it may be of an earlier release.
 * The words are those of workerd, which gives such an error no other mark.
 */
export const isMissingMethod = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith("The RPC receiver does not implement ");
