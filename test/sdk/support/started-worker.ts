/** The service as tests by HTTP start it. */

export type Vars = Readonly<Record<string, string>>;

export interface StartedWorker {
  /** The URL on which the service listens, with a slash at the end. */
  readonly url: string;
  readonly database: TestDatabase;
  readonly close: () => Promise<void>;
}

/** The part of D1 that tests use. */
export interface TestDatabase {
  readonly prepare: (sql: string) => {
    readonly all: <Row>() => Promise<{ readonly results: readonly Row[] }>;
    readonly run: () => Promise<unknown>;
  };
}
