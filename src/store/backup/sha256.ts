/** SHA-256 (FIPS 180-4) of bytes, in hexadecimal: the name of a part or a manifest. */
export const sha256 = async (bytes: Uint8Array): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
