import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import type { SecretBox } from '../../core/platform.ts';

const IV_BYTES = 12;
const UNKNOWN_KEY = 'A secret was sealed under a key that is not in APP_SECRET';
/** First byte of sealed bytes: their version. */
const BYTES_V1 = Buffer.of(1);
/** Where the parts of sealed bytes end. */
const FINGERPRINT_END = 1 + 8;
const IV_END = FINGERPRINT_END + IV_BYTES;
const TAG_END = IV_END + 16;

const fingerprintOf = (key: Buffer): string => createHmac('sha256', key).update('dws key').digest('hex').slice(0, 16);

/**
 * Encrypts with AES-256-GCM under the first key of the comma-separated key ring, and decrypts under any key of it.
 * A sealed text has the form `v1.<fingerprint>.<iv>.<tag>.<data>`, its last three parts in base64url.
 * Sealed bytes are the version, fingerprint, iv, tag and data. Throws for an empty ring, and when no key of the ring fits a sealed text.
 */
export function createSecretBox(ring: string): SecretBox & { fingerprint: string; fingerprints: string[] } {
  const keys = ring
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
    .map((word) => createHash('sha256').update(word).digest());
  const newest = keys[0];
  if (!newest) throw new Error('APP_SECRET is empty');
  const keyByFingerprint = new Map(keys.map((key) => [fingerprintOf(key), key]));

  const encrypt = (plain: Uint8Array): [iv: Buffer, tag: Buffer, data: Buffer] => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', newest, iv);
    const data = Buffer.concat([cipher.update(plain), cipher.final()]);
    return [iv, cipher.getAuthTag(), data];
  };
  const decrypt = (fingerprint: string, iv: Uint8Array, tag: Uint8Array, data: Uint8Array): Buffer => {
    const key = keyByFingerprint.get(fingerprint);
    if (!key) throw new Error(UNKNOWN_KEY);
    const decipher = createDecipheriv('aes-256-gcm', key, iv);
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(data), decipher.final()]);
  };

  return {
    fingerprint: fingerprintOf(newest),
    fingerprints: [...keyByFingerprint.keys()],
    digest: (text) => createHmac('sha256', newest).update(`dws digest ${text}`).digest('base64url').slice(0, 22),
    seal(plain) {
      const parts = encrypt(Buffer.from(plain, 'utf8')).map((part) => part.toString('base64url'));
      return ['v1', fingerprintOf(newest), ...parts].join('.');
    },
    open(sealed) {
      const [form, fingerprint = '', iv = '', tag = '', data = ''] = sealed.split('.');
      if (form !== 'v1') throw new Error(UNKNOWN_KEY);
      const [ivBytes, tagBytes, bytes] = [iv, tag, data].map((part) => Buffer.from(part, 'base64url'));
      return decrypt(fingerprint, ivBytes!, tagBytes!, bytes!).toString('utf8');
    },
    sealBytes: (plain) => Buffer.concat([BYTES_V1, Buffer.from(fingerprintOf(newest), 'hex'), ...encrypt(plain)]),
    openBytes(sealed) {
      if (sealed[0] !== BYTES_V1[0]) throw new Error(UNKNOWN_KEY);
      const [fingerprint, iv, tag] = [
        sealed.subarray(1, FINGERPRINT_END),
        sealed.subarray(FINGERPRINT_END, IV_END),
        sealed.subarray(IV_END, TAG_END),
      ];
      return decrypt(Buffer.from(fingerprint).toString('hex'), iv, tag, sealed.subarray(TAG_END));
    },
  };
}
