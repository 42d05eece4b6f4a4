/** Real pictures for the fake: a PNG whose colors depend on a text. */
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const body = Buffer.concat([Buffer.from(type), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Returns a PNG of the given size: a gradient between two colors of the text. The same text gives the same bytes. */
export function drawPng(text: string, width: number, height: number): Buffer {
  const colors = createHash('sha256').update(text).digest();
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each of red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Array.from({ length: height }, (_, y) => {
    const row = Buffer.alloc(1 + width * 3);
    const color = [0, 1, 2].map((at) => colors[at]! + ((colors[at + 3]! - colors[at]!) * y) / height);
    for (let at = 1; at < row.length; at += 1) row[at] = color[(at - 1) % 3]!;
    return row;
  });
  const pixels = deflateSync(Buffer.concat(rows), { level: 1 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}
