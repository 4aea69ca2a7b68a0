import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { chunkCount } from "../../src/model/chunk-sizes.ts";
import { stepBytesMax } from "../../src/store/verify/run.ts";
import { objectsOf } from "../support/files.ts";
import { freshVault, LOGIN } from "../support/service.ts";
import { flipObject } from "./support/vault.ts";
import { verifyAll } from "./support/verify.ts";

/** A content that no single slice reads. The slices that continue it begin at a later chunk, behind the header. */

it("a content that is larger than a slice is checked to its end", async () => {
  const { vault, items, call } = await freshVault();
  const { body: item } = await call("POST", items, { body: LOGIN });
  const body = new Uint8Array(stepBytesMax({ callsMax: env.JOB_STEP_CALLS }) + 100_000);
  const headers = { "Content-Length": String(body.length) };
  const { body: file } = await call("POST", `${items}/${item.id}/files?name=large`, { body, headers });
  const [object] = await objectsOf(vault);
  await flipObject(env.FILES, object!, (await env.FILES.head(object!))!.size - 1);
  const { findings } = await verifyAll({ vault });
  const named = { kind: "content_damaged", vault, item: item.id, file: file.id, id: object!.split("/")[2] };
  // No chunk before the last ones is damaged, also none behind the end of the first slice.
  const count = chunkCount(body.length);
  expect(findings).toEqual([
    expect.objectContaining({ ...named, detail: expect.stringMatching(`to ${count - 1} of ${count} `) }),
  ]);
});
