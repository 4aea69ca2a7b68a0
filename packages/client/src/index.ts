export type { Answer, Call, CallOptions } from "./call.ts";
export { askedDelayOf, canRepeat, retryDelayOf } from "./backoff.ts";
export { type Client, createClient, type Resolved } from "./client.ts";
export { type Fault, ItemVaultError } from "./error.ts";
export type { EventOptions, VaultEvent } from "./events.ts";
export { type Caller, entriesOf, type Listed } from "./lists.ts";
export type { ClientOptions, Policy, RequestOptions, Send } from "./send.ts";
export type * from "./schema.ts";
