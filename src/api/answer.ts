import type { Bytes, Operations } from "../../packages/client/src/schema.ts";
import type { OperationId } from "./operations.ts";

/** The answers of the service, typed by the schemas of the document. `npm run types` derives those types from src/api/openapi/. */

export type * as Schemas from "../../packages/client/src/schema.ts";

type ReadOnly<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> } : Value;

/**
 * A value of a schema as a presenter writes it. Each attribute of the schema is named; an absent optional attribute is
 * `undefined`. A presenter that lacks an attribute of the document therefore does not compile. TypeScript refuses an unknown
 * attribute only in an object literal, not in a spread. For spreads, the tests compare every answer with the document.
 */
export type Presented<Schema> = Schema extends object
  ? { readonly [Key in keyof Required<Schema>]: ReadOnly<Schema[Key]> }
  : never;

type Answers = { readonly [Id in OperationId]: Extract<Operations[keyof Operations], { id: Id }>["answer"] };

/** The JSON of the successful answer of an operation; `never` where the answer has none. */
export type AnswerBody<Id extends OperationId> = ReadOnly<Exclude<Answers[Id], Bytes | undefined>>;
