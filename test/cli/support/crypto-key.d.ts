import type { webcrypto } from "node:crypto";

/** The type of the catalogue of tables (src/store/tables/), which Node's declarations have in another place. */
declare global {
  type CryptoKey = webcrypto.CryptoKey;
}
