import type { Permission } from "../model/permission.ts";
import type { Operation } from "./operation.ts";

/**
 * The APIs of other products that the service also serves, where the setting DOORS names them. They are not in the catalogue of the API's
 * own operations (operations.ts): otherwise the OpenAPI document and its clients would have the shapes of other products.
 */

/** The base of the read API of Vault KV v2 (contract 29). */
export const VAULT_DOOR = "/vault/v1";

/** A cookie is never accepted. */
const BY_TOKEN = { by: "token", direct: true } as const;

/** An operation below `/vault`. A POST is also served as PUT, which the clients in Go send. */
type KvOperation = Operation & {
  /** The permission that the token needs in the vault that the path names. */
  readonly needs?: Permission;
};

/** `:mount` is a vault, by name or id, and `:path` an Item, by title or id. */
export const KV_OPERATIONS = {
  kvHealth: { method: "GET", path: `${VAULT_DOOR}/sys/health`, access: { by: "everybody" } },
  kvMount: {
    method: "GET",
    path: `${VAULT_DOOR}/sys/internal/ui/mounts/:mount/*`,
    access: BY_TOKEN,
    action: "READ",
    needs: "l",
  },
  kvLogin: { method: "POST", path: `${VAULT_DOOR}/auth/:method/login`, access: { by: "everybody" }, json: true },
  kvToken: { method: "GET", path: `${VAULT_DOOR}/auth/token/lookup-self`, access: BY_TOKEN, action: "UNLOGGED" },
  kvRenew: { method: "POST", path: `${VAULT_DOOR}/auth/token/renew-self`, access: { by: "everybody" } },
  kvRevoke: {
    method: "POST",
    path: `${VAULT_DOOR}/auth/token/revoke-self`,
    access: BY_TOKEN,
    resource: "TOKEN",
    action: "DELETE",
  },
  kvRead: { method: "GET", path: `${VAULT_DOOR}/:mount/data/:path{[^]+}`, access: BY_TOKEN, action: "READ", needs: "r" },
  kvList: { method: "GET", path: `${VAULT_DOOR}/:mount/metadata`, access: BY_TOKEN, action: "READ", needs: "l" },
  kvMetadata: {
    method: "GET",
    path: `${VAULT_DOOR}/:mount/metadata/:path{[^]+}`,
    access: BY_TOKEN,
    action: "READ",
    needs: "l",
  },
} as const satisfies Readonly<Record<string, KvOperation>>;

export type KvOperationId = keyof typeof KV_OPERATIONS;
