import { env } from "cloudflare:workers";
import { byteStream, wrapBucket } from "../../support/faults.ts";
import { draw, type Plan } from "./plan.ts";

const error = () => new Error("We encountered an internal error. Please try again. (10001)");

/** The real R2, as one client has it: it fails as planned. */
export function faultyBucket(plan: Plan, name: string): R2Bucket {
  const { bucket, less } = plan.rates;
  const random = plan.dice(`the R2 of ${name}`);

  async function faulty<T>(act: () => Promise<T>): Promise<T> {
    const fault = draw(random, ["R2 failed before it acted", bucket / 2], ["R2 failed after it acted", bucket / 2]);
    if (fault) plan.count(fault);
    if (fault === "R2 failed before it acted") throw error();
    const result = await act();
    if (fault) throw error();
    return result;
  }

  /** The object, or one whose content ends early: told by its size, or not. */
  async function get(key: string) {
    const fault = draw(random, ["R2 failed before it acted", bucket / 2], ["R2 gave less", less]);
    const [part, honest] = [random(), random() < 0.3];
    if (fault) plan.count(fault);
    if (fault === "R2 failed before it acted") throw error();
    const object = await env.FILES.get(key);
    if (!object || !fault) return object;
    const bytes = (await object.bytes()).slice(0, Math.floor(part * object.size));
    return { size: honest ? bytes.length : object.size, body: byteStream(bytes) };
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
