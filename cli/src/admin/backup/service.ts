/** The requests about backups (contract 21). */
export const BACKUPS = "/v1/admin/backups";
