import { describe, vi } from "vitest";
import { addReaderMethods, FixedLengthStream } from "../../../packages/host/src/platform/streams.ts";
import { r2Bucket } from "../../../src/store/buckets/r2.ts";
import { expectBucketRules } from "../../support/bucket-rules.ts";
import { createObjects } from "./objects.ts";

addReaderMethods();
vi.stubGlobal("FixedLengthStream", FixedLengthStream);

const noFault = async () => undefined;

/** The simulator's R2 behaves as R2 does: test/files/bucket.test.ts has the same rules. */
describe("a bucket in the simulator's R2", () => {
  const objects = createObjects();
  expectBucketRules(() => r2Bucket(objects.bucketFor(noFault, noFault)));
});
