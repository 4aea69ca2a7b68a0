/** Parses a stream of server-sent events (WHATWG HTML, section 9.2). */

export interface ServerSentEvent {
  /** The last `id` of the stream; empty before the first one. */
  readonly id: string;
  /** `message` when the block names no event. */
  readonly event: string;
  /** Empty for a block that has only an `id`. */
  readonly data: string;
}

/** A line ends with CRLF, LF or CR. A CR at the end of a chunk may be the first half of a CRLF. */
const LINE_END = /\r\n|\n|\r(?!$)/;

/** The blocks of a stream, as they arrive. A block that the stream ends in is dropped. */
export async function* parseEventStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let fields: [string, string][] = [];
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(LINE_END);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line !== "") {
        const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line)!;
        fields.push([name, value]);
        continue;
      }
      const last = (wanted: string) => fields.findLast(([name]) => name === wanted)?.[1];
      id = last("id") ?? id;
      const data = fields.filter(([name]) => name === "data").map(([, value]) => value);
      if (fields.some(([name]) => name !== "")) yield { id, event: last("event") ?? "message", data: data.join("\n") };
      fields = [];
    }
  }
}
