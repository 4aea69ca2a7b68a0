/** A small document for the build, until the complete one is merged. */
import type { Document } from "./types.ts";

export const document: Document = {
  openapi: "3.1.1",
  info: {
    title: "Item Vault",
    version: "0.2.0",
    summary: "A service",
    license: { name: "MIT", identifier: "MIT" },
    description: "A service for secrets.\n\nIt speaks `Connect`.",
  },
  tags: [{ name: "Items", description: "Items of a vault." }],
  servers: [{ url: "/", description: "This service" }],
  webhooks: {},
  paths: {
    "/v1/vaults/{vault}/items": {
      get: {
        operationId: "listItems",
        tags: ["Items"],
        summary: "List the Items of a vault",
        description: "It lists.",
        "x-permission": "r",
        security: [{ token: [] }],
        parameters: [
          { $ref: "#/components/parameters/vault" },
          { name: "filter", in: "query", schema: { type: "string" }, description: 'Such as `title eq "x"`.' },
        ],
        responses: {
          "200": {
            description: "The Items",
            content: { "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Summary" } } } },
          },
          "404": { $ref: "#/components/responses/NotFound" },
        },
      },
      post: {
        operationId: "createItem",
        tags: ["Items"],
        summary: "Create an Item",
        description: "It creates.",
        "x-permission": "rw",
        security: [{ token: [] }],
        parameters: [{ $ref: "#/components/parameters/vault" }],
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/Item" }, example: { title: "x", category: "LOGIN" } },
          },
        },
        responses: {
          "200": { description: "The Item", content: { "application/json": { schema: { $ref: "#/components/schemas/Item" } } } },
          "404": { $ref: "#/components/responses/NotFound" },
        },
      },
    },
  },
  components: {
    headers: {},
    parameters: {
      vault: { description: "The vault", name: "vault", in: "path", required: true, schema: { $ref: "#/components/schemas/Id" } },
    },
    responses: {
      NotFound: {
        description: "There is no such vault",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
    schemas: {
      Id: { type: "string", description: "A UUID, or its 26 characters of base32." },
      Category: { enum: ["LOGIN", "PASSWORD"] },
      Summary: {
        type: "object",
        required: ["id", "title"],
        properties: { id: { $ref: "#/components/schemas/Id" }, title: { type: "string", description: "Its title." } },
      },
      Item: {
        type: "object",
        properties: {
          category: { $ref: "#/components/schemas/Category" },
          tags: { type: ["array", "null"], items: { type: "string" } },
        },
      },
      Error: {
        type: "object",
        required: ["status", "message"],
        additionalProperties: false,
        properties: { status: { type: "integer" }, message: { type: "string" } },
      },
    },
    securitySchemes: { token: { type: "http", scheme: "bearer", description: "A token of the service." } },
  },
};
