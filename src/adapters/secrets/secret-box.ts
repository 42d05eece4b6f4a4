import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import type { SecretBox } from '../../core/platform.ts';

const fingerprintOf = (key: Buffer): string => createHmac('sha256', key).update('dws key').digest('hex').slice(0, 16);

/**
 * Encrypts with AES-256-GCM under the first key of the comma-separated key ring, and decrypts under any key of it.
 * A sealed text has the form `v1.<fingerprint>.<iv>.<tag>.<data>`, its last three parts in base64url.
 * Throws for an empty ring, and when no key of the ring fits a sealed text.
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

  return {
    fingerprint: fingerprintOf(newest),
    fingerprints: [...keyByFingerprint.keys()],
    digest: (text) => createHmac('sha256', newest).update(`dws digest ${text}`).digest('base64url').slice(0, 22),
    seal(plain) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', newest, iv);
      const data = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return [
        'v1',
        fingerprintOf(newest),
        ...[iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url')),
      ].join('.');
    },
    open(sealed) {
      const [form, fingerprint = '', iv = '', tag = '', data = ''] = sealed.split('.');
      const key = keyByFingerprint.get(fingerprint);
      if (form !== 'v1' || !key) throw new Error('A secret was sealed under a key that is not in APP_SECRET');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'));
      decipher.setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([decipher.update(Buffer.from(data, 'base64url')), decipher.final()]).toString('utf8');
    },
  };
}
