import type { Vault } from "../../packages/client/src/schema.ts";
import type { AnswerBody, Presented } from "../../src/api/answer.ts";
import { newVault } from "../../src/api/bodies.ts";
import type { Descriptions } from "../../src/api/openapi/operation.ts";
import { body } from "../../src/api/openapi/schemas/body.ts";
import { presentVault } from "../../src/http/present/vaults.ts";
import { type Handler, serveBy } from "../../src/http/route.ts";
import { ok } from "../../src/model/result.ts";
import type { NamedVault as VaultRow } from "../../src/model/vault.ts";

/** What tsc refuses (docs/design/requests.md). `npm run check` fails when a line below an expected error compiles. */

declare const row: VaultRow;
const shown: Presented<Vault> = presentVault(row, "uuid");
const { name: _, ...unnamed } = shown;

// @ts-expect-error A presenter without an attribute of the document.
export const presenter: () => Presented<Vault> = () => unnamed;

// @ts-expect-error A presenter with an attribute that the document lacks.
export const extended: Presented<Vault> = { ...shown, color: "blue" };

// @ts-expect-error A handler whose answer is that of another operation.
export const handler: Handler<AnswerBody<"getOwnToken">> = serveBy({
  parse: () => ok(1),
  handle: async () => ok({ json: shown }),
});

// @ts-expect-error A handler whose input is not what its parser gives.
export const input = serveBy({ parse: () => ok("text"), handle: async (_call, count: number) => ok({ json: count }) });

// @ts-expect-error An attribute of a body without a description.
export const described = body("A vault.", newVault, { name: "The name.", description: "A description." });

// @ts-expect-error An attribute that only the document has.
export const unread = body("A vault.", newVault, { name: "", description: "", quota: "", color: "" });

// @ts-expect-error Operations without a description.
export const descriptions: Descriptions = {};
