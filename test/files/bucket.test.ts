import { env } from "cloudflare:workers";
import { describe } from "vitest";
import { r2Bucket } from "../../src/store/buckets/r2.ts";
import { expectBucketRules } from "../support/bucket-rules.ts";

describe("a bucket in R2", () => {
  expectBucketRules(() => r2Bucket(env.FILES));
});
