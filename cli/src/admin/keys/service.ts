import type { Client } from "@item-vault/client";
import { request } from "../../api/answers.ts";

/** The root keys as the service describes them (contract 20.2). */

export const KEYS = "/v1/admin/keys";

export interface ServiceKey {
  readonly id: string;
  /** `missing`: rows need the key, and the service does not have it. */
  readonly state: "staged" | "active" | "retired" | "missing" | "removed";
  /** 16 hexadecimal digits; absent when it is not known. */
  readonly fingerprint?: string;
  /** 32 bytes in base64; absent when the service does not have it. */
  readonly publicKey?: string;
  /** Whether the service accepts tokens that the key signed. */
  readonly verifies: boolean;
  /** How many rows are sealed under the key. */
  readonly vaults: number;
  readonly tokens: number;
  readonly endedTokens: number;
  /** Whether the newest backup does not open without it. */
  readonly backup: boolean;
  /** Whether it may be taken out of ROOT_KEYS: nothing needs it. */
  readonly removable: boolean;
}

export const loadKeys = (admin: Client): Promise<ServiceKey[]> => request<ServiceKey[]>(admin, "GET", KEYS);
