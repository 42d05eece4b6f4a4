import { ApolloClient, ApolloLink, HttpLink } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';
import { createCache } from './cache.ts';

export interface Connection {
  client: ApolloClient;
  /** Closes the WebSocket. */
  close(): Promise<void>;
}

/**
 * Connects to a service: by WebSocket for subscriptions, which opens when it is needed, by HTTP for the rest. On a page
 * of the service's own origin leave out `authorization`: the browser sends the cookie of the session.
 */
export function connect(url: string, authorization?: string): Connection {
  const address = new URL('/graphql', url);
  const http = new HttpLink({
    uri: address.href,
    headers: authorization ? { authorization } : {},
  });
  const socket = createClient({
    url: address.href.replace(/^http/, 'ws'),
    connectionParams: authorization ? { authorization } : {},
  });
  const link = ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(socket),
    http,
  );
  return {
    client: new ApolloClient({ link, cache: createCache() }),
    async close() {
      await socket.dispose();
    },
  };
}
