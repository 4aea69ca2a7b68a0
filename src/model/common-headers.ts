/** The headers of every answer (contract 1.7) that are always the same. The SDKs of Connect require the version. */
export const COMMON_HEADERS = {
  "1Password-Connect-Version": "1.8.1",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
} as const;
