import type { Operation } from "../../../../src/api/operation.ts";
import { OPERATIONS } from "../../../../src/api/operations.ts";

/** The operations of the API by method and path. */

const PATTERNS = Object.values<Operation>(OPERATIONS).map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/:\w+/g, "[^/]+")}$`),
}));

/** Returns the operation of a request, or `undefined` if there is none. `path` is decoded. */
export function operationOf(method: string, path: string): Operation | undefined {
  const wanted = method === "HEAD" ? "GET" : method;
  return PATTERNS.find(({ operation, pattern }) => operation.method === wanted && pattern.test(path))?.operation;
}
