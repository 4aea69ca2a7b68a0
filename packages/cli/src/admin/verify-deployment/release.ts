/** The file `release.json`: the contents of a release (docs/release.md). `npm run build` writes it. */

/** The format that this program writes and reads. */
export const RELEASE_FORMAT = 1;

/** The SHA-256, in hexadecimal, of each file or module by its path or name. */
export type Hashes = Readonly<Record<string, string>>;

/** A binding that is no variable and no secret, in the form of Cloudflare's API. */
export interface ReleaseBinding {
  readonly name: string;
  readonly type: string;
  /** Only for a Durable Object. */
  readonly class_name?: string;
}

export interface Release {
  readonly format: typeof RELEASE_FORMAT;
  /** The version that /health shows. */
  readonly version: string;
  /** The commit of the sources; absent without a git checkout, and where a file differs from the commit. */
  readonly commit?: string;
  readonly worker: {
    readonly compatibilityDate: string;
    readonly compatibilityFlags: readonly string[];
    readonly modules: Hashes;
    readonly bindings: readonly ReleaseBinding[];
    /** The variables with the values of wrangler.toml, which an operator may change. */
    readonly variables: Readonly<Record<string, unknown>>;
    /** The names of the secrets. */
    readonly secrets: { readonly required: readonly string[]; readonly optional: readonly string[] };
  };
  /** The static files, by their paths in the folder that is deployed. */
  readonly assets: Hashes;
  /** The packages, by their names: the files of each by their paths in it. */
  readonly packages: Readonly<Record<string, { readonly version: string; readonly files: Hashes }>>;
}
