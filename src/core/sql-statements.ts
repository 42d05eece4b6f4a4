/** One statement of a script of SQL. */
export interface SqlStatement {
  /** The statement without comments before it and without the semicolon after it. */
  text: string;
  /** Number of the line on which it begins, from 1. */
  line: number;
  /** The command that begins, ends or prepares a transaction, e.g. `COMMIT`; null for all other statements. */
  transactionCommand: string | null;
  /** The lines after a `COPY … FROM STDIN`, as pg_dump writes them; null for all other statements. */
  copyRows: string | null;
}

/** A statement that is followed by rows. `COPY (query)` has none. */
const COPY_FROM_STDIN = /^copy\s+(?=[^\s(]).*\bfrom\s+stdin\b/is;
/** The line that ends the rows of a COPY. */
const END_OF_ROWS = /^\\\.\r?$/gm;
/** Commands of psql that pg_dump writes around its statements. */
const RESTRICTION = /\\(?:un)?restrict\b/y;

/** A dollar quote, e.g. `$$` or `$tag$`. */
const DOLLAR = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;

const codesOf = (characters: string): ReadonlySet<number> => new Set([...characters].map((one) => one.charCodeAt(0)));
const [QUOTE, DOUBLE_QUOTE, DOLLAR_SIGN, SEMICOLON, OPEN, CLOSE, MINUS, SLASH, STAR, LF, CR, BACKSLASH] = [
  ...codesOf(`'"$;()-/*\n\r\\`),
] as [number, number, number, number, number, number, number, number, number, number, number, number];
const LETTER_E = codesOf('eE');
const FIRST_NON_ASCII = 0x80;

const isAsciiLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
/** Returns whether a name may begin with a character. */
const beginsWord = (code: number): boolean => isAsciiLetter(code) || code === 95 || code >= FIRST_NON_ASCII;
/** Returns whether a name may contain a character. Dollar signs can, so they begin no quoted text inside a name. */
const isInWord = (code: number): boolean => beginsWord(code) || (code >= 48 && code <= 57) || code === DOLLAR_SIGN;
/** Returns whether a character is white space. White space beyond ASCII is rare. */
const isBlank = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || (code >= FIRST_NON_ASCII && /\s/.test(String.fromCharCode(code)));

/** Definitions whose body may be SQL between `begin atomic` and `end`. */
const ROUTINE = /^create (?:or replace )?(?:function|procedure)\b/;

/** Number of words at the beginning of a statement that decide its kind. */
const MAX_WORDS = 4;

/**
 * Splits a script into its statements, as psql does: semicolons in texts, quoted names, dollar quotes, comments,
 * parentheses and bodies of routines do not end one. A part that is not closed extends to the end of the script. The
 * rows of a COPY end with the line `\.`.
 */
export function splitStatements(script: string): SqlStatement[] {
  const splitter = new Splitter(script.replace(/^\ufeff/, ''));
  return splitter.split();
}

/**
 * Returns the command that begins, ends or prepares a transaction if a statement begins with it; null for all others.
 */
export const transactionCommandIn = (statement: string): string | null =>
  new Splitter(statement).readTransactionCommand();

/** Reads a script by the codes of its characters, because a regular expression would block for seconds on large ones. */
class Splitter {
  readonly #script: string;
  readonly #found: SqlStatement[] = [];
  #at = 0;
  /** Where the current statement begins; -1 before it. */
  #start = -1;
  #words: string[] = [];
  #isRoutine = false;
  #parentheses = 0;
  /** Depth of `begin` and `case` in the body of a routine. */
  #blocks = 0;
  /** The line of the last position that was counted. */
  #line = { at: 0, number: 1 };

  constructor(script: string) {
    this.#script = script;
  }

  split(): SqlStatement[] {
    while (this.#at < this.#script.length) this.#next();
    this.#finish(this.#script.length);
    return this.#found;
  }

  /** Returns the transaction command of the first statement. Only its first words are read. */
  readTransactionCommand(): string | null {
    while (this.#at < this.#script.length && this.#found.length === 0 && this.#words.length < MAX_WORDS) this.#next();
    return this.#found[0]?.transactionCommand ?? transactionCommandOf(this.#words);
  }

  #next(): void {
    const code = this.#script.charCodeAt(this.#at);
    if (isBlank(code)) this.#at += 1;
    else if (code === MINUS && this.#isNext(MINUS)) this.#skipLine();
    else if (code === SLASH && this.#isNext(STAR)) this.#skipComment();
    else if (code === BACKSLASH && this.#start < 0 && this.#isRestriction()) this.#skipLine();
    else this.#read(code);
  }

  #isRestriction(): boolean {
    RESTRICTION.lastIndex = this.#at;
    return RESTRICTION.test(this.#script);
  }

  #isNext(code: number): boolean {
    return this.#script.charCodeAt(this.#at + 1) === code;
  }

  #read(code: number): void {
    if (code === SEMICOLON && this.#parentheses === 0 && this.#blocks === 0) {
      this.#finish(this.#at);
      this.#at += 1;
      const last = this.#found.at(-1);
      if (last && last.copyRows !== null) last.copyRows = this.#readRows();
      return;
    }
    if (this.#start < 0) this.#start = this.#at;
    if (code === QUOTE || code === DOUBLE_QUOTE) return this.#skipQuoted(code === QUOTE ? /'/g : /"/g, 1);
    // A backslash escapes in texts with the prefix E only.
    if (LETTER_E.has(code) && this.#isNext(QUOTE)) return this.#skipQuoted(/['\\]/g, 2);
    if (beginsWord(code)) return this.#readWord();
    if (code === DOLLAR_SIGN) return this.#skipDollar();
    if (code === OPEN) this.#parentheses += 1;
    if (code === CLOSE) this.#parentheses = Math.max(0, this.#parentheses - 1);
    this.#at += 1;
  }

  #readWord(): void {
    const from = this.#at;
    do this.#at += 1;
    while (this.#at < this.#script.length && isInWord(this.#script.charCodeAt(this.#at)));
    const isFirst = this.#words.length < MAX_WORDS;
    if (!isFirst && !this.#isRoutine) return;
    const word = this.#script.slice(from, this.#at).toLowerCase();
    if (this.#isRoutine && this.#parentheses === 0) {
      if (word === 'begin' || (word === 'case' && this.#blocks > 0)) this.#blocks += 1;
      if (word === 'end') this.#blocks = Math.max(0, this.#blocks - 1);
    }
    if (!isFirst) return;
    this.#words.push(word);
    this.#isRoutine = ROUTINE.test(this.#words.join(' '));
  }

  /** Skips a text or a quoted name. `mark` finds what may end it, or escapes in it. */
  #skipQuoted(mark: RegExp, prefixLength: number): void {
    const end = this.#script[this.#at + prefixLength - 1]!;
    mark.lastIndex = this.#at + prefixLength;
    for (;;) {
      const found = mark.exec(this.#script);
      this.#at = found ? mark.lastIndex : this.#script.length;
      // A doubled quote and the character after a backslash are parts of the text.
      const isPart = found?.[0] === '\\' || this.#script[this.#at] === end;
      if (!found || !isPart) return;
      mark.lastIndex += 1;
    }
  }

  /** Skips a text between dollar quotes, or a dollar sign that begins none. */
  #skipDollar(): void {
    DOLLAR.lastIndex = this.#at;
    const [tag] = DOLLAR.exec(this.#script) ?? [];
    this.#at += tag?.length ?? 1;
    if (tag === undefined) return;
    const end = this.#script.indexOf(tag, this.#at);
    this.#at = end < 0 ? this.#script.length : end + tag.length;
  }

  #skipLine(): void {
    while (this.#at < this.#script.length && !isLineEnd(this.#script.charCodeAt(this.#at))) this.#at += 1;
  }

  /** Skips a comment, in which comments may be nested. */
  #skipComment(): void {
    const mark = /\/\*|\*\//g;
    mark.lastIndex = this.#at + 2;
    for (let depth = 1; depth > 0;) {
      const found = mark.exec(this.#script);
      this.#at = found ? mark.lastIndex : this.#script.length;
      if (!found) return;
      depth += found[0] === '/*' ? 1 : -1;
    }
  }

  /** Reads the rows of a COPY, from the next line to the line that ends them. */
  #readRows(): string {
    this.#skipLine();
    if (this.#script.charCodeAt(this.#at) === CR) this.#at += 1;
    const from = this.#at + 1;
    END_OF_ROWS.lastIndex = from;
    const end = END_OF_ROWS.exec(this.#script);
    this.#at = end ? END_OF_ROWS.lastIndex : this.#script.length;
    return this.#script.slice(from, end?.index);
  }

  #finish(end: number): void {
    if (this.#start >= 0) {
      const text = this.#script.slice(this.#start, end).trimEnd();
      this.#found.push({
        text,
        line: this.#lineOf(this.#start),
        transactionCommand: transactionCommandOf(this.#words),
        copyRows: this.#words[0] === 'copy' && COPY_FROM_STDIN.test(text) ? '' : null,
      });
    }
    this.#start = -1;
    this.#words = [];
    this.#isRoutine = false;
    this.#parentheses = 0;
    this.#blocks = 0;
  }

  /** Returns the line of a position at or after the last one. */
  #lineOf(at: number): number {
    this.#line = { at, number: this.#line.number + countLineEnds(this.#script, this.#line.at, at) };
    return this.#line.number;
  }
}

const isLineEnd = (code: number): boolean => code === LF || code === CR;

/** Returns the number of line ends in a part of a text. A line ends with LF, CR LF or CR. */
function countLineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LF || (code === CR && !(at + 1 < to && text.charCodeAt(at + 1) === LF))) count += 1;
  }
  return count;
}

/** Returns the number of the line of a position in a text, counted from the number of its first line. */
export const lineAt = (text: string, position: number, firstLine: number): number =>
  firstLine + countLineEnds(text, 0, position);

const TRANSACTION_COMMANDS = new Set(['begin', 'start', 'commit', 'end', 'abort']);

/** Returns the transaction command of a statement with these first words. Savepoints stay in a transaction. */
function transactionCommandOf([first = '', second = '', third = '']: readonly string[]): string | null {
  const isCommand =
    TRANSACTION_COMMANDS.has(first) ||
    (first === 'prepare' && second === 'transaction') ||
    (first === 'rollback' && second !== 'to' && third !== 'to');
  return isCommand ? first.toUpperCase() : null;
}
