import { expect, it } from "vitest";
import { freshItem, pattern } from "../support/files.ts";

/** The order of the activity log (contract 13.5). */

it("a write whose body takes long is logged in the order of its effect, under the Request-Id of its response", async () => {
  const { call, path, upload, vault } = await freshItem();
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = new ReadableStream({
    type: "bytes",
    async pull(controller: ReadableByteStreamController) {
      begun.resolve();
      await gate.promise;
      controller.enqueue(pattern(10));
      controller.close();
    },
  });
  const uploading = upload(slow);
  await begun.promise;
  await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
  gate.resolve();
  const uploaded = await uploading;
  const { body: log } = await call("GET", "/v1/activity");
  const writes = log.filter(({ resource, action }: any) => resource.vault?.id === vault && action !== "READ" && resource.item);
  expect(writes.map(({ resource }: any) => resource.itemVersion)).toEqual([3, 2, 1]);
  expect(writes[0].requestId).toBe(uploaded.headers.get("Request-Id"));
});
