import type { IncomingMessage } from "node:http";
import type { DatabaseSync } from "node:sqlite";

/** The account of the server that answers for Cloudflare (cloudflare.ts): its state, and the form of a route that reads or changes it. */

export interface Request {
  readonly method: string;
  /** Below `/accounts/<account>`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Buffer;
  /** The segments that the names of the path stand for. */
  readonly params: readonly string[];
}

export interface Answer {
  readonly status?: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  /** What is answered instead of JSON. */
  readonly raw?: Response;
}

/** By method and path, below `/accounts/<account>`, what answers. `:name` stands for one segment. */
export type Routes = Readonly<Record<string, (request: Request) => Answer | Promise<Answer>>>;

export const refused = (status: number, code: number, message: string): Answer => ({ status, error: { code, message } });

export interface Database {
  readonly id: string;
  readonly name: string;
  sqlite: DatabaseSync;
  /** What the database was at a minute, by its bookmark. */
  readonly bookmarks: { readonly bookmark: string; readonly time: number; readonly file: string }[];
}

export type Databases = Map<string, Database>;

export interface Binding {
  readonly type: string;
  readonly name: string;
  /** Of a variable or a secret. */
  readonly text?: string;
  /** Of a variable that is no text. */
  readonly json?: unknown;
  /** Of a database. */
  readonly id?: string;
  readonly bucket_name?: string;
  readonly queue_name?: string;
  /** Of a Durable Object. */
  readonly class_name?: string;
  readonly script_name?: string;
}

export interface Version {
  readonly id: string;
  readonly bindings: readonly Binding[];
  /** The modules of the script, by their names. */
  readonly modules: ReadonlyMap<string, string>;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  /** Workers that get its requests and logs, and whether Logpush does. */
  readonly tails?: readonly string[];
  readonly logpush?: boolean;
  /** What is uploaded of the setting. */
  readonly observability: object | undefined;
  /** Other settings that the API shows. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** The hashes of the static files, by their paths. */
  readonly assets: Readonly<Record<string, string>>;
}

export interface Worker {
  readonly versions: Version[];
  /** The version that serves. */
  active: Version;
  /** The secrets and versions in the order in which they came to serve. */
  readonly deployments: { id: string; version: string }[];
  schedules: unknown[];
  onSubdomain: boolean;
  migrationTag: string | undefined;
}

export type Workers = Map<string, Worker>;

export interface Consumer {
  readonly consumer_id: string;
  readonly type: "worker";
  readonly script: string;
  settings: unknown;
}

export interface State {
  readonly databases: Databases;
  readonly buckets: Set<string>;
  readonly queues: Map<string, { id: string; consumers: Consumer[] }>;
  readonly workers: Workers;
  /** The contents of static files, by the hashes that wrangler gives them. */
  readonly assets: Map<string, Buffer>;
  /** The static files of the newest upload of a Worker, by its name: the hashes by their paths. */
  readonly manifests: Map<string, Readonly<Record<string, string>>>;
  /** The ids of the accounts that the login reaches. */
  accounts: readonly string[];
}
