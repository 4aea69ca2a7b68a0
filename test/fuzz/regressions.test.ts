import { describe, expect, it } from "vitest";
import { canary } from "../support/canary.ts";
import { freshVault, LOGIN } from "../support/service.ts";
import { createFixtures } from "./hostile/fixtures.ts";
import type { HostileRequest } from "./hostile/requests.ts";
import { violatedRules } from "./hostile/rules.ts";

/** One test for each bug that the random tests of this folder found. */

const ITEM = "/v1/vaults/<vault>/items/<item>";
const request = (method: string, path: string, body?: string, headers: HostileRequest["headers"] = []): HostileRequest => ({
  method,
  path,
  headers: [["Authorization", "Bearer <rw>"], ...headers],
  body,
  framing: "length",
});

async function violationsOf(hostileRequest: HostileRequest): Promise<string[]> {
  const secret = canary();
  const response = await createFixtures(secret, canary()).send(hostileRequest);
  return violatedRules(
    hostileRequest,
    { status: response.status, headers: response.headers, text: await response.text() },
    secret,
  );
}

describe("an error message", () => {
  const EMOJI = `x${"😀".repeat(40)}`;
  it.each([
    ["the id of a file", request("GET", `${ITEM}/files/${EMOJI}`)],
    ["the path of an operation", request("PATCH", ITEM, JSON.stringify([{ op: "add", path: `/tags/${EMOJI}`, value: "v" }]))],
    ["the id of a field", request("PATCH", ITEM, JSON.stringify([{ op: "remove", path: `/fields/${EMOJI}` }]))],
    [
      "the id of a field that contains a lone surrogate",
      request("PATCH", ITEM, String.raw`[{"op": "remove", "path": "/fields/\ud800"}]`),
    ],
    [
      "the path of an operation that contains a lone surrogate",
      request("PATCH", ITEM, String.raw`[{"op": "remove", "path": "/tags/\ud800"}]`),
    ],
  ])("that repeats 64 characters of a text does not split a surrogate pair: %s", async (_, hostileRequest) => {
    expect(await violationsOf(hostileRequest)).toEqual([]);
  });
});

describe("a body whose length differs from its Content-Length", () => {
  // Over HTTP the platform checks the length. A Worker with a service binding to this one can send any Content-Length.
  it.each(["5", "500", "-1", "", "x", "1e1"])(
    "is answered with an error of the client, not a 5xx: Content-Length %j",
    async (length) => {
      const hostileRequest = request("POST", `${ITEM}/files?name=f`, "<secret>", [["Content-Length", length]]);
      expect(await violationsOf({ ...hostileRequest, framing: "as the headers say" })).toEqual([]);
    },
  );
});

describe("a section that was removed and that a field still names", () => {
  const FIELD = { id: "f", section: { id: "s" }, value: "v" };
  const EMPTY = { op: "replace", path: "/sections", value: [] } as const;
  it.each([
    ["a replaced label", { op: "replace", path: "/sections/s/label", value: "S" }],
    ["a removal of the field", { op: "remove", path: "/fields/f" }],
    ["a removal of the section", { op: "remove", path: "/sections/s" }],
    ["an addition of another section", { op: "add", path: "/sections/t", value: {} }],
  ] as const)("is the same for the next operation of one PATCH as for a second PATCH: %s", async (_, next) => {
    const { items, call } = await freshVault();
    const body = { ...LOGIN, sections: [{ id: "s", label: "old" }], fields: [FIELD] };
    const [one, other] = [(await call("POST", items, { body })).body, (await call("POST", items, { body })).body];
    const both = await call("PATCH", `${items}/${one.id}`, { body: [EMPTY, next] });
    await call("PATCH", `${items}/${other.id}`, { body: [EMPTY] });
    const second = await call("PATCH", `${items}/${other.id}`, { body: [next] });
    expect([both.status, both.body.sections]).toEqual([second.status, second.body.sections]);
  });
});
