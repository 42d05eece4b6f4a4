import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { conflict } from '../../core/errors.ts';
import type { SecretBox } from '../../core/platform.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of sealed bytes: their version. */
const BYTES_V1 = Buffer.of(1);
/** Where the parts of sealed bytes end. */
const FINGERPRINT_END = 1 + 8;
const IV_END = FINGERPRINT_END + IV_BYTES;
const TAG_END = IV_END + TAG_BYTES;

const fingerprintOf = (key: Buffer): string => createHmac('sha256', key).update('dws key').digest('hex').slice(0, 16);

interface Sealed {
  iv: Uint8Array;
  tag: Uint8Array;
  data: Uint8Array;
}

/**
 * Encrypts with AES-256-GCM under the first key of the comma-separated key ring, and decrypts under any key of it.
 * A sealed text has the form `v1.<fingerprint>.<iv>.<tag>.<data>`, its last three parts in base64url. Sealed bytes are a
 * byte 1, fingerprint, iv, tag and data. Throws for an empty ring.
 */
export function createSecretBox(ring: string): SecretBox {
  const keys = ring
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
    .map((word) => createHash('sha256').update(word).digest());
  const newest = keys[0];
  if (!newest) throw new Error('APP_SECRET is empty');
  const keyByFingerprint = new Map(keys.map((key) => [fingerprintOf(key), key]));
  const fingerprint = fingerprintOf(newest);

  function encrypt(plain: Uint8Array): Sealed {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', newest!, iv);
    const data = Buffer.concat([cipher.update(plain), cipher.final()]);
    return { iv, tag: cipher.getAuthTag(), data };
  }

  function decrypt(form: string, sealedUnder: string, { iv, tag, data }: Sealed, what: string): Buffer {
    const key = keyByFingerprint.get(sealedUnder);
    if (form === 'v1' && !key)
      throw conflict(
        `Cannot decrypt ${what}: the key is no longer in APP_SECRET. Ask the operator of the service to add it again`,
        { cause: new Error(`It was sealed under the key ${sealedUnder}`) },
      );
    try {
      if (form !== 'v1' || !key) throw new Error('It has an unknown form');
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(tag);
      return Buffer.concat([decipher.update(data), decipher.final()]);
    } catch (error) {
      throw conflict(`Cannot decrypt ${what}: what is stored is damaged`, { cause: error });
    }
  }

  return {
    fingerprint,
    fingerprints: [...keyByFingerprint.keys()],
    digest: (text) => createHmac('sha256', newest).update(`dws digest ${text}`).digest('base64url').slice(0, 22),
    seal(plain) {
      const { iv, tag, data } = encrypt(Buffer.from(plain));
      return ['v1', fingerprint, ...[iv, tag, data].map((part) => Buffer.from(part).toString('base64url'))].join('.');
    },
    open(sealed, what) {
      const [form = '', sealedUnder = '', ...parts] = sealed.split('.');
      const [iv, tag, data] = [0, 1, 2].map((index) => Buffer.from(parts[index] ?? '', 'base64url'));
      return decrypt(form, sealedUnder, { iv: iv!, tag: tag!, data: data! }, what).toString();
    },
    sealBytes(plain) {
      const { iv, tag, data } = encrypt(plain);
      return Buffer.concat([BYTES_V1, Buffer.from(fingerprint, 'hex'), iv, tag, data]);
    },
    openBytes(sealed, what) {
      const form = sealed[0] === BYTES_V1[0] ? 'v1' : '';
      const sealedUnder = Buffer.from(sealed.subarray(1, FINGERPRINT_END)).toString('hex');
      const [iv, tag] = [sealed.subarray(FINGERPRINT_END, IV_END), sealed.subarray(IV_END, TAG_END)];
      return decrypt(form, sealedUnder, { iv, tag, data: sealed.subarray(TAG_END) }, what);
    },
  };
}
