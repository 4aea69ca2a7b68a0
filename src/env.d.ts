/** The optional secrets, which wrangler.toml cannot declare. worker-configuration.d.ts has the other bindings. */
interface OptionalSecrets {
  /** An RFC 3339 time. Tokens that were issued before it are refused; absent or empty: none. */
  readonly TOKENS_NOT_BEFORE?: string;
  /** The secret of the client OIDC_CLIENT_ID at the identity provider OIDC_ISSUER. Absent or empty: nobody signs in there. */
  readonly OIDC_CLIENT_SECRET?: string;
  /** Only for tests on one machine, for example `http://127.0.0.1:9000`: webhooks may deliver there. Absent or empty: nowhere. */
  readonly WEBHOOK_TEST_ORIGIN?: string;
  /** Hosts to which the service may send requests although they are not public; `item-vault server` sets it. Absent or empty: none. */
  readonly ALLOWED_HOSTS?: string;
}

interface Env extends OptionalSecrets {}

declare namespace Cloudflare {
  interface Env extends OptionalSecrets {}
}
