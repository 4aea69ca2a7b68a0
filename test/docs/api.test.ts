import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import api from "../../docs/api.md?raw";
import contract from "../../docs/contract.md?raw";
import { addPerson } from "../support/access.ts";
import { drainQueue } from "../support/activity.ts";
import { OPEN_ROUTES, ROUTES } from "../../src/http/app.ts";
import { type Provider, startProvider } from "../support/identity-provider.ts";
import { personSession } from "../support/person-session.ts";
import { type Reply, send } from "../support/service.ts";
import { newSigningKey, tokenOf } from "../support/workload-tokens.ts";
import { type Example, parseExamples } from "./examples.ts";
import { type Bindings, expectedJson, expectedText, fill } from "./placeholders.ts";

/** Replays docs/api.md: sends the requests of the examples in their order, and compares the answers with those shown. */

beforeAll(drainQueue);

/** Only an issuer of people begins a session of a person. */
const beginSession = async () => void bindings.set("person_session", await personSession(env, (await addPerson()).email));
/** The identity provider of the service. */
let provider: Provider;

/** A workload of the examples: its issuer, whose key is given, and a token of it. */
beforeAll(async () => {
  const [url, key] = ["https://build.example.com", await newSigningKey("ES256")];
  bindings.set("workload_issuer", url);
  bindings.set("workload_key", JSON.stringify(key.jwk));
  provider = await startProvider();
  bindings.set("provider", provider.server.url);
  bindings.set("workload_token", await tokenOf(url, key, { project: "shop", branch: "main" }));
});

const examples = parseExamples(api);
const bindings: Bindings = new Map([
  ["admin_token", env.ADMIN_TOKEN],
  ["metrics_token", env.METRICS_TOKEN],
]);

const kindOf = ({ answer }: Example) => answer.headers.find(([name]) => name === "Item-Vault-Error")?.[1];

/** For example `404 route_not_found`. */
const outcomeOf = (example: Example): string => `${example.answer.status} ${kindOf(example) ?? ""}`.trim();

function sendRequest({ method, path, headers, body }: Example["request"]): Promise<Reply> {
  const filled = headers.map(([name, value]): [string, string] => [name, fill(value, bindings)]);
  return send(method, fill(path, bindings), { headers: filled, env: provider.env, ...(body && { body: fill(body, bindings) }) });
}

/** The parts of a reply that the document shows, and what they should be. */
function compare({ line, answer }: Example, reply: Reply): { actual: object; expected: object } {
  const isJson = /^[[{]/.test(answer.body);
  // The text of a fenced block does not show a line feed at the end.
  const body: unknown = isJson ? reply.body : reply.text.replace(/\n$/, "");
  const place = `docs/api.md:${line}`;
  const headers = answer.headers.map(([name]) => [name, reply.headers.get(name)]);
  return {
    actual: { place, status: reply.status, headers, body },
    expected: {
      place,
      status: answer.status,
      headers: answer.headers.map(([name, shown]) => [name, expectedText(shown, reply.headers.get(name) ?? "", bindings)]),
      body: isJson ? expectedJson(answer.body, body, bindings) : expectedText(answer.body, String(body), bindings),
    },
  };
}

for (const [heading, group] of Map.groupBy(examples, (example) => example.heading)) {
  describe(`docs/api.md, ${heading}`, () => {
    if (group.some(({ request }) => request.path === "/console/authorizations")) beforeAll(beginSession);
    for (const example of group) {
      const { request } = example;
      it(`${request.method} ${request.path} answers ${outcomeOf(example)}`, async () => {
        const { actual, expected } = compare(example, await sendRequest(request));
        expect(actual).toStrictEqual(expected);
      });
    }
  });
}

describe("docs/api.md", () => {
  for (const { method, path } of [...OPEN_ROUTES, ...ROUTES]) {
    it(`has an example of ${method} ${path} that succeeds`, () => {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}(\\?.*)?$`);
      const succeeding = examples.filter(({ answer }) => answer.status < 300);
      expect(succeeding.some(({ request }) => request.method === method && pattern.test(request.path))).toBe(true);
    });
  }

  it("has no fenced block that is not replayed", () => {
    expect(api.match(/^\s*```/gm)).toHaveLength(4 * examples.length);
  });

  it("shows the header Item-Vault-Error in each error and in no other answer", () => {
    const wrong = examples.filter((example) => (kindOf(example) !== undefined) !== example.answer.status >= 400);
    expect(wrong).toEqual([]);
  });

  it("shows each kind of error of contract 4.3, or names it among those without an example", () => {
    const kinds = [...contract.matchAll(/^\| `(\w+)` +\| +[45]\d\d \|/gm)].map(([, kind]) => kind);
    const named = new Set([...examples.map(kindOf), ...[...api.matchAll(/`(\w+)`/g)].map(([, word]) => word)]);
    expect(kinds).not.toEqual([]);
    expect(kinds.filter((kind) => !named.has(kind))).toEqual([]);
  });
});
