import { UndiciConnection } from '@elastic/elasticsearch';
import type {
  ConnectionRequestOptions,
  ConnectionRequestOptionsAsStream,
  ConnectionRequestParams,
  ConnectionRequestResponse,
  ConnectionRequestResponseAsStream,
} from '@elastic/elasticsearch';

const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';

/**
 * Uses plain media types, which both Elasticsearch and OpenSearch accept, instead of the vendor's own. It also adds
 * the product header that the client requires and OpenSearch does not send. Requests must still be supported by both
 * engines.
 */
export class PlainConnection extends UndiciConnection {
  override request(
    params: ConnectionRequestParams,
    options: ConnectionRequestOptions,
  ): Promise<ConnectionRequestResponse>;
  override request(
    params: ConnectionRequestParams,
    options: ConnectionRequestOptionsAsStream,
  ): Promise<ConnectionRequestResponseAsStream>;
  override async request(
    params: ConnectionRequestParams,
    options: ConnectionRequestOptions,
  ): Promise<ConnectionRequestResponse | ConnectionRequestResponseAsStream> {
    const headers = {
      ...params.headers,
      accept: JSON_TYPE,
      'content-type': String(params.headers?.['content-type']).includes('ndjson') ? LINES_TYPE : JSON_TYPE,
    };
    const answer = await super.request({ ...params, headers }, options);
    return { ...answer, headers: { ...answer.headers, 'x-elastic-product': 'Elasticsearch' } };
  }
}
