/** Lets tests in Node send a stream as they do in workerd. */
class TestRequest extends Request {
  /** Whether the length of the body is unknown. */
  readonly isStreamed: boolean;

  constructor(input: RequestInfo | URL, init?: RequestInit) {
    const isStreamed = init?.body instanceof ReadableStream;
    super(input, isStreamed ? ({ ...init, duplex: "half" } as RequestInit) : init);
    this.isStreamed = isStreamed;
  }
}

export type { TestRequest };
Object.assign(globalThis, { Request: TestRequest });
