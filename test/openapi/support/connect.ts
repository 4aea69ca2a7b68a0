/**
 * Facts of 1Password's published document of the Connect API, version 1.7.1 (github.com/1Password/connect, docs/openapi/spec.yaml):
 * paths, methods, statuses, names of parameters, and names, types and words of attributes. Its texts are not copied.
 */

interface ConnectOperation {
  readonly statuses: readonly number[];
  /** Query parameters. */
  readonly query: readonly string[];
}

/** By method and path, with the parameters of paths as in our document. */
export const OPERATIONS: Readonly<Record<string, ConnectOperation>> = {
  "GET /v1/activity": { statuses: [200, 401], query: ["limit", "offset"] },
  "GET /v1/vaults": { statuses: [200, 401], query: ["filter"] },
  "GET /v1/vaults/{vault}": { statuses: [200, 401, 403, 404], query: [] },
  "GET /v1/vaults/{vault}/items": { statuses: [200, 401, 404], query: ["filter"] },
  "POST /v1/vaults/{vault}/items": { statuses: [200, 400, 401, 403, 404], query: [] },
  "GET /v1/vaults/{vault}/items/{item}": { statuses: [200, 401, 403, 404], query: [] },
  "PUT /v1/vaults/{vault}/items/{item}": { statuses: [200, 400, 401, 403, 404], query: [] },
  "DELETE /v1/vaults/{vault}/items/{item}": { statuses: [204, 401, 403, 404], query: [] },
  "PATCH /v1/vaults/{vault}/items/{item}": { statuses: [200, 401, 403, 404], query: [] },
  "GET /v1/vaults/{vault}/items/{item}/files": { statuses: [200, 401, 404, 413], query: ["inline_files"] },
  "GET /v1/vaults/{vault}/items/{item}/files/{file}": { statuses: [200, 401, 403, 404, 413], query: ["inline_files"] },
  "GET /v1/vaults/{vault}/items/{item}/files/{file}/content": { statuses: [200, 401, 404], query: [] },
  "GET /heartbeat": { statuses: [200], query: [] },
  "GET /health": { statuses: [200], query: [] },
  "GET /metrics": { statuses: [200], query: [] },
};

/** The type of an attribute, or its words. `[]` after a name: an array. */
type Shape = string | readonly string[];

/** Attributes of schemas. In: the names of ours. */
export const SCHEMAS: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  Error: { status: "integer", message: "string" },
  File: { id: "string", name: "string", size: "integer", content_path: "string", section: "object", content: "string" },
  Vault: {
    id: "string",
    name: "string",
    description: "string",
    attributeVersion: "integer",
    contentVersion: "integer",
    items: "integer",
    type: ["USER_CREATED", "PERSONAL", "EVERYONE", "TRANSFER"],
    createdAt: "string",
    updatedAt: "string",
  },
  Recipe: { length: "integer", characterSets: "array", excludeCharacters: "string" },
  ItemSummary: {
    id: "string",
    title: "string",
    vault: "object",
    category: [
      "LOGIN",
      "PASSWORD",
      "API_CREDENTIAL",
      "SERVER",
      "DATABASE",
      "CREDIT_CARD",
      "MEMBERSHIP",
      "PASSPORT",
      "SOFTWARE_LICENSE",
      "OUTDOOR_LICENSE",
      "SECURE_NOTE",
      "WIRELESS_ROUTER",
      "BANK_ACCOUNT",
      "DRIVER_LICENSE",
      "IDENTITY",
      "REWARD_PROGRAM",
      "DOCUMENT",
      "EMAIL_ACCOUNT",
      "SOCIAL_SECURITY_NUMBER",
      "MEDICAL_RECORD",
      "SSH_KEY",
      "CUSTOM",
    ],
    urls: "array",
    favorite: "boolean",
    tags: "array",
    version: "integer",
    state: ["ARCHIVED", "DELETED"],
    createdAt: "string",
    updatedAt: "string",
    lastEditedBy: "string",
  },
  Url: { label: "string", primary: "boolean", href: "string" },
  Section: { id: "string", label: "string" },
  Field: {
    id: "string",
    section: "object",
    type: ["STRING", "EMAIL", "CONCEALED", "URL", "OTP", "DATE", "MONTH_YEAR", "MENU", "SSHKEY"],
    purpose: ["", "USERNAME", "PASSWORD", "NOTES"],
    label: "string",
    value: "string",
    generate: "boolean",
    recipe: "object",
    entropy: "number",
  },
  ActivityEntry: {
    requestId: "string",
    timestamp: "string",
    action: ["READ", "CREATE", "UPDATE", "DELETE"],
    result: ["SUCCESS", "DENY"],
    actor: "object",
    resource: "object",
  },
  Actor: { id: "string", account: "string", jti: "string", userAgent: "string", requestIp: "string" },
  ActivityResource: { type: ["ITEM", "VAULT"], vault: "object", item: "object", itemVersion: "integer" },
  PatchOperation: { op: ["add", "remove", "replace"], path: "string", value: "object" },
  Dependency: { service: "string", status: "string", message: "string" },
  Health: { name: "string", version: "string", dependencies: "array" },
};

/** Every difference between the part of our document that Connect has, and Connect's, with its reason. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  "ActivityResource.items is ours": "one request of endpoint 19 reads several Items (contract 16.12)",
  "Actor.account is Connect's": "there are no accounts; the actor is a token, the admin or the service (contract 13.11)",
  "Actor.originUnknown is ours": "the root key that sealed the origin was removed (contract 20.6)",
  "Dependency.status: ACTIVE WARNING ERROR, in Connect string":
    "a closed list, so that a monitor can decide by it (contract 13.2)",
  "Field.generate is Connect's":
    "Connect has one schema for both directions; ours has it in FieldInput, and no answer has it (contract 2.4)",
  "Field.purpose: USERNAME PASSWORD NOTES, in Connect  USERNAME PASSWORD NOTES":
    'no answer has the purpose "", because clients in Rust and C# cannot read it (contract 2.8); FieldInput has it',
  "Field.recipe is Connect's": "as Field.generate: it is in FieldInput",
  "Field.totp is ours": "Connect returns it too, but does not document it; its SDKs read it (contract 2.11)",
  "Field.type: STRING EMAIL CONCEALED URL OTP DATE MONTH_YEAR MENU SSHKEY ADDRESS PHONE GENDER REFERENCE FILE CREDIT_CARD_NUMBER CREDIT_CARD_TYPE, in Connect STRING EMAIL CONCEALED URL OTP DATE MONTH_YEAR MENU SSHKEY":
    "types that Connect sends and does not document, and that clients send again (contract 2.7)",
  "GET /v1/activity ?action is ours": "a filter (contract 13.25)",
  "GET /v1/activity ?actor is ours": "a filter (contract 13.25)",
  "GET /v1/activity ?before is ours": "pages of any depth (contract 13.19)",
  "GET /v1/activity ?item is ours": "a filter (contract 13.25)",
  "GET /v1/activity ?result is ours": "a filter (contract 13.25)",
  "GET /v1/activity ?vault is ours": "a filter (contract 13.25)",
  "GET /v1/vaults/{vault}/items ?archived is ours": "archived Items (contract 14.15)",
  "GET /v1/vaults/{vault}/items ?cursor is ours": "pages (contract 11.3)",
  "GET /v1/vaults/{vault}/items ?include is ours": "user names in lists (contract 11.8)",
  "GET /v1/vaults/{vault}/items ?limit is ours": "pages (contract 11.3)",
  "GET /v1/vaults/{vault}/items/{item}/files ?inline_content is ours": "the name that the SDKs of Connect send (contract 9.8)",
  "GET /v1/vaults/{vault}/items/{item}/files/{file} ?inline_content is ours":
    "the name that the SDKs of Connect send (contract 9.8)",
  "GET /v1/vaults/{vault}/items/{item}/files/{file}/content ?version is ours":
    "the content of an earlier version (contract 14.5)",
  "ItemSummary.username is ours": "only where the request asks for it (contract 11.8)",
  "PatchOperation.value: any, in Connect object": "Connect's own examples send strings and booleans",
  "Vault.type: USER_CREATED, in Connect USER_CREATED PERSONAL EVERYONE TRANSFER":
    "every vault is made by the admin (contract 2.5)",
  "status 206 is ours": "ranges of a content (contract 9.12)",
  "status 304 is ours": "conditional requests (contract 9.11, 10.4)",
  "status 400 is ours": "ids, filters and parameters that are malformed, on every operation that has them (contract 4.3)",
  "status 401 is ours": "on /metrics, which needs a token here (contract 13.4)",
  "status 403 is ours": "for requests by the cookie of the console only (contract 24.2)",
  "status 404 is ours": "on /metrics, which does not exist without its secret (contract 13.4)",
  "status 409 is ours": "Idempotency-Key (contract 10.10)",
  "status 412 is ours": "If-Match (contract 10.3)",
  "status 413 is ours": "bodies over the limit (contract 12.1)",
  "status 415 is ours": "bodies with a Content-Encoding (contract 4.3)",
  "status 416 is ours": "ranges beyond a content (contract 9.12)",
  "status 429 is ours": "rate limits (contract 12.1)",
  "status 500 is ours": "defects of the service and damaged records (contract 4.3); Connect does not document its own",
  "status 503 is ours": "the service or its storage is not available (contract 4.3); Connect does not document its own",
  "status 507 is ours": "quotas and a full database (contract 12.6, 12.7)",
};
