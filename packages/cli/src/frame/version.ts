/** The build replaces it by the version of package.json. */
declare const CLI_VERSION: string | undefined;

/** The version of the command line. */
export const VERSION = typeof CLI_VERSION === "string" ? CLI_VERSION : "development";
