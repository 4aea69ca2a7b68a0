import type { Call } from "@item-vault/client";

/** What tsc refuses in a typed request. `npm run check` fails when a line below an expected error compiles. */

declare const call: Call;
const path = { vault: "v", item: "i" };

// @ts-expect-error A body without what the operation needs.
export const incomplete = () => call("POST /v1/admin/vaults", { body: { description: "x" } });

// @ts-expect-error A body with an attribute of another type.
export const mistyped = () => call("PATCH /v1/admin/vaults/{vault}", { path, body: { quota: { items: "many" } } });

// @ts-expect-error A parameter that the operation does not have.
export const unknownParameter = () => call("GET /v1/vaults/{vault}/items", { path, query: { page: 2 } });

// @ts-expect-error A path without its ids.
export const unplaced = () => call("GET /v1/vaults/{vault}/items/{item}");

// @ts-expect-error An operation that the API does not have.
export const unknownOperation = () => call("GET /v1/vaults/{vault}/numbers", { path });
