import { invalid } from '../../core/input-checks.ts';

/** A command as a shell reads it. */
export interface SplitCommand {
  /** Values of the variables that are set before the command. */
  env: Record<string, string>;
  /** The command and its arguments. */
  words: string[];
}

/** A word, and the number of its first characters that are not quoted. */
interface Word {
  text: string;
  plainLength: number;
}

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=/;

/**
 * Splits a command into words, as a POSIX shell does. Nothing is expanded: `$NAME`, `*` and `~` stay unchanged. Throws
 * BAD_USER_INPUT naming `path` for operators, substitutions and open quotes.
 */
export function splitCommand(command: string, path: string): SplitCommand {
  const words = new CommandReader(command, path).readAll();
  const first = words.findIndex(({ text, plainLength }) => {
    const match = ASSIGNMENT.exec(text);
    return !match || match[0].length > plainLength;
  });
  const count = first < 0 ? words.length : first;
  return {
    env: Object.fromEntries(words.slice(0, count).map(({ text }) => toVariable(text))),
    words: words.slice(count).map(({ text }) => text),
  };
}

function toVariable(text: string): [name: string, value: string] {
  const end = text.indexOf('=');
  return [text.slice(0, end), text.slice(end + 1)];
}

const OPERATOR = /[|&;<>()\n]/;

/** Reads a command from its first character to its last. */
class CommandReader {
  readonly #source: string;
  readonly #path: string;
  #position = 0;
  #word: Word | null = null;
  readonly #words: Word[] = [];

  constructor(source: string, path: string) {
    this.#path = path;
    // A line break after a backslash continues the command.
    this.#source = source.replaceAll('\r\n', '\n').trim();
  }

  readAll(): Word[] {
    while (this.#position < this.#source.length) this.#readPart();
    this.#endWord();
    return this.#words;
  }

  /** Reads a space, a quoted part, or one character. */
  #readPart(): void {
    const character = this.#source[this.#position++]!;
    if (character === ' ' || character === '\t') this.#endWord();
    else if (character === '#' && this.#word === null) this.#skipComment();
    else if (character === "'") this.#append(this.#readSingleQuoted(), false);
    else if (character === '"') this.#append(this.#readDoubleQuoted(), false);
    else if (character === '\\') this.#readEscaped();
    else {
      this.#checkSubstitution(character);
      if (OPERATOR.test(character))
        throw invalid(this.#path, `must not contain ${JSON.stringify(character)} outside of quotes`);
      this.#append(character, true);
    }
  }

  #append(text: string, isPlain: boolean): void {
    this.#word ??= { text: '', plainLength: 0 };
    if (isPlain && this.#word.plainLength === this.#word.text.length) this.#word.plainLength += text.length;
    this.#word.text += text;
  }

  #endWord(): void {
    if (this.#word) this.#words.push(this.#word);
    this.#word = null;
  }

  #skipComment(): void {
    const end = this.#source.indexOf('\n', this.#position);
    this.#position = end < 0 ? this.#source.length : end;
  }

  /** Substitutions run a command even within quotes. */
  #checkSubstitution(character: string): void {
    if (character === '`' || (character === '$' && this.#source[this.#position] === '('))
      throw invalid(this.#path, 'must not contain ` or $( outside of single quotes');
  }

  #readEscaped(): void {
    const next = this.#source[this.#position++];
    if (next === undefined) throw invalid(this.#path, 'must not end with a backslash');
    if (next !== '\n') this.#append(next, false);
  }

  #readSingleQuoted(): string {
    const end = this.#source.indexOf("'", this.#position);
    if (end < 0) throw invalid(this.#path, 'has an open quote');
    const text = this.#source.slice(this.#position, end);
    this.#position = end + 1;
    return text;
  }

  #readDoubleQuoted(): string {
    let text = '';
    while (this.#position < this.#source.length) {
      const character = this.#source[this.#position++]!;
      if (character === '"') return text;
      this.#checkSubstitution(character);
      if (character !== '\\') text += character;
      else {
        const next = this.#source[this.#position] ?? '';
        if (!/["$`\\\n]/.test(next)) text += character;
        else {
          this.#position += 1;
          if (next !== '\n') text += next;
        }
      }
    }
    throw invalid(this.#path, 'has an open quote');
  }
}
