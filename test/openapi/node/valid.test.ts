import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, it } from "vitest";
import { document } from "../../../src/api/openapi/document.ts";

it("the document is a valid document of OpenAPI 3.1", async () => {
  const result = await new Validator().validate({ ...document });
  expect(result).toEqual({ valid: true });
});
