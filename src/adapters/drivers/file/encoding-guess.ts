import { normalizeText } from '../../../core/normalize-text.ts';
import { chunksOf } from './text-file.ts';

const SAMPLE_BYTES = 64 * 1024;
const LF = 10;
/** Numbers of characters past ASCII that a certain guess requires. */
const MIN_CHARACTERS = 4;
const MIN_LETTERS = 20;
/** Share of the most frequent characters in a text of the right encoding, and its lead over all others. */
const MIN_SHARE = 0.35;
const MIN_LETTER_SHARE = 0.6;
const LEAD = 1.7;
const LETTER_LEAD = 1.25;
/** Mean number of adjoining bytes past ASCII in a script without Latin letters. */
const MIN_RUN = 2;

const HAN_SIMPLE =
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种' +
  '事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民' +
  '第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西月话' +
  '合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活别打女变四神总' +
  '何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指许统区保队形社便空决治展马科司五基书非则听白界' +
  '达光放强即难权思王设式色路记南品住告类求据程北边张该交规万取术领共确传师观清今院带导运京省县街号单价额客户订编';
const HAN_FULL =
  '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種' +
  '事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民' +
  '第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西月話' +
  '合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活別打女變四神總' +
  '何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指許統區保隊形社便空決治展馬科司五基書非則聽白界' +
  '達光放強即難權思王設式色路記南品住告類求據程北邊張該交規萬取術領共確傳師觀清今院帶導運臺灣台縣鄉林陳黃街號價額客戶訂';
const KANJI =
  '日一人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語' +
  '土木聞食車何南万毎白天母火右読友左休父雨京都府県市区町村道阪神奈会社株式部商品番号数量計合税込額国田野原松井佐藤鈴' +
  '橋渡辺伊加吉口住所氏性別売上店客注文在庫単価種類備考担当者業務電話';
const HANGUL =
  '이다는을를의에가은로고하지한기도사자인서리나대어해아시정일전부보수상구장주과제적성국동원조미경만그여문화안공관영명김박최' +
  '강선우연유계산재비신운남북교학생개발업무회소중번호름년월도시군읍면역세금액품목매출용량총합평균단위코드내당';

/** The most frequent characters of the texts that are written in an encoding. */
const CHARACTERS: [encoding: string, frequent: Set<string>, more: RegExp | undefined][] = [
  ['shift_jis', new Set(KANJI), /[\u3041-\u30fe]/],
  ['euc-jp', new Set(KANJI), /[\u3041-\u30fe]/],
  ['gb18030', new Set(HAN_SIMPLE), undefined],
  ['big5', new Set(HAN_FULL), undefined],
  ['euc-kr', new Set(HANGUL), undefined],
];
/** The most frequent letters of a script, in lower case and without accents. */
const LETTERS: [encoding: string, frequent: Set<string>][] = [
  ['windows-1251', new Set('оеаинтсрвл')],
  ['koi8-r', new Set('оеаинтсрвл')],
  ['windows-1253', new Set('αοιετσνηρςπ')],
  ['windows-1255', new Set('יוהלאתרבשמ')],
  ['windows-1256', new Set('اليمنورتبةعد')],
];
const ESCAPES = ['\x1b$B', '\x1b$@', '\x1b(J'];

/**
 * Returns up to 64 KiB of whole lines of a file, from the first one with a byte past ASCII or an escape; empty without
 * such a line.
 */
export function legacySample(path: string): Buffer {
  for (const chunk of chunksOf(path)) {
    const at = chunk.findIndex((byte) => byte >= 0x80 || byte === 0x1b);
    if (at < 0) continue;
    const start = chunk.lastIndexOf(LF, at) + 1;
    const end = chunk.lastIndexOf(LF, start + SAMPLE_BYTES);
    return Buffer.from(chunk.subarray(start, end > at ? end : start + SAMPLE_BYTES));
  }
  return Buffer.alloc(0);
}

/**
 * Returns the encoding of a text that is not UTF-8, by the most frequent characters of the languages that use it;
 * undefined where it is not certain, or the text is UTF-8.
 */
export function guessEncoding(sample: Buffer): string | undefined {
  if (ESCAPES.some((escape) => sample.includes(escape))) return 'iso-2022-jp';
  const text = new TextDecoder('utf-8').decode(sample);
  const broken = text.split('\ufffd').length - 1;
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  if (broken <= (text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0)) return undefined;
  const byCharacters = leader(
    CHARACTERS.map(([encoding, frequent, more]) => {
      const characters = pastAscii(decoded(sample, encoding));
      const hits = characters.filter((one) => frequent.has(one) || more?.test(one)).length;
      return { encoding, share: characters.length >= MIN_CHARACTERS ? hits / characters.length : 0 };
    }),
    MIN_SHARE,
    LEAD,
  );
  if (byCharacters) return byCharacters;
  const runs = sample.toString('latin1').match(/[\x80-\xff]+/g) ?? [];
  const bytes = runs.join('').length;
  if (bytes < MIN_LETTERS || bytes < MIN_RUN * runs.length) return undefined;
  return leader(
    LETTERS.map(([encoding, frequent]) => ({
      encoding,
      share: shareOfLetters(decoded(sample, encoding), frequent, bytes),
    })),
    MIN_LETTER_SHARE,
    LETTER_LEAD,
  );
}

/** Returns the share of frequent letters, without words with capitals inside. */
function shareOfLetters(text: string, frequent: Set<string>, bytes: number): number {
  const words = normalizeText(text, 'NFC').match(/[^\P{L}\p{ASCII}]+/gu) ?? [];
  const proper = words.filter((word) => /^(?:[^\p{Ll}]+|.\P{Lu}*)$/u.test(word)).length;
  const letters = normalizeText(text, 'NFD').replace(/\p{M}/gu, '').toLowerCase();
  return words.length === 0
    ? 0
    : ([...letters].filter((one) => frequent.has(one)).length / bytes) * (proper / words.length);
}

const pastAscii = (text: string): string[] => [...text].filter((one) => one > '\x7f');

function decoded(sample: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(sample);
  } catch {
    return '';
  }
}

/** Returns the encoding whose share is high enough and far above the others. */
function leader(shares: { encoding: string; share: number }[], min: number, lead: number): string | undefined {
  const [first, second] = shares.toSorted((a, b) => b.share - a.share);
  return first!.share >= min && first!.share >= second!.share * lead ? first!.encoding : undefined;
}
