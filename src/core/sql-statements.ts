/** One statement of a script of SQL. */
export interface SqlStatement {
  /** The statement without comments before it and without the semicolon after it. */
  text: string;
  /** Number of the line on which it begins, from 1. */
  line: number;
  /** The command that begins, ends or prepares a transaction, e.g. `COMMIT`; null for all other statements. */
  transactionCommand: string | null;
}

/** A part of a script that is read at once. */
const TOKEN = new RegExp(
  [
    String.raw`(?<blank>\s+|--[^\n\r]*)`,
    String.raw`(?<comment>/\*)`,
    // A backslash escapes in texts with the prefix E only.
    String.raw`(?<quote>[eE]?'|")`,
    String.raw`(?<dollar>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)`,
    // A name may contain dollar signs, so it never begins a quoted text.
    String.raw`(?<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)`,
    String.raw`(?<other>[\s\S])`,
  ].join('|'),
  'y',
);

/** Definitions whose body may be SQL between `begin atomic` and `end`. */
const ROUTINE = /^create (?:or replace )?(?:function|procedure)\b/;

/** Number of words at the beginning of a statement that decide what it is. */
const MAX_WORDS = 4;

/**
 * Splits a script into its statements, as psql does: semicolons in texts, quoted names, dollar quotes, comments,
 * parentheses and bodies of routines end none. What is not closed extends to the end of the script.
 */
export function splitStatements(script: string): SqlStatement[] {
  const splitter = new Splitter(script.replace(/^\ufeff/, ''));
  return splitter.split();
}

class Splitter {
  readonly #script: string;
  readonly #found: SqlStatement[] = [];
  #at = 0;
  /** Where the current statement begins; -1 before it. */
  #start = -1;
  #words: string[] = [];
  #parentheses = 0;
  /** Depth of `begin` and `case` in the body of a routine. */
  #blocks = 0;
  /** The line of the last position that was counted. */
  #line = { at: 0, number: 1 };

  constructor(script: string) {
    this.#script = script;
  }

  split(): SqlStatement[] {
    while (this.#at < this.#script.length) {
      const from = this.#at;
      TOKEN.lastIndex = from;
      const { groups = {} } = TOKEN.exec(this.#script)!;
      this.#at = TOKEN.lastIndex;
      if (groups['blank'] !== undefined) continue;
      if (groups['comment'] !== undefined) this.#skipComment();
      else this.#read(from, groups);
    }
    this.#finish(this.#script.length);
    return this.#found;
  }

  #read(from: number, { quote, dollar, word, other }: Record<string, string | undefined>): void {
    if (other === ';' && this.#parentheses === 0 && this.#blocks === 0) return this.#finish(from);
    if (this.#start < 0) this.#start = from;
    if (quote !== undefined) this.#skipQuoted(quote);
    if (dollar !== undefined) {
      const end = this.#script.indexOf(dollar, this.#at);
      this.#at = end < 0 ? this.#script.length : end + dollar.length;
    }
    if (word !== undefined) this.#readWord(word.toLowerCase());
    if (other === '(') this.#parentheses += 1;
    if (other === ')') this.#parentheses = Math.max(0, this.#parentheses - 1);
  }

  #readWord(word: string): void {
    if (this.#parentheses === 0 && ROUTINE.test(this.#words.join(' '))) {
      if (word === 'begin' || (word === 'case' && this.#blocks > 0)) this.#blocks += 1;
      if (word === 'end') this.#blocks = Math.max(0, this.#blocks - 1);
    }
    if (this.#words.length < MAX_WORDS) this.#words.push(word);
  }

  /** Skips a text or a quoted name. */
  #skipQuoted(quote: string): void {
    const end = quote.at(-1)!;
    const mark = quote.length > 1 ? /['\\]/g : end === '"' ? /"/g : /'/g;
    mark.lastIndex = this.#at;
    for (;;) {
      const found = mark.exec(this.#script);
      this.#at = found ? mark.lastIndex : this.#script.length;
      // A doubled quote and what follows a backslash are parts of the text.
      const isPart = found?.[0] === '\\' || this.#script[this.#at] === end;
      if (!found || !isPart) return;
      mark.lastIndex += 1;
    }
  }

  /** Skips a comment, in which comments may be nested. */
  #skipComment(): void {
    const mark = /\/\*|\*\//g;
    mark.lastIndex = this.#at;
    for (let depth = 1; depth > 0;) {
      const found = mark.exec(this.#script);
      if (!found) {
        this.#at = this.#script.length;
        return;
      }
      depth += found[0] === '/*' ? 1 : -1;
      this.#at = mark.lastIndex;
    }
  }

  #finish(end: number): void {
    if (this.#start >= 0)
      this.#found.push({
        text: this.#script.slice(this.#start, end).trimEnd(),
        line: this.#lineOf(this.#start),
        transactionCommand: transactionCommandOf(this.#words),
      });
    this.#start = -1;
    this.#words = [];
    this.#parentheses = 0;
    this.#blocks = 0;
  }

  /** Returns the line of a position at or after the last one. A line ends with LF, CR LF or CR. */
  #lineOf(at: number): number {
    this.#line = { at, number: this.#line.number + countLineEnds(this.#script.slice(this.#line.at, at)) };
    return this.#line.number;
  }
}

const countLineEnds = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;

/** Returns the number of the line of a position in a text, counted from the number of its first line. */
export const lineAt = (text: string, position: number, firstLine: number): number =>
  firstLine + countLineEnds(text.slice(0, position));

const TRANSACTION_COMMANDS = new Set(['begin', 'start', 'commit', 'end', 'abort']);

/** Returns the transaction command that a statement with these first words is. Savepoints stay in a transaction. */
function transactionCommandOf([first = '', second = '', third = '']: readonly string[]): string | null {
  const isCommand =
    TRANSACTION_COMMANDS.has(first) ||
    (first === 'prepare' && second === 'transaction') ||
    (first === 'rollback' && second !== 'to' && third !== 'to');
  return isCommand ? first.toUpperCase() : null;
}
