import * as fc from "fast-check";
import { bodies } from "./bodies.ts";
import { bodyOf } from "./body-mutations.ts";
import { authorization, header, headersOf } from "./headers.ts";
import { mutatePath, type PathMutation, pathMutation } from "./path-mutations.ts";

/**
 * Random hostile requests: to the routes of the service, and mutations of them. fixtures.ts defines the symbols such as
 * `<vault>`.
 */

const { constantFrom, oneof } = fc;

export interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
  /**
   * How the body is sent: with its length, in chunks, in chunks that end in an error, as invalid UTF-8, or with the length in
   * the headers.
   */
  readonly framing: "length" | "chunks" | "aborted" | "invalid UTF-8" | "as the headers say";
}

const VAULT = "/v1/vaults/<vault>";
const ITEM = `${VAULT}/items/<item>`;
const FILE = `${ITEM}/files/<file>`;
const json = bodyOf(oneof(...Object.values(bodies)));
const bytes = constantFrom("", "<secret>", "<long><secret>", "<mega>");
const title = constantFrom("<secret>", "a%22+and+tag+eq+%22b", "%", "&", "%ff", "%ED%A0%80", "é", "", "<long>");
const words = constantFrom(
  "title+eq+",
  "title%20co%20",
  "tag eq ",
  "category eq ",
  "favorite eq true",
  "name eq ",
  "<secret> eq ",
);
const filter = fc
  .tuple(words, constantFrom('"', "%22", "'", ""), title)
  .map(([word, quote, value]) => `filter=${word}${quote}${value}${quote}`);
const number = constantFrom("0", "1", "2", "1000", "1001", "-1", "1e3", "<secret>", "", "99999999999999999999");
const parameter = oneof(
  filter,
  fc.tuple(constantFrom("limit", "offset"), number).map((both) => both.join("=")),
  constantFrom(
    "cursor=<item>",
    "cursor=<secret>",
    "inline_files=true",
    "inline_content=TRUE",
    "name=<secret>",
    "name=f&section=<secret>",
    "x=<secret>",
    "&&==",
    "%",
  ),
);
const query = fc.array(parameter, { maxLength: 3 }).map((all) => (all.length > 0 ? `?${all.join("&")}` : ""));
const fileQuery = oneof(query, constantFrom("?name=<secret>", "?name=f&section=<secret>", "?name=<long>"));

type Route = readonly [
  weight: number,
  path: string,
  methods: readonly string[],
  body: fc.Arbitrary<string>,
  query: fc.Arbitrary<string>,
  header?: fc.Arbitrary<readonly [string, string]>,
];
const { read, write, content, upload } = headersOf;
const ROUTES: readonly Route[] = [
  [2, "/v1/vaults", ["GET"], json, query],
  [2, VAULT, ["GET", "HEAD"], json, query],
  [6, `${VAULT}/items`, ["GET", "POST", "POST"], bodyOf(bodies.item), query, write],
  [3, ITEM, ["GET", "HEAD"], json, query, read],
  [2, ITEM, ["DELETE"], json, query, write],
  [4, ITEM, ["PUT"], bodyOf(bodies.item), query, write],
  [5, ITEM, ["PATCH"], bodyOf(bodies.patch), query, write],
  [3, `${ITEM}/files`, ["GET", "POST", "POST"], bytes, fileQuery, upload],
  [2, FILE, ["GET", "DELETE"], bytes, query, write],
  [4, `${FILE}/content`, ["GET", "GET", "HEAD"], bytes, query, content],
  [2, `${FILE}/content`, ["PUT"], bytes, query, upload],
  [2, "/v1/activity", ["GET"], json, query],
  [1, "/v1/admin/vaults", ["GET", "POST"], bodyOf(bodies.vault), query, write],
  [1, "/v1/admin/vaults/<vault>", ["PATCH", "DELETE"], bodyOf(bodies.vault), query, write],
  [1, "/v1/admin/tokens", ["GET", "POST"], bodyOf(bodies.token), query],
  [1, "/v1/admin/tokens/<spare>", ["DELETE"], json, query],
  [1, "/heartbeat", ["GET"], json, query],
  [1, "/health", ["GET"], json, query],
  [1, "/metrics", ["GET"], json, query],
];

/** The methods that the runtime accepts. */
const METHODS =
  "GET HEAD POST PUT DELETE PATCH PURGE OPTIONS PROPFIND MKCOL COPY MOVE LOCK UNLOCK ACL REPORT MERGE NOTIFY QUERY TRACE".split(
    " ",
  );

const requestTo = ([, path, methods, body, queries, own = header]: Route): fc.Arbitrary<HostileRequest> => {
  const admin = path.includes("/admin/");
  const validAuthorization = constantFrom(admin ? "Bearer <admin>" : "Bearer <rw>");
  return fc
    .record({
      method: oneof({ weight: 9, arbitrary: constantFrom(...methods) }, { weight: 1, arbitrary: constantFrom(...METHODS) }),
      mutations: oneof(
        { weight: 3, arbitrary: fc.constant<PathMutation[]>([]) },
        { weight: 1, arbitrary: fc.array(pathMutation, { minLength: 1, maxLength: 2 }) },
      ),
      query: queries,
      authorization: oneof(validAuthorization, authorization),
      headers: fc.array(oneof(own, header), { maxLength: 3 }),
      body: oneof({ weight: 9, arbitrary: body }, { weight: 1, arbitrary: json }),
      framing: constantFrom<HostileRequest["framing"][]>(
        "length",
        "length",
        "length",
        "chunks",
        "chunks",
        "aborted",
        "invalid UTF-8",
      ),
    })
    .map(({ method, mutations, query: queryString, authorization: credentials, headers, body: text, framing }) => ({
      method,
      path: mutations.reduce(mutatePath, path) + queryString,
      headers: credentials === "" ? headers : [["Authorization", credentials], ...headers],
      body: method === "GET" || method === "HEAD" ? undefined : text,
      framing,
    }));
};

/** One to ten requests, which are sent one after the other. */
export const session: fc.Arbitrary<HostileRequest[]> = fc.array(
  oneof(...ROUTES.map((route) => ({ weight: route[0], arbitrary: requestTo(route) }))),
  { minLength: 1, maxLength: 10 },
);
