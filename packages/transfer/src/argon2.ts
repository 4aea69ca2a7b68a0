import type * as HashWasm from "hash-wasm";
// The main module of the package has every algorithm, 186 KB more, and the bundler cannot leave them out.
// @ts-expect-error The package has types for its main module only.
import library from "hash-wasm/dist/argon2.umd.min.js";

/** Argon2 (RFC 9106). Load this module by `import()`, because few sources need it. */
export const { argon2d, argon2id } = library as Pick<typeof HashWasm, "argon2d" | "argon2id">;
