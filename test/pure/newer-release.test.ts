import { describe, expect, it } from "vitest";
import { presentItem } from "../../src/http/present/items.ts";
import { describe as describeFailure, type FailureKind } from "../../src/model/failure.ts";
import type { FieldType } from "../../src/model/field-types.ts";
import { covers } from "../../src/model/permission.ts";
import { login } from "../support/seed.ts";

/** Values that a newer release stores or sends, and that this release meets after a rollback or during a deployment. */

describe("a value of a newer release", () => {
  it("is presented as it is stored when it is the type of a field", () => {
    const field = { id: "f", type: "PASSKEY" as FieldType, purpose: "", label: "", value: "v" } as const;
    const item = login(crypto.randomUUID(), "Title", { fields: [field] });
    for (const dialect of ["uuid", "connect"] as const) {
      expect(presentItem({ ...item, vaultName: "Test" }, dialect, 0)).toMatchObject({
        fields: [{ type: "PASSKEY", value: "v" }],
      });
    }
  });

  it("grants nothing when it is a permission", () => {
    expect([covers("rwx", "r"), covers("x", "w"), covers("toString", "r")]).toEqual([false, false, false]);
  });

  it("is described as internal when it is the kind of a failure", () => {
    expect(describeFailure({ kind: "tomorrow" as FailureKind })).toMatchObject({ kind: "internal", status: 500 });
  });
});
