import { describe, expect, test } from 'vitest';
import { guessEncoding } from '../../src/adapters/drivers/file/encoding-guess.ts';
import { encodeLegacy } from '../support/legacy-text.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const TEXTS = {
  japanese: 'id,名前,住所\n1,田中,東京都千代田区\n2,すずき,大阪市北区\n',
  simplified: '编号,姓名,城市\n1,张伟,北京市\n2,李娜,上海市\n',
  traditional: '編號,姓名,城市\n1,陳先生,台北市\n2,林小姐,高雄市\n',
  korean: '번호,이름,도시\n1,김민수,서울특별시\n2,이영희,부산광역시\n',
  russian: 'номер,имя,город\n1,Иван Петров,Москва\n2,Анна Иванова,Санкт-Петербург\n',
  capitals: 'НОМЕР,ИМЯ,ГОРОД\n1,ИВАН ПЕТРОВ,МОСКВА\n2,АННА ИВАНОВА,САНКТ-ПЕТЕРБУРГ\n',
  greek: 'αριθμός,όνομα,πόλη\n1,Γιώργος Παπαδόπουλος,Αθήνα\n2,Μαρία,Θεσσαλονίκη\n',
  hebrew: 'מספר,שם,עיר\n1,דוד כהן,ירושלים\n2,שרה לוי,תל אביב\n',
  arabic: 'رقم,اسم,مدينة\n1,محمد علي,القاهرة\n2,فاطمة,الرياض\n',
  german: 'Nr,Name,Ort\n1,Müller,Köln\n2,Groß,Düsseldorf\n',
  french: 'n°,prénom,ville\n1,Hélène,Orléans\n2,Éric,Saint-Étienne\n',
  polish: 'nr,imię,miasto\n1,Łukasz,Łódź\n2,Żaneta,Kraków\n',
};

describe('the encoding of a text that is not UTF-8', () => {
  test.each<[keyof typeof TEXTS, string]>([
    ['japanese', 'shift_jis'],
    ['japanese', 'euc-jp'],
    ['simplified', 'gb18030'],
    ['traditional', 'big5'],
    ['korean', 'euc-kr'],
    ['russian', 'windows-1251'],
    ['russian', 'koi8-r'],
    ['capitals', 'windows-1251'],
    ['greek', 'windows-1253'],
    ['hebrew', 'windows-1255'],
    ['arabic', 'windows-1256'],
  ])('%s in %s is certain', (text, encoding) => {
    expect(guessEncoding(encodeLegacy(TEXTS[text], encoding))).toBe(encoding);
  });

  test.each<[keyof typeof TEXTS, string]>([
    ['german', 'windows-1252'],
    ['french', 'windows-1252'],
    ['polish', 'windows-1250'],
    ['capitals', 'koi8-r'],
    ['russian', 'ibm866'],
  ])('%s in %s is not', (text, encoding) => {
    expect(guessEncoding(encodeLegacy(TEXTS[text], encoding))).toBeUndefined();
  });

  test('UTF-8 is not guessed, not even with a broken byte, nor is a short text', () => {
    for (const text of Object.values(TEXTS)) {
      expect(guessEncoding(Buffer.from(text))).toBeUndefined();
      expect(guessEncoding(Buffer.concat([Buffer.from(text), Buffer.from([0xff])]))).toBeUndefined();
    }
    expect(guessEncoding(encodeLegacy('a,б\n', 'windows-1251'))).toBeUndefined();
    expect(guessEncoding(Buffer.alloc(0))).toBeUndefined();
    expect(guessEncoding(Buffer.from('id\n\x1b$B$"\x1b(B\n'))).toBe('iso-2022-jp');
  });

  test('a guess is a problem, and the setting decides', async () => {
    const message = (encoding: string) =>
      `The file is not UTF-8, and is read as ${encoding}. ` +
      'Set encoding if characters are wrong, or save it as UTF-8 if it has a code page of DOS such as cp850';
    expect(await readInProcess(encodeLegacy(TEXTS.japanese, 'shift_jis'))).toMatchObject({
      config: { encoding: 'shift_jis' },
      problems: [{ message: message('shift_jis') }],
      types: ['id integer', '名前 string', '住所 string'],
      rows: [
        [1, '田中', '東京都千代田区'],
        [2, 'すずき', '大阪市北区'],
      ],
    });
    const polish = encodeLegacy(TEXTS.polish, 'windows-1250');
    expect(await readInProcess(polish)).toMatchObject({ problems: [{ message: message('windows-1252') }] });
    for (const encoding of ['windows-1250', 'CP1250', 'x-cp1250'])
      expect(await readInProcess(polish, { encoding })).toMatchObject({
        config: { encoding },
        problems: [],
        rows: [
          [1, 'Łukasz', 'Łódź'],
          [2, 'Żaneta', 'Kraków'],
        ],
      });
    await expect(readInProcess(polish, { encoding: 'klingon' })).rejects.toMatchObject({
      status: 400,
      message: 'config.encoding: "klingon" is not a label of the WHATWG Encoding Standard. Save the file as UTF-8',
    });
    await expect(readInProcess(polish, { encoding: 'UTF8' })).rejects.toMatchObject({
      message: 'The file is not UTF-8',
    });
    const dos = encodeLegacy(TEXTS.russian, 'ibm866');
    expect(await readInProcess(dos, { encoding: 'ibm866' })).toMatchObject({
      rows: [
        [1, 'Иван Петров', 'Москва'],
        [2, 'Анна Иванова', 'Санкт-Петербург'],
      ],
    });
  });
});
