import { describe, expect, test } from 'vitest';
import { sniffCsv } from '../../src/adapters/drivers/file/csv-dialect.ts';
import { guessHeader } from '../../src/adapters/drivers/file/header-rule.ts';

/** Small files whose first line contains the names. */
const WITH_NAMES: string[] = [
  'id,name\n1,Ann\n2,Bob\n',
  'name,city\nAnn,Rome\nBob,Oslo\n',
  'region,2020,2021\nNorth,1,2\nSouth,3,4\n',
  'region,2020\nNorth,1\nSouth,3\n',
  'region,2020,2021\nNorth,good,bad\nSouth,bad,good\nWest,bad,bad\n',
  'region,2020-01-01,2020-02-01\nNorth,1,2\nSouth,3,4\n',
  'region;01.01.2020;01.02.2020\nNorth;1,5;2,5\nSouth;3;4\n',
  'code,1999,city\n7,8,Rome\n',
  'year,1999,2000,total\nx,1,2,3\ny,4,5,9\n',
  '2019,2020,2021\n1,2,3\n4,5,6\n',
  'station,0,1,2,3\nA,12,14,11,9\nB,7,7,8,6\n',
  'product,1,2,3,4,5,6\nA,5,5,5,5,5,5\nB,9,8,7,7,7,1\n',
  'id,true,false\n1,5,6\n2,7,8\n',
  'name,true\nAnn,5\nBob,6\n',
  'id,Q1 2020,Q2 2020\n1,5,6\n',
  'country,2000,2010,2020\nChad,8.4,11.9,16.4\nPeru,26.5,29,33\n',
  'id,day\n1,2024-01-31\n2,2024-02-01\n',
  'at,who\n12:30,Ann\n13:00,Bob\n',
  'active,name\ntrue,Ann\nfalse,Bob\n',
  'amount\n12.50\n3.00\n',
  'price\n€ 5\n€ 6\n',
  'id,value\n1,NA\n2,5\n',
  'id,value\nNA,NA\n2,-\n',
  'id,5,note\n1,x,y\n2,z,w\n',
  'share,2020\n.5,12\n.25,11\n',
  'when,2020\n2024-01-31 10:00,12\n2024-02-01 11:30,11\n',
  'name,12:00,13:00\nAnn,5,6\nBob,7,8\n',
  'plant,2020,2021\nOak,,3\nElm,4,\n',
  'only,names\n',
  '"a, b","c"\n1,2\n',
];

/** Small files without names. */
const HEADLESS: string[] = [
  '1,Ann\n2,Bob\n',
  '1,2,3\n4,5,6\n',
  'Ann,1\nBob,2\n',
  '2024-01-31,5\n2024-02-01,6\n',
  'Ann,2024-01-31,5.5\nBob,2024-02-01,6\n',
  'Toyota,2005\nFord,1998\nFiat,2011\n',
  'North,2020,7\nSouth,2021,9\n',
  'North,1999,2001\nSouth,1985,2010\n',
  'x,true\ny,false\n',
  'Ann,12:30\nBob,13:40\n',
  '1,2,3\n2,3,4\n3,4,5\n',
  'a,1,2,3\nb,4,5,6\n',
  '10.5,x\n11,y\n',
  '$5.00,A1\n$6.00,B2\n',
  '5,abc\n6,7\n8,x1\n',
  '007,Bond\n006,Trevelyan\n',
  'NA,5\n3,6\n',
  '31.12.2024;1,5\n01.01.2025;2,5\n',
  '1,,x\n2,,y\n',
  '5\n6\n7\n',
  '1,x\n',
  'e,2.718\npi,3.1416\n',
];

describe('whether the first record contains the names', () => {
  test.each(WITH_NAMES)('%j has names', (text) => {
    expect(sniffCsv(text, true)[0]).toMatchObject({ header: true, skip: 0 });
  });

  test.each(HEADLESS)('%j has none', (text) => {
    expect(sniffCsv(text, true)[0]).toMatchObject({ header: false, skip: 0, problems: [] });
  });

  test.each<[string, boolean]>([
    ['region,2020,2021\nNorth,1,2\n', true],
    ['code,1999,city\n7,8,Rome\n', true],
    ['Rome,Ann\nOslo,Bob\nRome,Eve\n', true],
    ['Müller,Ann,Berlin\nRoe,Bob,Paris\nPoe,Cy,Rome\n', true],
    ['Doe, Ann\nRoe, Bob\nPoe, Cy\n', true],
    ['Doe,Ann,Rome\nRoe,Bob,New York\nPoe,Cy,Oslo\n', true],
    ['AB-12,Oslo\nCD-34,Rome\nEF-56,Bari\n', true],
    ['ann@x.org\nbob@y.org\ncy@z.org\n', true],
    ['DOE,ROME\nROE,OSLO\nPOE,BARI\n', true],
    ...[
      'kunde1@a.de\nkunde2@b.de\n',
      'name1@mail.de\nuser2@mail.de\nname3@mail.de\n',
      'id1\nid2\nid3\n',
      'date-1.txt\ndate-2.txt\n',
      '/data/file_a.bin,ok\n/data/file_b.bin,bad\n',
      'https://a.org/path,ok\nhttps://b.org/name,bad\n',
      '3f2b8c1e-0000-4000-8000-000000000001,ok\n77777777-0000-4000-8000-00000000000a,bad\n',
      '00:1A:2B:3C:4D:5E,tv\nAC:DE:48:00:11:22,phone\n',
      'DE89370400440532013000,Müller GmbH\nGB29NWBK60161331926819,Acme Ltd\n',
      'sha256:427c496cb5794bf9296e093be811a543,file\nsha256:f6ca7321de656cb67b2a1e1549f12c2c,name\n',
      'ABC-1;Box;large\nABC-2;Bag;small\n',
      'AB12 CDE,red\nXY34 ZZZ,blue\n',
      'Order 1,Ann\nOrder 2,Max\n',
      '"Smith, John","12 Main St."\n"Doe, Jane","5 Oak Ave."\n',
      "52°31'N,Berlin\n48°08'N,München\n",
      '1/2,half\n1/4,quarter\n',
      '$HOME,a\n$PATH,b\n',
      '1REPORT ABC123 PAGE 1\n ACCT AMOUNT\n 0001 12.50\n1REPORT ABC123 PAGE 2\n',
    ].map((text): [string, boolean] => [text, true]),
    ['city,1990,2000,2010\nOslo,1950,7,9\nRome,3,4,5\n', true],
    ['city,1990,2011,2001\nOslo,5,7,9\n', true],
  ])('%j is a guess that is reported', (text, header) => {
    const message = 'The first record is read as the names of the columns. Set header to false if it is a row';
    expect(sniffCsv(text, true)[0]).toMatchObject({ header, problems: [{ line: 1, message }] });
    expect(sniffCsv(text, true, { header: true })[0]).toMatchObject({ header: true, problems: [] });
    expect(sniffCsv(text, true, { header: false })[0]).toMatchObject({ header: false, problems: [] });
  });

  test.each([
    'id,2021,2022,2023\nA,5,6,7\n',
    'country,2000,2010,2020\nChad,8.4,11.9,16.4\nPeru,26.5,29,33\n',
    'name,city\nAnn,Rome\nBob,Oslo\n',
    'Name,City\nAnn,Rome\nBob,Oslo\n',
    'Last name,Birthplace\nDoe,Rome\nRoe,Oslo\n',
    'Surname,First Visit\nDoe,Rome\nRoe,Oslo\n',
    'LEADER,HABITAT\nAnn,Forest\nBob,Lake\n',
    'fruit,tree\napple,oak\npear,elm\n',
    'Nachname,Vorname\nMüller,Ann\nMaier,Bob\n',
    'Habitat,Animal\nForest,Fox\nLake,Pike\nLake,Carp\nForest,Owl\n',
    'Leader\nAnn\n',
    'E-mail\nann@x.org\nbob@x.org\n',
    'Phone 1,Address 1\n+49 30 1,Main St. 5\n+49 30 2,Oak Ave. 7\n',
    'sku1,sku2\nred,blue\ngreen,black\n',
    'ann@x.org,bob@x.org\nyes,no\nno,yes\n',
    'md5,path\n9e107d9d372bb6826bd81d3542a419d6,/tmp/a\ne4d909c290d0fb1ca068ffaddf22cbd0,/tmp/b\n',
    '姓名,城市\n张三,北京\n李四,上海\n',
  ])('%j has names without a doubt', (text) => {
    expect(sniffCsv(text, true)[0]).toMatchObject({ header: true, problems: [] });
  });

  test('cells of a sheet have kinds of their own: a text of digits is a text', () => {
    const text = (value: string) => ({ kind: 'text', text: value }) as const;
    const number = (value: number) => ({ kind: 'number', text: String(value) }) as const;
    expect(guessHeader([[text('2020')], [number(5)]])).toEqual({ header: true, certain: true });
    expect(
      guessHeader([
        [text('North'), number(3)],
        [text('South'), number(5)],
      ]),
    ).toEqual({
      header: false,
      certain: true,
    });
    expect(guessHeader([])).toEqual({ header: true, certain: true });
  });
});
