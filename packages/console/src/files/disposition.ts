/** An extended value of a header (RFC 8187 section 3.2.1). */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

/** The header with the name of a File that is uploaded: in a query it would be logged, and names of Files are encrypted in the service. */
export const dispositionOf = (name: string): string => `attachment; filename*=UTF-8''${encodeName(name)}`;
