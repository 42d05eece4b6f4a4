import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const MESSAGE =
  'The record has several lines, because a value begins with a quote, and each line has as many values as a record. ' +
  'Set quote to "" if values are not quoted';

describe('a record of several lines that are records without their quotes is reported', () => {
  test.each([
    ['inches', 'sku\tsize\tqty\n1\t"5 inch\t3\n2\t6"\t4\n3\t7\t5\n', 2, 3],
    ['notes', 'name\tsize\tnote\nA\t5" disk\tit\'s\nB\t3.5" disk\t"start\nC\t8\tend"\n', 3, 3],
    ['records in between', 'id;note\r\n1;ok\r\n2;"Zitat\r\n3;plain\r\n4;Ende"\r\n5;x\r\n', 3, 5],
    ['lines that are skipped', 'A title\n\nid;note\n1;"Zitat\n2;Ende"\n3;x\n', 4, 3],
    ['the last line', 'id,note\n1,ok\n2,"start\n3,end"', 3, 3],
  ])('%s', async (_, text, line, records) => {
    const { problems } = await readInProcess(text);
    expect(problems).toContainEqual({ line, message: MESSAGE });
    const read = await readInProcess(text, { quote: '' });
    expect(read.rows).toHaveLength(records);
    expect(read.problems.map(({ message }) => message)).not.toContain(MESSAGE);
  });

  test.each([
    ['values of several lines', 'id,note\n1,"one\ntwo"\n2,x\n'],
    ['delimiters in quotes', 'id,note\n1,"one, two"\n2,"a\n3,b"\n'],
    ['values of one line in quotes', '"id","note"\n"1","x"\n\n"2","y"\n'],
    ['one column', 'note\n"a\nb"\n'],
    ['quotes within values', 'id,size\n1,5" disk\n2,6" disk\n'],
  ])('not %s', async (_, text) => {
    expect((await readInProcess(text)).problems).toEqual([]);
  });
});
