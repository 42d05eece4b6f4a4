import dns from 'node:dns';
import net from 'node:net';
import ipaddr from 'ipaddr.js';
import { badInput } from '../../core/errors.ts';

/** Identity of a database among all others: its cluster and its name. */
export interface DatabaseIdentity {
  systemIdentifier: string;
  database: string;
}

/** SQL that returns the `DatabaseIdentity` of any Postgres. It needs no special privilege. */
export const DATABASE_IDENTITY_SQL = `select system_identifier::text as "systemIdentifier", pg_catalog.current_database()::text as database
    from pg_catalog.pg_control_system()`;

/**
 * Link-local addresses and addresses of cloud metadata services. Private addresses are permitted for datasources
 * (docs/contract/datasources.md#datasources).
 */
const METADATA = new net.BlockList();
METADATA.addSubnet('169.254.0.0', 16);
METADATA.addSubnet('fe80::', 10, 'ipv6');
METADATA.addAddress('fd00:ec2::254', 'ipv6');
METADATA.addAddress('fd20:ce::254', 'ipv6');
METADATA.addAddress('100.100.100.200');
METADATA.addAddress('168.63.129.16');

/** Where IPv6 addresses of a range have the bytes of the IPv4 address that a gateway or the system calls in place of them. */
const TRANSLATED: readonly [range: string, bytes: readonly (readonly number[])[]][] = [
  // IPv4-compatible, IPv4-mapped, and their translated form.
  ['::/96', [[12, 13, 14, 15]]],
  ['::ffff:0:0/96', [[12, 13, 14, 15]]],
  ['::ffff:0:0:0/96', [[12, 13, 14, 15]]],
  // NAT64 (RFC 6052), and its local prefix (RFC 8215) of any length.
  ['64:ff9b::/96', [[12, 13, 14, 15]]],
  [
    '64:ff9b:1::/48',
    [
      [6, 7, 9, 10],
      [7, 9, 10, 11],
      [9, 10, 11, 12],
      [12, 13, 14, 15],
    ],
  ],
  // 6to4 (RFC 3056).
  ['2002::/16', [[2, 3, 4, 5]]],
];
const RANGES = TRANSLATED.map(([range, places]) => ({ range: ipaddr.IPv6.parseCIDR(range), places }));
/** Teredo (RFC 4380), with the bits of the address inverted. */
const TEREDO = ipaddr.IPv6.parseCIDR('2001::/32');

/** Returns the IPv4 addresses that an IPv6 address may stand for. */
function translatedAddresses(text: string): string[] {
  const address = ipaddr.IPv6.parse(text);
  const bytes = address.toByteArray();
  const places = RANGES.flatMap((one) => (address.match(one.range) ? one.places : []));
  const found = places.map((indexes) => indexes.map((index) => bytes[index]!).join('.'));
  if (address.match(TEREDO))
    found.push(
      bytes
        .slice(12)
        .map((byte) => byte ^ 255)
        .join('.'),
    );
  return found;
}

/** Returns whether a datasource at this IP address (with or without an IPv6 zone) is refused. */
export function isRefusedAddress(address: string): boolean {
  const bare = address.replace(/%.*$/s, '');
  if (!net.isIPv6(bare)) return METADATA.check(bare, 'ipv4');
  return METADATA.check(bare, 'ipv6') || translatedAddresses(bare).some((one) => METADATA.check(one, 'ipv4'));
}

const refusedAddress = (host: string, address: string) =>
  badInput(`The host "${host}" is at ${address}, an address that no datasource may have`);

/** `dns.lookup` that fails when any address of the name is refused, so that a name cannot hide one behind another. */
const guardedLookup: net.LookupFunction = (host, options, callback) => {
  dns.lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const refused = addresses.find(({ address }) => isRefusedAddress(address));
    if (refused) return callback(refusedAddress(host, refused.address), '', 0);
    if (options.all) return callback(null, addresses);
    callback(null, addresses[0]!.address, addresses[0]!.family);
  });
};

/**
 * Creates an unconnected socket whose `connect(port, host)` checks the address that is really dialled. A refusal is
 * the socket's `error` event, with BAD_USER_INPUT.
 */
export function guardedSocket(): net.Socket {
  const socket = new net.Socket();
  const connect = socket.connect.bind(socket) as (options: net.TcpNetConnectOpts) => net.Socket;
  const guardedConnect = (port: number, host: string) => {
    if (net.isIP(host) && isRefusedAddress(host)) {
      process.nextTick(() => socket.destroy(refusedAddress(host, host)));
      return socket;
    }
    return connect({ port, host, lookup: guardedLookup });
  };
  return Object.assign(socket, { connect: guardedConnect });
}
