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
 * Speaks what Elasticsearch and OpenSearch both understand: plain media types in place of the vendor's own. OpenSearch does not say that it is
 * Elasticsearch, which the client wants to hear, so every answer does. What an adapter asks must be known to both all the same.
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
