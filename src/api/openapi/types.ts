/** The part of OpenAPI 3.1.1 and JSON Schema 2020-12 that the document uses. */

export type JsonType = "string" | "integer" | "number" | "boolean" | "object" | "array" | "null";

export interface Reference {
  readonly $ref: string;
  /** Replaces the description of the referenced object (OpenAPI 3.1.1 section 4.8.23). */
  readonly description?: string;
}

/** A schema of JSON Schema 2020-12. Only a description may stand next to `$ref`. */
export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly contentEncoding?: "base64";
  readonly contentMediaType?: string;
  /** The schema of the content of a text: here `data` of each event in a stream. */
  readonly contentSchema?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly maxProperties?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

export interface Header {
  readonly description: string;
  /** True if every answer with the status has the header. */
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Readonly<Record<string, MediaType>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** An Operation Object (OpenAPI 3.1.1 section 4.8.10). */
export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** The permission that the token needs in the vault of the path (contract 8.4). */
  readonly "x-permission"?: string;
}

export const METHODS = ["get", "put", "post", "delete", "patch"] as const;
export type Method = (typeof METHODS)[number];
export type PathItem = Readonly<Partial<Record<Method, OperationObject>>>;

export type SecurityScheme = { readonly description: string } & (
  | { readonly type: "http"; readonly scheme: "bearer"; readonly bearerFormat?: string }
  | { readonly type: "apiKey"; readonly in: "cookie"; readonly name: string }
);

export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly headers: Readonly<Record<string, Header>>;
  readonly responses: Readonly<Record<string, Response>>;
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
}

export interface Document {
  readonly openapi: "3.1.1";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
    readonly contact: { readonly name: string };
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** The messages that the service sends to webhooks (contract 17.7). */
  readonly webhooks: Readonly<Record<string, PathItem>>;
  readonly components: Components;
}
