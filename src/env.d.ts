/** The optional secrets, which wrangler.toml cannot declare. worker-configuration.d.ts has the other bindings. */
interface OptionalSecrets {
  /** An RFC 3339 time. Tokens that were issued before it are refused; absent or empty: none. */
  readonly TOKENS_NOT_BEFORE?: string;
}

interface Env extends OptionalSecrets {}

declare namespace Cloudflare {
  interface Env extends OptionalSecrets {}
}
