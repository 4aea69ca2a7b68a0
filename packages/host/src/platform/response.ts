/**
 * The `Response` of the Worker in Node. A body of text or bytes becomes a stream only when it is read as one: a stream for each answer would
 * take a third of a request's CPU. Unlike Node's `Response`, it can have a WebSocket, with the status 101.
 */

const Native = globalThis.Response;

type Source = string | Uint8Array | null;
type Init = ResponseInit & { readonly webSocket?: WebSocket | null };

const isSource = (body: unknown): body is Source | undefined =>
  body === null || body === undefined || typeof body === "string" || body instanceof Uint8Array;

export class HostResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly webSocket: WebSocket | null;
  /** The body, or undefined if it is a stream or was made one. */
  #whole: Source | undefined;
  #native: Response | undefined;

  constructor(
    body?: ConstructorParameters<typeof Native>[0],
    { status = 200, statusText = "", headers, webSocket = null }: Init = {},
  ) {
    this.status = status;
    this.statusText = statusText;
    this.headers = new Headers(headers);
    this.webSocket = webSocket;
    if (isSource(body)) this.#whole = body ?? null;
    else this.#native = new Native(body);
    if (typeof body === "string" && !this.headers.has("Content-Type"))
      this.headers.set("Content-Type", "text/plain;charset=UTF-8");
  }

  static json(value: unknown, init?: Init): HostResponse {
    const response = new HostResponse(JSON.stringify(value), init);
    if (!new Headers(init?.headers).has("Content-Type")) response.headers.set("Content-Type", "application/json");
    return response;
  }

  /** Returns a body that is no stream, or undefined. */
  static wholeOf(response: Response | HostResponse): Source | undefined {
    return #whole in response ? response.#whole : undefined;
  }

  /** Reads the body with the methods of Node. */
  get #body(): Response {
    this.#native ??= new Native(this.#whole);
    this.#whole = undefined;
    return this.#native;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get body(): ReadableStream | null {
    return this.#whole === null ? null : this.#body.body;
  }

  get bodyUsed(): boolean {
    return this.#native?.bodyUsed ?? false;
  }

  text(): Promise<string> {
    return this.#body.text();
  }

  json(): Promise<unknown> {
    return this.#body.json();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#body.arrayBuffer();
  }
}

// Any missing member throws: the methods of Node refuse other objects.
Object.setPrototypeOf(HostResponse.prototype, Native.prototype);
