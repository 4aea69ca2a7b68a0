import * as fc from "fast-check";

/** Hostile values of the headers that the service reads, and of some that it does not read. */

const { constantFrom, oneof } = fc;

export const authorization = oneof(
  { weight: 30, arbitrary: constantFrom("Bearer <rw>") },
  {
    weight: 12,
    arbitrary: constantFrom("Bearer <connect>", "Bearer <r>", "Bearer <w>", "Bearer <outsider>", "bearer <rw>", "Bearer <admin>"),
  },
  {
    weight: 3,
    arbitrary: constantFrom(
      "Bearer <revoked>",
      "Bearer <expired>",
      "Bearer <rw>x",
      "Bearer  <rw>",
      "Basic <rw>",
      "<rw>",
      "Bearer",
    ),
  },
  {
    weight: 2,
    arbitrary: constantFrom(
      "",
      "Bearer <secret>",
      "Bearer <rw>, Bearer <rw>",
      "Bearer <accent>",
      "Bearer <long>",
      "Bearer <admin> ",
    ),
  },
);

const one = (name: string, ...values: string[]) => constantFrom(...values).map((value) => [name, value] as const);
const ifMatch = one(
  "If-Match",
  '"1"',
  '"1-0123456789abcdef"',
  "*",
  "*",
  'W/"1"',
  "<secret>",
  '"<secret>"',
  "",
  '"1", "2",,',
  '"9"',
);
const key = one("Idempotency-Key", "k", "k", "k", "k", "<secret>", "a b", "<accent>", "", "<long>");

/** The headers that a kind of route reads. */
export const headersOf = {
  read: one("If-None-Match", '"1"', "*", "<secret>", 'W/"1"'),
  write: oneof(ifMatch, key),
  content: oneof(
    one("Range", "bytes=0-3", "bytes=-2", "bytes=5-"),
    one("Range", "bytes=0-3", "bytes=99999-", "bytes=3-1", "bytes=0-0,2-3", "<secret>", "items=0-1"),
    one("If-Range", "<secret>", '"1"', "Sat, 21 Nov 2026 00:00:00 GMT"),
    one("If-None-Match", "*", "<secret>"),
  ),
  upload: oneof(
    one(
      "Content-Disposition",
      'attachment; filename="<secret>"',
      "a; filename*=UTF-8''%F0<secret>",
      "<secret>",
      "a; filename=<long>",
      ';;="',
    ),
    one("Content-Digest", "sha-256=:<secret>:", `sha-256=:${"A".repeat(43)}=:`, "<secret>", "md5=:AA==:"),
    ifMatch,
    key,
  ),
};

/** Any header. */
export const header = oneof(
  ...Object.values(headersOf),
  one("Content-Type", "application/json", "text/<secret>", "multipart/form-data; boundary=<secret>", ""),
  one("Content-Encoding", "gzip", "gzip", "identity", "<secret>", "br, gzip", ""),
  one("CF-Connecting-IP", "192.0.2.1", "2001:db8::1", "<secret>", "::::", "x:y:<secret>"),
  one("User-Agent", "<secret>", "<accent><secret>", "<long>", ""),
  one("X-HTTP-Method-Override", "DELETE"),
  one("Cookie", "a=<secret>"),
  one("Upgrade", "websocket"),
  one("Expect", "100-continue"),
  one("Transfer-Encoding", "chunked", "<secret>"),
  one("X-<name>", "<secret>"),
);
