import * as fc from "fast-check";

/**
 * Any Unicode character but half a surrogate pair, as `unit` of `fc.string`. fast-check's own unit `binary` draws the same, and needs a
 * second of the processor in each worker for its tables.
 */
export const CHARACTER: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10_ffff }))
  .map((code) => String.fromCodePoint(code));
