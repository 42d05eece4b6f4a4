type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

/** Combining marks, and the two letters of half width that NFKD replaces by marks. */
const MARK = String.raw`\p{M}\uFF9E\uFF9F`;
/** Marks in a row that `normalize` sorts fast: Unicode's Stream-Safe Text Format permits as many. */
const MAX_SHORT_RUN = 30;
const MARK_OR_HALF = new RegExp(`[${MARK}\\p{Cs}]`, 'u');

/** One mark of each combining class, by ascending class. Marks of a class that is not here are sorted by `normalize`. */
const CLASSES = [
  ...'\u0334\u{16FF0}\u093C\u3099\u094D\u05B0\u05B1\u05B2\u05B3\u05B4\u05B5\u05B6\u05B7\u05B8\u05B9\u05BB\u05BC\u05BD\u05BF',
  ...'\u05C1\u05C2\uFB1E\u064B\u064C\u064D\u0618\u0619\u061A\u0651\u0652\u0670\u0711\u0C55\u0C56\u0E38\u0E48\u0EB8\u0EC8\u0F71',
  ...'\u0F72\u0F74\u0321\u1DCE\u031B\u1DFA\u0316\u059A\u302E\u{1D16D}\u05AE\u0300\u0315\u035C\u035D\u0345',
];

/**
 * Returns a text in a normal form of Unicode, as `String.prototype.normalize` does, in time that grows with its length.
 * That function sorts a run of combining marks in time that grows with the square of the run's length. Here long runs
 * are sorted before.
 */
export const normalizeText = (text: string, form: NormalForm): string =>
  (mayHaveLongRun(text) ? sortLongRuns(text, form) : text).normalize(form);

/** Returns whether a text may have a long run of marks. Each long run contains one of the places that are tested. */
function mayHaveLongRun(text: string): boolean {
  for (let at = MAX_SHORT_RUN; at < text.length; at += MAX_SHORT_RUN)
    if (text.charCodeAt(at) > 0x2ff && MARK_OR_HALF.test(String.fromCodePoint(text.codePointAt(at)!))) return true;
  return false;
}

function sortLongRuns(text: string, form: NormalForm): string {
  // An expression for runs of any length would exceed the stack of the engine.
  const start = new RegExp(`[${MARK}]{${MAX_SHORT_RUN + 1}}`, 'gu');
  const end = new RegExp(`[^${MARK}]`, 'gu');
  let result = '';
  let done = 0;
  for (let found = start.exec(text); found; found = start.exec(text)) {
    end.lastIndex = start.lastIndex;
    const next = end.exec(text)?.index ?? text.length;
    result += text.slice(done, found.index) + sortMarks(text.slice(found.index, next), form);
    done = start.lastIndex = next;
  }
  return result + text.slice(done);
}

/** Returns the decomposed marks of a run in canonical order, in which `normalize` leaves them. */
function sortMarks(run: string, form: NormalForm): string {
  const parts = new Map<string, { mark: string; rank: number }[]>();
  const sorted: string[] = [];
  let byRank: string[][] = [];
  const flush = () => {
    for (const marks of byRank) if (marks) for (const mark of marks) sorted.push(mark);
    byRank = [];
  };
  for (const character of run) {
    let part = parts.get(character);
    if (!part) {
      const decomposed = character.normalize(form.startsWith('NFK') ? 'NFKD' : 'NFD');
      parts.set(character, (part = [...decomposed].map((mark) => ({ mark, rank: rankOf(mark) }))));
    }
    for (const { mark, rank } of part) {
      // No mark moves across a character that does not move itself.
      if (rank === 0) flush();
      (byRank[rank] ??= []).push(mark);
      if (rank === 0) flush();
    }
  }
  flush();
  return sorted.join('');
}

/** Returns the place of a character in the canonical order of marks, from 1; 0 for one that does not move. */
function rankOf(mark: string): number {
  const movesAfter = (other: string) => (mark + other).normalize('NFD') === other + mark;
  const rank = CLASSES.filter((other) => other !== mark && movesAfter(other)).length;
  const moves = rank > 0 || (CLASSES.at(-1)! + mark).normalize('NFD') === mark + CLASSES.at(-1)!;
  return moves ? rank + 1 : 0;
}
