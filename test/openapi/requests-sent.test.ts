import { expect, it } from "vitest";
import { checkRequest } from "../support/documented.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** `send` compares requests that succeed with the document. */

it.each([
  [200, {}],
  [304, { "If-None-Match": "*" }],
] as const)("an undocumented query parameter that is answered with %i fails the test that sent it", async (status, headers) => {
  const { items, call } = await freshVault();
  const path = `${items}?colour=red`;
  await expect(call("GET", path, { headers })).rejects.toThrow("#/query/colour is not in the document");
  expect((await call("GET", path, { headers, undocumented: "the service ignores it" })).status).toBe(status);
});

it("a request that is refused need not be in the document", async () => {
  const { items, call } = await freshVault();
  expect((await call("GET", `${items}?colour=red&limit=0`)).status).toBe(400);
});

const ITEMS = "/v1/vaults/3fa85f64-5717-4562-b3fc-2c963f66afa6/items";
const requestOf = (method: string, path: string, headers = {}) => new Request(`https://vault.test${path}`, { method, headers });

it.each([
  ["a parameter of the query outside its schema", requestOf("GET", `${ITEMS}?archived=maybe`), undefined, "#/query/archived"],
  ["a parameter of the path outside its schema", requestOf("GET", ITEMS.replace("3fa8", "3f")), undefined, "#/path/vault"],
  ["a header of other operations", requestOf("GET", ITEMS, { Range: "bytes=0-1" }), undefined, "#/headers/range"],
  ["a header outside its schema", requestOf("POST", ITEMS, { "Idempotency-Key": "a b" }), LOGIN, "#/headers/idempotency-key"],
  ["a body where the document has none", requestOf("GET", ITEMS), LOGIN, "#/body"],
  ["a body outside its schema", requestOf("POST", ITEMS), { ...LOGIN, title: 7 }, "#/body/title"],
])("%s is not in the document", (_, request, body, place) => {
  expect(() => checkRequest(request, body)).toThrow(`${place} `);
});

it("headers that no operation documents are allowed", () => {
  const request = requestOf("GET", `${ITEMS}?archived=true&limit=5`, { "X-Other": "1", Accept: "*/*" });
  expect(() => checkRequest(request, undefined)).not.toThrow();
});
