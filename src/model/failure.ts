/**
 * Every failure of a request, with status and message (contract 4). The key is the kind: the header `Item-Vault-Error`
 * sends it, so a kind is never renamed.
 */

type Resource = "vault" | "item" | "file" | "version" | "token" | "webhook" | "person" | "issuer" | "rule" | "job";

/** The ids of a request as its client wrote them: messages echo them. */
export type Names = Partial<Readonly<Record<Resource, string | undefined>>>;

type Row = readonly [status: number, message: (names: Names, detail: string) => string, retryAfterSeconds?: number];

const text = (words: string) => () => words;

/** Returns a client's text for a message: at most 64 characters, without half of a surrogate pair. */
export const echo = (written = ""): string => written.slice(0, 64).toWellFormed();

/** The operator's remedy for an old schema. */
export const APPLY_MIGRATIONS = "run `npx wrangler d1 migrations apply DB --remote` (`--local` under `wrangler dev`)";

const failures = {
  invalid: [400, (_, detail) => detail],
  vault_id: [400, text("Invalid Vault UUID")],
  item_id: [400, text("Invalid Item UUID")],
  token_id: [400, text("Invalid Token UUID")],
  webhook_id: [400, text("Invalid Webhook UUID")],
  person_id: [400, text("Invalid Person UUID")],
  issuer_id: [400, text("Invalid Issuer UUID")],
  rule_id: [400, text("Invalid Rule UUID")],
  job_id: [400, text("Invalid Job UUID")],
  category: [400, text("Invalid item category")],
  missing_field: [400, (_, detail) => `The item doesn't have a ${echo(detail)} field.`],
  filter: [400, text("Unsupported request filter")],
  bookmark: [400, text("Item-Vault-Bookmark: is not one that this service gave")],

  unauthorized: [401, text("Invalid token signature")],
  sign_in_needed: [401, text("Sign in with the identity provider of this service")],
  out_of_scope: [
    403,
    // `lacks` is the operation that the token may not do. It is set if the vault is in the token's scope or the path has no vault.
    ({ vault }, lacks) =>
      lacks ? `the token may not ${lacks}${vault ? ` vault ${echo(vault)}` : ""}` : `vault ${echo(vault)} is not in scope`,
  ],
  not_invited: [
    403,
    text("The identity provider knows you, and this service does not: ask its administrator to add your email address"),
  ],
  account_refused: [403, (_, why) => why],
  cross_site: [
    403,
    text("Only the console of this origin may send this request: over https, or http to 127.0.0.1, [::1] or localhost"),
  ],
  // `id` is set if the path does not have the id.
  vault_not_found: [404, (names, id) => `vault ${echo(names.vault || id)} not found`],
  item_not_found: [404, (names, id) => `item ${echo(names.item || id)} not found`],
  file_not_found: [404, (names) => `file ${echo(names.file)} not found`],
  version_not_found: [404, (names, version) => `version ${echo(names.version ?? version)} of item ${echo(names.item)} not found`],
  token_not_found: [404, (names) => `token ${echo(names.token)} not found`],
  webhook_not_found: [404, (names) => `webhook ${echo(names.webhook)} not found`],
  issuer_not_found: [404, (names, id) => `issuer ${echo(names.issuer || id)} not found`],
  rule_not_found: [404, (names) => `rule ${echo(names.rule)} not found`],
  person_not_found: [404, (names) => `person ${echo(names.person)} not found`],
  job_not_found: [404, (names) => `job ${echo(names.job)} not found`],
  backup_not_found: [404, text("There is no such backup")],
  route_not_found: [404, text("Not found")],
  reference_not_found: [404, (_, part) => `The reference names no ${part}`],
  ambiguous: [409, (_, parts) => `The reference names several ${parts}: use an id`],
  method_not_allowed: [405, (_, allowed) => `Method not allowed; this path serves ${allowed}`],
  idempotency: [409, text("This Idempotency-Key came with another request before")],
  signer_removed: [
    409,
    text("The root key that signed this token was removed: issue another token, with another Idempotency-Key"),
  ],
  cursor_gone: [410, text("The log has no entry of this cursor any more: begin again with after=latest")],
  item_exists: [409, text("The vault has or had an item with this Item-Id")],
  issuer_exists: [409, text("There is an issuer with this URL already")],
  person_exists: [409, text("There is a person with this email address already")],
  keys_used_up: [
    409,
    text("The vault has as many keys as it can have: rewrite it (docs/operations.md), or move its Items to a new vault"),
  ],
  job_exists: [409, (_, id) => `A job that excludes this one has not ended: ${id}`],
  not_restored: [409, text("The database is new, and the bucket has backups of another one: restore them first")],
  job_unstoppable: [409, text("The job may not stop where it is: it would leave something half done")],
  database_restored: [409, text("The database was restored to an earlier time since the job began: start another job")],
  backup_newer: [409, (_, detail) => `The service has something newer than the backup: ${detail}`],
  overtaken: [409, text("The write took effect and was overtaken by a later one: read the item")],
  precondition: [412, text("If-Match names another version than the current one")],
  too_large_to_inline: [
    413,
    ({ vault, item, file }, id) =>
      "File is too large to inline in request. " +
      `Use the /v1/vaults/${echo(vault)}/items/${echo(item)}/files/${echo(file ?? id)}/content endpoint instead.`,
  ],
  body_too_large: [413, (_, limit) => `The body is larger than ${limit} bytes`],
  range: [416, text("The range lies beyond the file")],
  encoding: [415, text("Content-Encoding is not supported: send the body as it is")],
  backup_damaged: [422, (_, detail) => `The backup is refused: ${detail}`],
  backup_too_new: [422, (_, detail) => `A newer release wrote this backup, and is needed to read it: ${detail}`],
  rate: [429, text("Too many requests: try again later"), 10],
  internal: [500, text("Internal Server Error")],
  integrity: [500, text("integrity: a stored record is damaged or was moved, and cannot be decrypted")],
  busy: [503, text("Too many writes are waiting: try again"), 1],
  uncertain: [
    503,
    text(
      "A storage call gave no answer: the write may have taken effect. " +
        "Only with the same Idempotency-Key is it safe to send again",
    ),
  ],
  unavailable: [503, text("A storage call failed: try again"), 1],
  issuer_unavailable: [503, text("The issuer does not answer as it must: try again"), 5],
  version_skew: [503, text("A newer release of the service is being deployed: try again"), 1],
  schema: [503, text(`The database has an older schema than this release serves: ${APPLY_MIGRATIONS}`), 60],
  database_full: [507, text("The database is nearly full: reads, deletions and writes that make an Item smaller are accepted")],
  quota: [507, ({ vault }, quota) => `The ${vault ? "vault" : "service"} has reached its quota of ${quota}`],
  misconfigured: [503, (_, fault) => `The service is not configured rightly: see /health${fault && ` (${fault})`}`, 60],
} satisfies Record<string, Row>;

export type FailureKind = keyof typeof failures;

/** The closed list of kinds (contract 4.3). */
export const FAILURE_KINDS = Object.keys(failures) as FailureKind[];

/** Plain data, so that it crosses Durable Object RPC as it is. `detail` is never a value that a user typed. */
export interface Failure {
  readonly kind: FailureKind;
  readonly detail?: string;
  /** The id of the root key that a manifest needs and ROOT_KEYS lacks. */
  readonly missingKey?: string;
  /** Absent: the default of the kind. */
  readonly retryAfterSeconds?: number;
}

export interface Description {
  readonly kind: FailureKind;
  readonly status: number;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Returns the status and message of a failure. `names` has the ids as the client wrote them. During a deployment a coordinator
 * can answer with a kind of a newer release, which is described as `internal`.
 */
export function describe({ kind: received, detail = "", retryAfterSeconds: own }: Failure, names: Names = {}): Description {
  const kind = Object.hasOwn(failures, received) ? received : "internal";
  const [status, message, retryAfterSeconds]: Row = failures[kind];
  return { kind, status, message: message(names, detail), retryAfterSeconds: own ?? retryAfterSeconds };
}
