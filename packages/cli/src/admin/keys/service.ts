import type { Client, RootKey } from "@item-vault/client";

/** The root keys of the service (contract 20.2). */
export const loadKeys = async (admin: Client): Promise<RootKey[]> => (await admin.call("GET /v1/admin/keys")).data;
