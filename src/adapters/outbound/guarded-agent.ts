import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { ApiError, badInput, defineError } from '../../core/errors.ts';
import type { AddressRules } from './address-rules.ts';

/** Times in milliseconds after which a call fails. */
export interface OutboundTimeouts {
  connect: number;
  /** From the request to the headers of its response. */
  firstByte: number;
  /** Between two parts of a response body. */
  idle: number;
  /** From the first request to the end of the body, redirects included. Downloads have no such limit. */
  total: number;
  /** Time from which a download must arrive with the lowest speed on average. */
  unpacedDownload: number;
}

interface AgentOptions {
  rules: AddressRules;
  lookup: LookupFunction;
  timeouts: OutboundTimeouts;
}

/** A host that cannot be connected to, or whose connection is lost. */
export const notResponding = defineError(503, 'UNAVAILABLE', (host: string) => `The host "${host}" does not respond`);

/** Names the host and not its address, which is private. */
const refusedHost = (host: string, isSecure: boolean) =>
  badInput(
    isSecure
      ? `Outgoing calls to the host "${host}" are not allowed: its address is not public`
      : `Outgoing calls over http: to the host "${host}" are not allowed: OUTBOUND_ALLOW does not name it`,
  );

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

const isRefusedLiteral = (rules: AddressRules, host: string, isSecure: boolean): boolean =>
  isIP(host) !== 0 && !rules.allows(host, isSecure);

/** Throws BAD_USER_INPUT if the host of a URL is an address that calls may not reach. Names are not looked up. */
export function checkLiteralHost(rules: AddressRules, hostname: string, isSecure: boolean): void {
  const host = withoutBrackets(hostname);
  if (isRefusedLiteral(rules, host, isSecure)) throw refusedHost(host, isSecure);
}

/**
 * Creates an agent that checks the address of each connection when it is opened, so that a name cannot change its
 * address between a check and the connection. All addresses of a name must be allowed, so that none hides behind another.
 */
export function createGuardedAgent({ rules, lookup, timeouts }: AgentOptions): Agent {
  const connectors = {
    'https:': createConnector(rules, true, lookup, timeouts.connect),
    'http:': createConnector(rules, false, lookup, timeouts.connect),
  };
  return new Agent({
    connect: (options, callback) => connectors[options.protocol as keyof typeof connectors](options, callback),
    headersTimeout: timeouts.firstByte,
    bodyTimeout: timeouts.idle,
    allowH2: false,
  });
}

function createConnector(
  rules: AddressRules,
  isSecure: boolean,
  lookup: LookupFunction,
  timeout: number,
): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout,
    lookup: (host, options, callback) =>
      lookup(host, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, '', 0);
        const addresses = found as { address: string; family: number }[];
        const isAllowed =
          rules.namesHost(host) ||
          (addresses.length > 0 && addresses.every(({ address }) => rules.allows(address, isSecure)));
        if (!isAllowed) return callback(refusedHost(host, isSecure), '', 0);
        if (options.all) return callback(null, addresses);
        callback(null, addresses[0]!.address, addresses[0]!.family);
      }),
  });
  return (options, callback) => {
    const host = withoutBrackets(options.hostname);
    // Node looks up names only, so that a literal address is checked here.
    if (isRefusedLiteral(rules, host, isSecure)) return callback(refusedHost(host, isSecure), null);
    // Whatever fails here, be it DNS, TCP or TLS, happens before the host has received a request.
    connect(options, (...result) => {
      const [error] = result;
      if (error === null || error instanceof ApiError) callback(...result);
      else callback(notResponding(host, { cause: error }), null);
    });
  };
}
