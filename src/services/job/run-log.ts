/** Maximum size of the log of a task, in bytes of UTF-8. */
const MAX_LOG_BYTES = 65_536;
const CUT = '… The rest of the log was left out.';

/** The log of one task: lines with their times, up to `MAX_LOG_BYTES`. */
export class RunLog {
  #text: string;
  #bytes: number;
  #isCut: boolean;

  /** `text` is the text that the log already has. */
  constructor(text = '') {
    this.#text = text;
    this.#bytes = Buffer.byteLength(text);
    this.#isCut = text.endsWith(CUT);
  }

  /** Adds one line, or several. Nothing is added once the log is full. */
  readonly add = (line: string): void => {
    if (this.#isCut) return;
    const entry = `${new Date().toISOString()} ${line.trimEnd()}\n`;
    const bytes = Buffer.byteLength(entry);
    this.#isCut = this.#bytes + bytes > MAX_LOG_BYTES - Buffer.byteLength(CUT);
    this.#text += this.#isCut ? CUT : entry;
    this.#bytes += bytes;
  };

  toString(): string {
    return this.#text;
  }
}
