import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AppRequest } from '../../core/app-run.ts';

/** The `config.verify` of a webhook, as deployments check it. */
export interface VerifyConfig {
  scheme: 'hmac' | 'github' | 'stripe' | 'standard-webhooks';
  /** Name of the environment variable with the secret. */
  secret: string;
  /** Name of the header with the signature. Default: the header of the scheme. */
  header?: string;
  /** Of the scheme `hmac`. Default `sha256`. */
  algorithm?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  /** How far the time of a signature may be from now, in schemes with a time. Default 300. */
  toleranceSeconds?: number;
}

type SignedRequest = Pick<AppRequest, 'headers' | 'body'>;

const DEFAULT_HEADERS = {
  hmac: 'x-signature',
  github: 'x-hub-signature-256',
  stripe: 'stripe-signature',
  'standard-webhooks': 'webhook-signature',
};
const DEFAULT_TOLERANCE_SECONDS = 300;
/** More signatures than a sender has secrets are not compared. */
const MAX_SIGNATURES = 10;

/** Returns whether the signature of a request matches its body and this secret. `now` is in milliseconds. */
export function isSigned(config: VerifyConfig, secret: string, request: SignedRequest, now = Date.now()): boolean {
  const name = headerOf(config, request);
  const signature = request.headers[name];
  // An empty secret does not count.
  if (signature === undefined || secret === '') return false;
  const isCurrent = (time: string): boolean =>
    /^\d{1,12}$/.test(time) &&
    Math.abs(now / 1000 - Number(time)) <= (config.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS);
  switch (config.scheme) {
    case 'hmac':
      return isHmac(signature, config.algorithm ?? 'sha256', secret, request.body);
    case 'github':
      return isGithub(signature, secret, request);
    case 'stripe':
      return isStripe(signature, secret, request, isCurrent);
    case 'standard-webhooks':
      return isStandard(signature, secret, request, isCurrent, prefixOf(name, request));
  }
}

/**
 * Returns the name of the header with the signature. Svix, which most senders of standard webhooks use, has its own
 * names.
 */
function headerOf({ header, scheme }: VerifyConfig, { headers }: SignedRequest): string {
  const name = (header ?? DEFAULT_HEADERS[scheme]).toLowerCase();
  const isSvix = scheme === 'standard-webhooks' && header === undefined && headers[name] === undefined;
  return isSvix ? 'svix-signature' : name;
}

/**
 * Returns the prefix of the headers with id and time that accompany a header `<prefix>-signature`; `webhook` if it has
 * none.
 */
function prefixOf(name: string, { headers }: SignedRequest): string {
  const prefix = name.replace(/-signature$/, '');
  return headers[`${prefix}-id`] === undefined ? 'webhook' : prefix;
}

const digestOf = (algorithm: string, key: string | Buffer, ...parts: (string | Uint8Array)[]): Buffer =>
  parts.reduce((hmac, part) => hmac.update(part), createHmac(algorithm, key)).digest();

/** Compares in a time that does not depend on the contents. */
const equals = (sent: Buffer, expected: Buffer): boolean =>
  sent.length === expected.length && timingSafeEqual(sent, expected);

/** The signature in hexadecimal or Base64, with or without `<algorithm>=`. */
function isHmac(signature: string, algorithm: string, secret: string, body: Uint8Array): boolean {
  const expected = digestOf(algorithm, secret, body);
  const prefix = `${algorithm}=`;
  const text = signature.toLowerCase().startsWith(prefix) ? signature.slice(prefix.length) : signature;
  const isHex = text.length === expected.length * 2 && /^[\da-f]*$/i.test(text);
  return equals(Buffer.from(text, isHex ? 'hex' : 'base64'), expected);
}

/** `sha256=<hexadecimal>` of the body. */
const isGithub = (signature: string, secret: string, { body }: SignedRequest): boolean =>
  signature.startsWith('sha256=') &&
  equals(Buffer.from(signature.slice('sha256='.length), 'hex'), digestOf('sha256', secret, body));

/** `t=<seconds>,v1=<hexadecimal>,…` of the time, a dot and the body. Other schemes than `v1` are ignored. */
function isStripe(
  signature: string,
  secret: string,
  { body }: SignedRequest,
  isCurrent: (time: string) => boolean,
): boolean {
  const items = signature.split(',').map((item) => item.trim());
  const valuesOf = (key: string) =>
    items.filter((item) => item.startsWith(`${key}=`)).map((item) => item.slice(key.length + 1));
  const [time, ...otherTimes] = valuesOf('t');
  if (time === undefined || otherTimes.length > 0 || !isCurrent(time)) return false;
  const expected = digestOf('sha256', secret, `${time}.`, body);
  return valuesOf('v1')
    .slice(0, MAX_SIGNATURES)
    .some((sent) => equals(Buffer.from(sent, 'hex'), expected));
}

/** `v1,<Base64> …` of id, time and body, with a secret in Base64. */
function isStandard(
  signature: string,
  secret: string,
  { headers, body }: SignedRequest,
  isCurrent: (time: string) => boolean,
  prefix: string,
): boolean {
  const { [`${prefix}-id`]: id, [`${prefix}-timestamp`]: time } = headers;
  if (id === undefined || time === undefined || !isCurrent(time)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // Text that is not Base64 decodes to nothing, and anybody knows an empty key.
  if (key.length === 0) return false;
  const expected = digestOf('sha256', key, `${id}.${time}.`, body);
  return signature
    .split(' ')
    .filter((item) => item.startsWith('v1,'))
    .slice(0, MAX_SIGNATURES)
    .some((sent) => equals(Buffer.from(sent.slice('v1,'.length), 'base64'), expected));
}
