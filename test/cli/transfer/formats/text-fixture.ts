import { ODD } from "./bitwarden-fixture.ts";

/** Sources that are plain text. */

/** Quotes a value as RFC 4180 says. */
const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
const line = (...values: string[]) => values.map(quoted).join(",");

export const CHROME = [
  "name,url,username,password,note",
  "example.com,https://example.com/login,me,secret-1,",
  line("", "android://hash@com.example/", "you", `secret ${ODD}`, ODD),
  "",
].join("\n");

const HEADER = "url username password httpRealm formActionOrigin guid timeCreated timeLastUsed timePasswordChanged".split(" ");
export const GUID = "0a1b2c3d-1111-4222-8333-444455556666";
export const FIREFOX = [
  line(...HEADER),
  line(
    "https://example.com",
    "me",
    "secret-1",
    "",
    "https://login.example.com",
    `{${GUID}}`,
    "1700000000000",
    "1700000000001",
    "1700000000002",
  ),
  line("https://router.local", "", ODD, "Admin area", "", "{typed-by-hand}", "", "", ""),
].join("\r\n");

export const DOTENV = [
  "# a comment",
  "PLAIN=secret value # another",
  'export QUOTED="secret # no comment"',
  "SINGLE='it is \"quoted\"' # third",
  'LINES="first',
  "# second",
  'third"',
  "EMPTY=",
  "PLAIN=secret again",
  "no variable",
  "",
].join("\n");

/** What `kv get -format=json` prints (developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2#sample-response-1). */
export const outer = (data: unknown, more: object = {}) => ({
  request_id: "b1d1a0d6-0000-4000-8000-000000000000",
  lease_id: "",
  lease_duration: 0,
  renewable: false,
  data,
  warnings: null,
  ...more,
});

export const version2 = (data: unknown, version: number, more: object = {}, custom: unknown = null) =>
  outer(
    {
      data,
      metadata: {
        created_time: `2024-01-0${version}T03:04:05.123456789Z`,
        custom_metadata: custom,
        deletion_time: data === null ? "2024-02-01T00:00:00Z" : "",
        destroyed: false,
        version,
      },
    },
    more,
  );

/** Three versions of one secret with a path that was added, and one without. */
export const VAULT_KV = [
  version2({ password: "secret-2" }, 3, { path: "secret/prod/db" }, { owner: "team" }),
  version2(null, 2, { path: "secret/prod/db" }),
  version2({ password: "secret-1" }, 1, { path: "secret/prod/db" }),
  outer({ key: "secret" }),
];
