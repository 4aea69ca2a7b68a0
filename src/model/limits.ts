/** The largest count and version of a sound row: sums of two are exact in JavaScript. A larger number is damaged. */
export const COUNT_MAX = 2 ** 52;

/** Every limit of requests (contract 12). Sizes are bytes of UTF-8; times are seconds. */
export const LIMITS = {
  body: 1024 * 1024,
  jsonDepth: 32,
  list: 1_000, // fields, operations, tags, urls, sections: each
  generated: 64, // values that one request generates
  string: 64 * 1024,
  tags: 16 * 1024, // of an Item together, because lists have them
  sectionId: 255,
  repeatedLabel: 1024, // the label of a section that each of its fields repeats in answers
  title: 1024,
  filter: 4 * 1024,
  filterIds: 100,
  page: 1_000, // entries of a list
  versionsPage: 100, // of a list of versions
  activityOffset: 1_000,
  activityDepth: 1_050, // the last entry that a page with an offset reaches
  countedActivity: 1_000, // the most entries that are counted for Content-Range
  pageSize: 4 * 1024 * 1024, // characters; a page ends when it reaches this size
  pageRows: 4_000, // Items that a page with a filter looks at
  item: 512 * 1024, // sealed, as stored
  file: 100_000_000, // what Cloudflare lets through in one request
  objectPart: 50_000_000, // of an object of a backup in one request: a sealed File is larger than what Cloudflare lets through
  fileName: 1024,
  inlined: 1024 * 1024, // the contents in one answer together
  references: 100, // of one request
  reference: 4 * 1024,
  referencePairs: 1_000, // references by name × vaults that are looked up in one D1 call
  referencedFiles: 2_000, // Files of the Items of references without a field
  idempotencyKey: 255,
  vaultItems: 100_000, // the default quotas of a vault
  vaultBytes: 256 * 1024 * 1024,
  vaultFileBytes: 10 * 1024 * 1024 * 1024,
  growth: 64, // bytes that a sealed text may gain and count as not larger, for example with the digits of an entropy
  /** Items that the grants of a token name, of all vaults together. */
  tokenItems: 100,
  tokenVaults: 100,
  tokenLifetime: 365 * 24 * 60 * 60,
  tokenLifetimeDefault: 90 * 24 * 60 * 60,
  tokenDepth: 3, // generations below a token that the admin has issued
  tokenDescendants: 100, // below it
  tokenCost: 50, // as how many requests of its token one counts that issues a token: it writes
  stale: 300, // seconds by which the reads of a token may be old
  bookmarks: 8, // that a request may send
  session: 12 * 60 * 60, // how long a session of the console lasts
  pendingSignIn: 10 * 60, // seconds that an identity provider may take to answer a sign-in
  signInCode: 5 * 60, // how long a one-time code can be used
  sessions: 100, // sessions and codes of a token, or of the admin: those that expire first go
  signIn: 32 * 1024, // the body of a request that signs in
  signInCost: 50, // as how many requests of its token a sign-in by a token or of a person counts, and the making of a code: they write
  loginLifetime: 12 * 60 * 60, // how long a token lives that a person has got by a login
  adminLoginLifetime: 60 * 60, // the same of a token of the admin routes
  authorizationCode: 60, // how long the code of a login in a browser can be used
  loginCode: 2 * 60, // how long the code can be used that a person pastes into a terminal
  loginCodeLifetime: 60 * 60, // how long its token lives by default
  wait: 30, // seconds that a request waits for an event, or for the end of a job
  stream: 60 * 60, // seconds that a stream lasts: then a Worker with new settings serves its reader
  listeners: 2_000, // requests that wait for events, in one isolate
  tokenListeners: 1_000, // of one token and all tokens below it; fewer if `listeners` is reached: an equal share of them
  waitingWrites: 256, // a vault
  waitingBytes: 16 * 1024 * 1024, // a vault
  webhooks: 10, // a vault
  webhookUrl: 2 * 1024,
  people: 1_000,
  rulePerson: 30 * 24 * 60 * 60, // seconds for which a person by a rule stays who does not sign in
  issuers: 100, // of workload tokens and of people
  ruleLifetime: 60 * 60, // seconds of a token that was exchanged, and of the session of a person
  ruleLifetimeDefault: 15 * 60,
  exchange: 32 * 1024, // the body of a request that exchanges a token
  pastExchanges: 50, // of an issuer, whose claims are kept for the test of rules
  webhookSecret: 7 * 24 * 60 * 60, // seconds that a replaced secret may sign
} as const;

/** The fewest characters of ADMIN_TOKEN and METRICS_TOKEN, which only their randomness protects. `openssl rand -base64 32` prints 44. */
export const SECRET_CHARACTERS_MIN = 32;

const encoder = new TextEncoder();

/** The bytes of a text in UTF-8. */
export const sizeOf = (text: string): number => encoder.encode(text).length;

/** Whether a text is at most `limit` bytes of UTF-8. A UTF-16 unit takes one to three bytes, so most texts are not encoded. */
export function fits(text: string, limit: number): boolean {
  if (text.length > limit) return false;
  return text.length * 3 <= limit || sizeOf(text) <= limit;
}
