import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isSigned, type VerifyConfig } from '../../src/services/app/webhook-verify.ts';

type Headers = Record<string, string>;

const signed = (config: Omit<VerifyConfig, 'secret'>, secret: string, body: string, headers: Headers, now?: number) =>
  isSigned({ ...config, secret: 'SECRET' }, secret, { headers, body: Buffer.from(body) }, now);
const hmac = (algorithm: string, secret: string, text: string) => createHmac(algorithm, secret).update(text);

describe('the scheme github', () => {
  const config = { scheme: 'github' } as const;
  /** The example of docs.github.com, "Validating webhook deliveries". */
  const SECRET = "It's a Secret to Everybody";
  const BODY = 'Hello, World!';
  const SIGNATURE = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

  test('accepts the example of GitHub', () => {
    expect(signed(config, SECRET, BODY, { 'x-hub-signature-256': SIGNATURE })).toBe(true);
    expect(signed({ ...config, header: 'X-Own' }, SECRET, BODY, { 'x-own': SIGNATURE })).toBe(true);
  });

  test.for<[string, string, string, Headers]>([
    ['another body', SECRET, 'Hello, World', { 'x-hub-signature-256': SIGNATURE }],
    ['another secret', 'another', BODY, { 'x-hub-signature-256': SIGNATURE }],
    ['an empty secret', '', BODY, { 'x-hub-signature-256': `sha256=${hmac('sha256', '', BODY).digest('hex')}` }],
    ['no signature', SECRET, BODY, {}],
    ['an empty signature', SECRET, BODY, { 'x-hub-signature-256': '' }],
    ['no prefix', SECRET, BODY, { 'x-hub-signature-256': SIGNATURE.slice(7) }],
    ['a cut signature', SECRET, BODY, { 'x-hub-signature-256': SIGNATURE.slice(0, -2) }],
    ['a longer signature', SECRET, BODY, { 'x-hub-signature-256': `${SIGNATURE}00` }],
    ['the old header', SECRET, BODY, { 'x-hub-signature': `sha1=${hmac('sha1', SECRET, BODY).digest('hex')}` }],
  ])('refuses %s', ([, secret, body, headers]) => expect(signed(config, secret, body, headers)).toBe(false));
});

describe('the scheme standard-webhooks', () => {
  const config = { scheme: 'standard-webhooks' } as const;
  /** The test vector of the reference libraries of standardwebhooks.com. */
  const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const BODY = '{"test": 2432232314}';
  const TIME = 1_614_265_330;
  const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const HEADERS = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': String(TIME),
    'webhook-signature': SIGNATURE,
  };
  const verified = (headers: Headers, { secret = SECRET, body = BODY, at = TIME, tolerance = 300 } = {}) =>
    signed({ ...config, toleranceSeconds: tolerance }, secret, body, { ...HEADERS, ...headers }, at * 1000);

  test('accepts the test vector, with and without the prefix of the secret', () => {
    expect(signed(config, SECRET, BODY, HEADERS, TIME * 1000)).toBe(true);
    expect(verified({}, { secret: SECRET.slice('whsec_'.length) })).toBe(true);
  });

  /** The same headers with another prefix. Svix has its own: https://docs.svix.com/receiving/verifying-payloads/how-manual */
  const prefixed = (prefix: string): Headers =>
    Object.fromEntries(Object.entries(HEADERS).map(([name, value]) => [name.replace('webhook', prefix), value]));
  const isSignedWith = (headers: Headers, header?: string, body = BODY) =>
    signed({ ...config, ...(header && { header }) }, SECRET, body, headers, TIME * 1000);

  test('accepts the headers of Svix, and a signature with another name', () => {
    expect(isSignedWith(prefixed('svix'))).toBe(true);
    expect(isSignedWith(prefixed('svix'), 'Svix-Signature')).toBe(true);
    expect(isSignedWith(prefixed('x-own'), 'X-Own-Signature')).toBe(true);
    const { 'webhook-signature': signature, ...rest } = HEADERS;
    expect(isSignedWith({ ...rest, 'x-sign': signature }, 'X-Sign')).toBe(true);
    expect(isSignedWith({ ...rest, 'x-own-signature': signature }, 'X-Own-Signature')).toBe(true);
    expect(isSignedWith({ ...prefixed('svix'), ...HEADERS })).toBe(true);
  });

  test('refuses the headers of Svix for another body, time or name', () => {
    expect(isSignedWith(prefixed('svix'), undefined, '{}')).toBe(false);
    expect(isSignedWith({ ...prefixed('svix'), 'svix-timestamp': String(TIME + 1) })).toBe(false);
    expect(isSignedWith({ ...prefixed('svix'), 'webhook-signature': 'v1,AAAA' })).toBe(false);
    expect(isSignedWith(prefixed('svix'), 'X-Own-Signature')).toBe(false);
    expect(isSignedWith(prefixed('x-own'))).toBe(false);
  });

  test('accepts one of several signatures, and ignores other versions', () => {
    const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
    expect(verified({ 'webhook-signature': `${wrong} v1a,abc ${SIGNATURE}` })).toBe(true);
    expect(verified({ 'webhook-signature': SIGNATURE.replace('v1,', 'v2,') })).toBe(false);
    expect(verified({ 'webhook-signature': wrong })).toBe(false);
    expect(verified({ 'webhook-signature': `${`${wrong} `.repeat(10)}${SIGNATURE}` })).toBe(false);
  });

  test('refuses another time, id, body and secret, and one without key', () => {
    expect(verified({ 'webhook-timestamp': String(TIME + 1) })).toBe(false);
    expect(verified({ 'webhook-id': 'msg_other' })).toBe(false);
    expect(verified({}, { body: `${BODY} ` })).toBe(false);
    expect(verified({}, { secret: 'whsec_AAAA' })).toBe(false);
    const empty = createHmac('sha256', '').update(`${HEADERS['webhook-id']}.${TIME}.${BODY}`).digest('base64');
    for (const secret of ['whsec_', '€€'])
      expect(verified({ 'webhook-signature': `v1,${empty}` }, { secret }), secret).toBe(false);
  });

  test('accepts times within the tolerance on both sides of now', () => {
    for (const at of [TIME - 300, TIME + 300]) expect(verified({}, { at }), String(at)).toBe(true);
    for (const at of [TIME - 301, TIME + 301]) expect(verified({}, { at }), String(at)).toBe(false);
    expect(verified({}, { at: TIME + 10, tolerance: 9 })).toBe(false);
    for (const time of ['', 'NaN', '-1', '1e9', `${TIME}.0`, ` ${TIME}`])
      expect(verified({ 'webhook-timestamp': time }), time).toBe(false);
  });
});

describe('the scheme stripe', () => {
  const config = { scheme: 'stripe' } as const;
  const SECRET = 'whsec_test_secret';
  const BODY = '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}';
  const TIME = 1_492_774_577;
  const sign = (text: string) => hmac('sha256', SECRET, text).digest('hex');
  const V1 = sign(`${TIME}.${BODY}`);
  /** The form of the example of docs.stripe.com, "Verify webhook signatures manually", whose secret is not published. */
  const verified = (signature: string, { body = BODY, at = TIME, tolerance = 300 } = {}) =>
    signed({ ...config, toleranceSeconds: tolerance }, SECRET, body, { 'stripe-signature': signature }, at * 1000);

  test('accepts a signature of time and body among others', () => {
    const other = '5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd';
    const v0 = 'v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39';
    expect(verified(`t=${TIME},v1=${V1},${v0}`)).toBe(true);
    expect(verified(`t=${TIME},v1=${other},v1=${V1},${v0}`)).toBe(true);
    expect(verified(`t=${TIME}, v1=${V1}`)).toBe(true);
    expect(verified(`t=${TIME},v1=${other},${v0}`)).toBe(false);
    expect(signed(config, SECRET, BODY, { 'stripe-signature': `t=${TIME},v1=${V1}` }, TIME * 1000)).toBe(true);
  });

  test('refuses another scheme, time and body, and several times', () => {
    expect(verified(`t=${TIME},v0=${V1}`)).toBe(false);
    expect(verified(`t=${TIME + 1},v1=${V1}`)).toBe(false);
    expect(verified(`t=${TIME},v1=${V1}`, { body: BODY.trim().replace('\n', '') })).toBe(false);
    expect(verified(`t=${TIME},t=${TIME},v1=${V1}`)).toBe(false);
    for (const signature of [`v1=${V1}`, `t=,v1=${sign(`.${BODY}`)}`, `t=${TIME}`, V1, '', ',', 't=x,v1='])
      expect(verified(signature), signature).toBe(false);
  });

  test('accepts times within the tolerance', () => {
    for (const at of [TIME - 300, TIME + 300]) expect(verified(`t=${TIME},v1=${V1}`, { at }), String(at)).toBe(true);
    for (const at of [TIME - 301, TIME + 301]) expect(verified(`t=${TIME},v1=${V1}`, { at }), String(at)).toBe(false);
  });
});

describe('the scheme hmac', () => {
  const config = { scheme: 'hmac' } as const;
  const BODY = '{"order":1}';
  const digest = (algorithm: string) => hmac(algorithm, 'key', BODY);

  test.for(['sha1', 'sha256', 'sha384', 'sha512'] as const)(
    'accepts %s in hexadecimal and Base64, with and without prefix',
    (algorithm) => {
      const [hex, base64] = [digest(algorithm).digest('hex'), digest(algorithm).digest('base64')];
      for (const text of [
        hex,
        hex.toUpperCase(),
        base64,
        base64.replace(/=+$/, ''),
        digest(algorithm).digest('base64url'),
      ])
        for (const signature of [text, `${algorithm}=${text}`, `${algorithm.toUpperCase()}=${text}`])
          expect(signed({ ...config, algorithm }, 'key', BODY, { 'x-signature': signature }), signature).toBe(true);
    },
  );

  test('takes sha256 by default, of the header that is configured', () => {
    const signature = digest('sha256').digest('hex');
    expect(signed({ ...config, header: 'X-Shop-Hmac' }, 'key', BODY, { 'x-shop-hmac': signature })).toBe(true);
    expect(signed({ ...config, header: 'X-Shop-Hmac' }, 'key', BODY, { 'x-signature': signature })).toBe(false);
    expect(signed(config, 'key', BODY, { 'x-signature': digest('sha1').digest('hex') })).toBe(false);
    expect(signed(config, 'key', BODY, { 'x-signature': `sha1=${signature}` })).toBe(false);
  });

  test('signs bytes, not text', () => {
    const body = Buffer.from([0xff, 0, 0x80]);
    const signature = createHmac('sha256', 'key').update(body).digest('hex');
    const verify = { ...config, secret: 'SECRET' };
    expect(isSigned(verify, 'key', { headers: { 'x-signature': signature }, body })).toBe(true);
    const text = Buffer.from(body.toString());
    expect(isSigned(verify, 'key', { headers: { 'x-signature': signature }, body: text })).toBe(false);
  });
});
