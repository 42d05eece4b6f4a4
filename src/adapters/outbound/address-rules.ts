import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The part of IPv6 from which public addresses are assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Addresses within the public range where a cloud serves only its own machines. */
const CLOUD_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Decides which addresses outgoing calls may reach: public unicast ones by https, and the host names, addresses and
 * CIDR ranges of `OUTBOUND_ALLOW` by any protocol.
 */
export class AddressRules {
  readonly #hosts = new Set<string>();
  readonly #ranges: [address: Address, prefix: number][] = [];

  constructor(allowed: readonly string[]) {
    for (const part of allowed) {
      if (part.includes('/')) this.#ranges.push(ipaddr.parseCIDR(part));
      else if (ipaddr.isValid(part)) {
        const address = ipaddr.process(part);
        this.#ranges.push([address, address.kind() === 'ipv4' ? 32 : 128]);
      } else this.#hosts.add(part.toLowerCase());
    }
  }

  /** Returns whether all addresses of a host are allowed, because the operator names the host. */
  namesHost(host: string): boolean {
    return this.#hosts.has(host.toLowerCase());
  }

  /**
   * Returns whether a call may connect to an address. An IPv4-mapped address counts as its IPv4 address; NAT64 and 6to4
   * addresses are not public.
   */
  allows(text: string, isSecure: boolean): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    const isNamed = this.#ranges.some(([range, prefix]) => isWithin(address, range, prefix));
    return isNamed || (isSecure && isPublic(address));
  }
}

/** Addresses of different kinds are never within each other. */
const isWithin = (address: Address, range: Address, prefix: number): boolean =>
  address.kind() === range.kind() && address.match(range as never, prefix);

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  (address.kind() === 'ipv4' || isWithin(address, ...GLOBAL_UNICAST)) &&
  !CLOUD_ADDRESSES.has(address.toString());
