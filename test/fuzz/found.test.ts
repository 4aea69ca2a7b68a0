import { describe, expect, it } from "vitest";
import { canary } from "../support/canary.ts";
import type { HostileRequest } from "./hostile/requests.ts";
import { broken } from "./hostile/rules.ts";
import { newWorld } from "./hostile/world.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** What the other tests of this folder found, once each. */

const ITEM = "/v1/vaults/<vault>/items/<item>";
const request = (method: string, path: string, body?: string, headers: HostileRequest["headers"] = []): HostileRequest => ({
  method,
  path,
  headers: [["Authorization", "Bearer <rw>"], ...headers],
  body,
  framing: "length",
});

async function rulesBrokenBy(asked: HostileRequest): Promise<string[]> {
  const secret = canary();
  const response = await newWorld(secret, canary()).send(asked);
  return broken(asked, { status: response.status, headers: response.headers, text: await response.text() }, secret);
}

describe("a message", () => {
  const EMOJI = `x${"😀".repeat(40)}`;
  it.each([
    ["the id of a file", request("GET", `${ITEM}/files/${EMOJI}`)],
    ["the path of an operation", request("PATCH", ITEM, JSON.stringify([{ op: "add", path: `/tags/${EMOJI}`, value: "v" }]))],
    ["the id of a field", request("PATCH", ITEM, JSON.stringify([{ op: "remove", path: `/fields/${EMOJI}` }]))],
    ["an id that holds half of a pair itself", request("PATCH", ITEM, String.raw`[{"op": "remove", "path": "/fields/\ud800"}]`)],
    ["a path that holds half of a pair itself", request("PATCH", ITEM, String.raw`[{"op": "remove", "path": "/tags/\ud800"}]`)],
  ])("that echoes 64 characters cuts no surrogate pair in two: %s", async (_, asked) => {
    expect(await rulesBrokenBy(asked)).toEqual([]);
  });
});

describe("a body that is not as long as its Content-Length says", () => {
  // Over HTTP the platform sees to it. A Worker that is bound to this one can send whatever it likes.
  it.each(["5", "500", "-1", "", "x", "1e1"])("is the client's fault, and no 5xx: %j", async (length) => {
    const asked = request("POST", `${ITEM}/files?name=f`, "<secret>", [["Content-Length", length]]);
    expect(await rulesBrokenBy({ ...asked, framing: "lie" })).toEqual([]);
  });
});

describe("the operations of one PATCH", () => {
  const FIELD = { id: "f", section: { id: "s" }, value: "v" };
  const EMPTY = { op: "replace", path: "/sections", value: [] } as const;
  it.each([
    ["a label can be given to it", { op: "replace", path: "/sections/s/label", value: "S" }],
    ["it outlives the field that called it", { op: "remove", path: "/fields/f" }],
    ["it can be removed", { op: "remove", path: "/sections/s" }],
    ["it comes before a later one", { op: "add", path: "/sections/t", value: {} }],
  ] as const)("meet a section that a field calls back as two PATCHes would: %s", async (_, next) => {
    const { items, call } = await freshVault();
    const body = { ...LOGIN, sections: [{ id: "s", label: "old" }], fields: [FIELD] };
    const [once, twice] = [(await call("POST", items, { body })).body, (await call("POST", items, { body })).body];
    const both = await call("PATCH", `${items}/${once.id}`, { body: [EMPTY, next] });
    await call("PATCH", `${items}/${twice.id}`, { body: [EMPTY] });
    const second = await call("PATCH", `${items}/${twice.id}`, { body: [next] });
    expect([both.status, both.body.sections]).toEqual([second.status, second.body.sections]);
  });
});
