import { describe, expect, it } from "vitest";
import { freshItem, pattern } from "../support/files.ts";
import { wrapBucket } from "../support/bindings.ts";

/** A put that reads its stream to the end, or until it breaks off, and never settles. */
async function put(_: string, body: ReadableStream): Promise<never> {
  const reader = body.getReader();
  for (let open = true; open;)
    open = await reader.read().then(
      ({ done }) => !done,
      () => false,
    );
  return new Promise<never>(() => undefined);
}

describe("an upload with a wrong digest", () => {
  it("is refused at once when R2 does not settle the put", async () => {
    const { upload } = await freshItem();
    const headers = { "Content-Digest": `sha-256=:${"A".repeat(43)}=:` };
    const reply = await upload(pattern(100), "?name=f", { env: { FILES: wrapBucket({ put }) }, headers });
    expect(reply.body).toEqual({ status: 400, message: "Content-Digest: is not that of the body" });
  });
});
