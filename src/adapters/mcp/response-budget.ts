/** Maximum size of all responses of one exchange. */
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Maximum number of lines of all event streams: each event occupies the processor, however short it is. */
const MAX_EVENT_LINES = 10_000;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const OPENING_BRACKET = 0x5b;
/** The white space of JSON, and the bytes of a byte order mark. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, LINE_FEED, CARRIAGE_RETURN, 0xef, 0xbb, 0xbf]);

/**
 * The limits of all responses of an exchange together. The SDK handles the messages of a body in one turn, which
 * occupies the process. So batches, which the protocol no longer has, and floods of events are refused before.
 */
export class ResponseBudget {
  readonly #refuse: (problem: string) => void;
  #bytes = MAX_RESPONSE_BYTES;
  #lines = MAX_EVENT_LINES;

  /** `refuse` throws. Its argument is a phrase about the server such as `sends too many events`. */
  constructor(refuse: (problem: string) => void) {
    this.#refuse = refuse;
  }

  /** Returns the function that takes each part of a body of this media type, in order. */
  createCheck(contentType: string): (part: Uint8Array) => void {
    const isStream = /^\s*text\/event-stream\b/i.test(contentType);
    let isAtStart = true;
    return (part) => {
      this.#bytes -= part.length;
      if (this.#bytes < 0) this.#refuse(`sends more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MB`);
      if (isStream) {
        this.#lines -= countBytes(part, LINE_FEED) + countBytes(part, CARRIAGE_RETURN);
        if (this.#lines < 0) this.#refuse('sends too many events');
      } else if (isAtStart) {
        const first = part.find((byte) => !WHITE_SPACE.has(byte));
        if (first === OPENING_BRACKET) this.#refuse('sends a batch of messages');
        isAtStart = first === undefined;
      }
    };
  }
}

function countBytes(part: Uint8Array, byte: number): number {
  let count = 0;
  for (let at = part.indexOf(byte); at >= 0; at = part.indexOf(byte, at + 1)) count += 1;
  return count;
}
