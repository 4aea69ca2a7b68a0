import type { Header } from "./types.ts";

/** The headers of answers. A header with `required` is in every answer that refers to it. */

const text = (description: string, more: Omit<Header, "description" | "schema"> & { readonly pattern?: string } = {}): Header => {
  const { pattern, ...rest } = more;
  return { description, ...rest, schema: { type: "string", ...(pattern !== undefined && { pattern }) } };
};

/** The time at which the token of the request expires, RFC 3339. */
const EXPIRES = "When the token of the request expires (contract 8.11).";
const TIME = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`;

export const headers = {
  RequestId: {
    description: "A UUIDv7, the id of the request's entry in the activity log; of a write, of the operation (contract 1.8).",
    required: true,
    schema: { $ref: "#/components/schemas/Uuid" },
  },
  ConnectVersion: text("The version of the Connect API that clients expect (contract 1.7).", {
    required: true,
    pattern: String.raw`^\d+\.\d+\.\d+$`,
  }),
  CacheControl: {
    description: "`no-transform` is added on pages of logs and of events (contract 1.7).",
    required: true,
    schema: { type: "string", enum: ["no-store", "no-store, no-transform"] },
  },
  TokenExpires: text(EXPIRES, { required: true, pattern: TIME }),
  TokenExpiresIfKnown: text(`${EXPIRES} Absent when the request was refused before its token was verified.`, { pattern: TIME }),
  ETag: text("The entity tag, opaque (contract 9.11, 10.1, 11.11, 16.11).", { required: true, pattern: '^"[!#-~]+"$' }),
  ETagIfKnown: text("The entity tag, opaque (contract 10.1, 11.11).", { pattern: '^"[!#-~]+"$' }),
  ETagOfValues: text("Opaque; absent when a reference asks for an `otp` (contract 16.11).", { pattern: '^"[!#-~]+"$' }),
  Link: text('The URL of the next page, with `rel="next"` (RFC 8288); absent on the last page (contract 11.3, 13.20).', {
    pattern: '^<[^>]+>; rel="next"$',
  }),
  JobOfConflict: text("The id of the job that has not ended; absent with another kind of error (contract 26.3)."),
  Broken: text(
    "How many rows of the answer cannot be decrypted; absent without one, and on a streamed list (contract 9.14, 11.10).",
    {
      pattern: String.raw`^[1-9]\d*$`,
    },
  ),
  Ignored: text(
    "Attributes of the body that are none of an Item and were ignored: `titel, fields[0].lable`. Absent without one, and in the dialect `connect` (contract 2.16).",
    { pattern: "^[!#-~]+(, [!#-~]+)*$" },
  ),
  LogRange: text("The entries of the page, and how many there are: `1-50/734`. Absent with `before` (contract 13.9).", {
    pattern: String.raw`^(\d+-\d+|\*)/(\d+|\*)$`,
  }),
  LogGap: text("Reads and denials up to this time may be missing, because a log had too many (contract 13.10).", {
    pattern: TIME,
  }),
  ContentRange: text("The bytes of the answer, and the size of the content (RFC 9110 section 14.4).", {
    required: true,
    pattern: String.raw`^bytes \d+-\d+/\d+$`,
  }),
  UnsatisfiedRange: text("The size of the content: `bytes */<size>` (contract 9.12).", {
    required: true,
    pattern: String.raw`^bytes \*/\d+$`,
  }),
  ContentLength: text("Bytes of the body, exact (contract 9.10).", { required: true, pattern: String.raw`^\d+$` }),
  ContentDisposition: text("`attachment`, with the name of the File (contract 9.10).", {
    required: true,
    pattern: "^attachment",
  }),
  AcceptRanges: {
    description: "Ranges are supported (contract 9.12).",
    required: true,
    schema: { type: "string", const: "bytes" },
  },
  ContentTypeOptions: {
    description: "Browsers must not guess a type (contract 1.7).",
    required: true,
    schema: { type: "string", const: "nosniff" },
  },
  Authenticate: { description: "RFC 9110 section 11.6.1.", required: true, schema: { type: "string", const: "Bearer" } },
  RetryAfter: text("Seconds after which the request can be sent again (contract 4.9).", {
    required: true,
    pattern: String.raw`^\d+$`,
  }),
  RetryAfterIfUseful: text("Seconds; absent where a retry does not help, or is not safe (contract 4.9, 10.15).", {
    pattern: String.raw`^\d+$`,
  }),
  ServedBy: {
    description: "Which database has answered; only for a token with `stale` (contract 8.13).",
    schema: { type: "string", enum: ["primary", "replica"] },
  },
  Age: text("Seconds by which the answer may be old; only for a token with `stale` (contract 8.13).", {
    pattern: String.raw`^\d+$`,
  }),
  Bookmark: text("The state of the answer: opaque; only for a token with `stale` (contract 8.14)."),
  BookmarkOfWrite: text("A state that has the write: opaque. Absent when D1 gave none (contract 8.14)."),
  SetCookie: text(
    "The cookie of the session (contract 24.1), or of a sign-in that has begun (contract 25.12). A value that is empty removes it.",
    {
      required: true,
      pattern:
        "^(__Host-)?item-vault-(session|sign-in)=[A-Za-z0-9_-]*; Max-Age=[0-9]+; Path=/; HttpOnly; SameSite=Strict(; Secure)?$",
    },
  ),
} as const satisfies Readonly<Record<string, Header>>;

export type HeaderName = keyof typeof headers;

const NAMES: Readonly<Record<HeaderName, string>> = {
  RequestId: "Request-Id",
  ConnectVersion: "1Password-Connect-Version",
  CacheControl: "Cache-Control",
  TokenExpires: "Token-Expires",
  TokenExpiresIfKnown: "Token-Expires",
  ETag: "ETag",
  ETagIfKnown: "ETag",
  ETagOfValues: "ETag",
  Link: "Link",
  JobOfConflict: "Item-Vault-Job",
  Broken: "Item-Vault-Broken",
  Ignored: "Item-Vault-Ignored",
  LogRange: "Content-Range",
  LogGap: "Item-Vault-Log-Gap",
  ContentRange: "Content-Range",
  UnsatisfiedRange: "Content-Range",
  ContentLength: "Content-Length",
  ContentDisposition: "Content-Disposition",
  AcceptRanges: "Accept-Ranges",
  ContentTypeOptions: "X-Content-Type-Options",
  Authenticate: "WWW-Authenticate",
  RetryAfter: "Retry-After",
  RetryAfterIfUseful: "Retry-After",
  ServedBy: "Item-Vault-Served-By",
  Age: "Item-Vault-Age",
  Bookmark: "Item-Vault-Bookmark",
  BookmarkOfWrite: "Item-Vault-Bookmark",
  SetCookie: "Set-Cookie",
};

/** Returns the headers of a response, by their names in an answer. */
export const headersOf = (names: readonly HeaderName[]): Readonly<Record<string, { readonly $ref: string }>> =>
  Object.fromEntries(names.map((name) => [NAMES[name], { $ref: `#/components/headers/${name}` }]));

/** The headers of every answer (contract 1.7). */
export const EVERYWHERE: readonly HeaderName[] = ["RequestId", "ConnectVersion", "CacheControl", "ContentTypeOptions"];
