import {
  type Document,
  METHODS,
  type OperationObject,
  type Parameter,
  type PathItem,
  type Reference,
} from "../../src/api/openapi/types.ts";

/** How the build finds its way in the OpenAPI document. */

/** An operation with its place. */
export interface Placed {
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
  readonly parameters: readonly Parameter[];
}

/** The object that a `$ref` of this document names, or the object itself. Throws when the reference names nothing. */
export function resolve<T extends object>(document: Document, value: T | Reference): T {
  if (!("$ref" in value)) return value;
  let found: unknown = document;
  for (const key of value.$ref.replace(/^#\//, "").split("/")) found = (found as Record<string, unknown> | undefined)?.[key];
  if (found === undefined) throw new Error(`${value.$ref} names nothing in the document`);
  return resolve(document, found as T);
}

/** Every operation of these paths, in their order. */
export function operationsOf(document: Document, paths: Readonly<Record<string, PathItem>> = document.paths): Placed[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = (operation.parameters ?? []).map((parameter) => resolve<Parameter>(document, parameter));
      return [{ method: method.toUpperCase(), path, operation, parameters }];
    }),
  );
}

/** The name of a component from its reference: `Item` of `#/components/schemas/Item`. */
export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);
