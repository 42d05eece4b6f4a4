import type { LookupFunction } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AddressRules } from '../../src/adapters/outbound/address-rules.ts';
import { createGuardedFetch } from '../../src/adapters/outbound/guarded-fetch.ts';
import type { OutboundClient } from '../../src/core/outbound.ts';
import { startListener, type Listener } from './listener.ts';

/** Spellings of addresses that are not public. Browsers and Node accept each of them in a URL. */
const PRIVATE = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '0.0.0.0',
  '0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '203.0.113.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[4000::1]',
  'localhost',
  'LOCALHOST',
];

const request = { signal: new AbortController().signal, maxBytes: 1000 };
const clients: OutboundClient[] = [];
const createClient = (allowed: readonly string[], lookup?: LookupFunction): OutboundClient => {
  const client = createGuardedFetch({ allowed, ...(lookup && { lookup }) });
  clients.push(client);
  return client;
};

/** A resolver that returns these addresses, one list after the other. */
function resolveTo(...answers: string[][]): LookupFunction {
  return (_host, _options, callback) => {
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

let listener: Listener;
beforeAll(async () => {
  listener = await startListener();
});
beforeEach(() => {
  listener.connections = 0;
  listener.requests = [];
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await listener.close();
});

describe('an outgoing call to an address that is not public', () => {
  test.each(PRIVATE)('spelled %s is refused by name, and the host does not receive a connection', async (host) => {
    for (const protocol of ['https', 'http']) {
      const url = `${protocol}://${host}:${listener.port}/`;
      const { hostname } = new URL(url);
      await expect(createClient([]).fetch(url, request), url).rejects.toMatchObject({
        status: 400,
        code: 'BAD_USER_INPUT',
        message: expect.stringContaining(`"${hostname.replace(/^\[|\]$/g, '')}"`),
      });
    }
    expect(listener.connections).toBe(0);
  });

  test('is refused without a look-up if the URL has the address itself', async () => {
    const failLookup: LookupFunction = () => expect.unreachable('A name was looked up');
    const client = createClient(['10.0.0.0/8', 'named.example'], failLookup);
    for (const host of PRIVATE.filter((one) => one.toLowerCase() !== 'localhost' && one !== '10.1.2.3'))
      await expect(client.checkUrl(`https://${host}/`), host).rejects.toMatchObject({ status: 400 });
    for (const url of ['http://8.8.8.8/', 'ftp://8.8.8.8/', 'https://a:b@named.example/', 'no URL'])
      await expect(client.checkUrl(url), url).rejects.toMatchObject({ status: 400 });
    for (const url of ['https://8.8.8.8/', 'http://10.1.2.3/', 'http://named.example/', 'https://localhost/'])
      await expect(client.checkUrl(url), url).resolves.toBeUndefined();
  });

  test('says over http: that OUTBOUND_ALLOW does not name the host, and over https: that its address is not public', async () => {
    await expect(createClient([]).fetch('http://127.0.0.1/', request)).rejects.toThrow(
      'Outgoing calls over http: to the host "127.0.0.1" are not allowed: OUTBOUND_ALLOW does not name it',
    );
    await expect(createClient([]).fetch('https://127.0.0.1/', request)).rejects.toThrow(
      'Outgoing calls to the host "127.0.0.1" are not allowed: its address is not public',
    );
  });

  test('is refused if any of the addresses of the name is', async () => {
    for (const addresses of [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['127.0.0.1', '8.8.8.8'],
      ['2606:4700::1111', '::1'],
      ['::ffff:127.0.0.1'],
      [],
    ])
      await expect(
        createClient([], resolveTo(addresses)).fetch(`https://two.example:${listener.port}/`, request),
        addresses.join(),
      ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('"two.example"') });
    expect(listener.connections).toBe(0);
  });

  test('is refused for a name whose address changes after the first call', async () => {
    const named = await startListener('127.0.0.2');
    const secret = await startListener('127.0.0.1', named.port);
    try {
      const client = createClient(['127.0.0.2'], resolveTo(['127.0.0.2'], ['127.0.0.1']));
      named.respond = (_request, response) => void response.setHeader('connection', 'close').end('first');
      const url = `http://rebinding.example:${named.port}/`;
      expect(await (await client.fetch(url, request)).text()).toBe('first');
      await expect(client.fetch(url, request)).rejects.toMatchObject({ status: 400 });
      expect(named.requests).toHaveLength(1);
      expect(secret.connections).toBe(0);
    } finally {
      await Promise.all([named.close(), secret.close()]);
    }
  });

  test.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'data:text/plain,x', 'unix:/tmp/x', 'nonsense', ''])(
    'is refused for %s, which is not an https URL',
    async (url) => {
      await expect(createClient(['127.0.0.1']).fetch(url, request)).rejects.toMatchObject({ status: 400 });
    },
  );

  test('is refused with a username or password in its URL', async () => {
    const url = `http://ann:secret@127.0.0.1:${listener.port}/`;
    await expect(createClient(['127.0.0.1']).fetch(url, request)).rejects.toMatchObject({
      status: 400,
      message: expect.not.stringContaining('secret'),
    });
    expect(listener.connections).toBe(0);
  });
});

describe('OUTBOUND_ALLOW', () => {
  test.each([
    ['127.0.0.1', 'http://127.0.0.1', true],
    ['127.0.0.1', 'http://2130706433', true],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]', true],
    ['127.0.0.1', 'http://127.0.0.2', false],
    ['127.0.0.1', 'http://[::1]', false],
    ['127.0.0.0/8', 'http://127.9.9.9', true],
    ['10.0.0.0/8', 'http://127.0.0.1', false],
    ['::1', 'http://[::1]', true],
    ['::/64', 'http://[::1]', true],
    ['::/64', 'http://127.0.0.1', false],
    ['0.0.0.0/0', 'http://[::1]', false],
    ['localhost', 'http://localhost', true],
    ['LocalHost', 'http://LOCALHOST', true],
    ['localhost', 'http://127.0.0.1', false],
    ['127.0.0.1,::1', 'http://localhost', true],
  ])('%s and a call to %s: allowed is %s', async (allowed, origin, isAllowed) => {
    const sent = createClient(allowed.split(',')).fetch(`${origin}:${listener.port}/`, request);
    if (isAllowed) expect(await (await sent).text()).toBe('ok');
    else await expect(sent).rejects.toMatchObject({ status: 400 });
    expect(listener.requests).toHaveLength(isAllowed ? 1 : 0);
  });

  test('allows http: only for addresses that it names, https: for all public addresses', () => {
    const rules = new AddressRules(['10.0.0.0/8']);
    for (const address of ['8.8.8.8', '2606:4700:4700::1111', '1.1.1.1', '::ffff:8.8.8.8'])
      expect([rules.allows(address, true), rules.allows(address, false)], address).toEqual([true, false]);
    expect([rules.allows('10.1.1.1', true), rules.allows('10.1.1.1', false)]).toEqual([true, true]);
    expect(rules.allows('nonsense', true)).toBe(false);
  });
});
