import { env } from "cloudflare:workers";
import { wrapBucket } from "../../support/bindings.ts";
import { byteStream } from "../../support/faults.ts";
import { drawFault, type FaultPlan } from "./fault-plan.ts";

const error = () => new Error("We encountered an internal error. Please try again. (10001)");

/** The real R2 for one client, with the faults of the plan. */
export function faultyBucket(plan: FaultPlan, name: string): R2Bucket {
  const { r2, r2Truncated } = plan.rates;
  const random = plan.randomFor(`the R2 of ${name}`);

  async function faulty<T>(call: () => Promise<T>): Promise<T> {
    const fault = drawFault(random, ["R2 failed before the call", r2 / 2], ["R2 failed after the call", r2 / 2]);
    if (fault) plan.countFault(fault);
    if (fault === "R2 failed before the call") throw error();
    const result = await call();
    if (fault) throw error();
    return result;
  }

  /** The object, or one whose content is truncated; its size is then that of the truncated content or the original one. */
  async function get(key: string) {
    const fault = drawFault(random, ["R2 failed before the call", r2 / 2], ["R2 truncated an object", r2Truncated]);
    const [fraction, truncatedSize] = [random(), random() < 0.3];
    if (fault) plan.countFault(fault);
    if (fault === "R2 failed before the call") throw error();
    const object = await env.FILES.get(key);
    if (!object || !fault) return object;
    const bytes = (await object.bytes()).slice(0, Math.floor(fraction * object.size));
    return { size: truncatedSize ? bytes.length : object.size, body: byteStream(bytes) };
  }

  async function createMultipartUpload(key: string) {
    const upload = await faulty(() => env.FILES.createMultipartUpload(key));
    return {
      uploadPart: (number: number, part: Uint8Array) => faulty(() => upload.uploadPart(number, part)),
      complete: (parts: R2UploadedPart[]) => faulty(() => upload.complete(parts)),
      abort: () => upload.abort(),
    };
  }

  return wrapBucket({
    put: (key: string, body: ReadableStream) => faulty(() => env.FILES.put(key, body)),
    delete: (keys: string) => faulty(() => env.FILES.delete(keys)),
    get,
    createMultipartUpload,
  });
}
