import { capitalize } from '../src/core/capitalize.ts';
import type { Row } from './route.ts';

/* How the OpenAPI document describes the rows that pass requests to handlers of apps. */

const DESCRIPTIONS = {
  view: 'The handler in the folder `server` of the app decides about query, body and response.',
  webhook:
    'The handler in the folder `webhooks` of the app decides about query, body and response. It acts as the owner of the ' +
    'app; credentials of the request are ignored. `id` is the UUID or the natural id of the app.',
  hook:
    'Calls a webhook of the app with this hook token. Such calls count neither to the address of the caller nor to the ' +
    'limit of other calls, and may call routes with `config.token`.',
};

/** Examples of the parameters in the path. */
const PARAMETERS: Readonly<Record<string, string>> = {
  id: 'default:order-inbox',
  path: 'orders',
  token: 'q3Zc1n0vT8mYkLw2RtXb5A',
};
/** A body, which may have any type. */
export const APP_BODY_EXAMPLE = '{"number": "A-1042", "status": "open"}';

/** Returns an example of a parameter in the path of a row that runs handlers; undefined for any other row. */
export const exampleOfAppRow = ({ options }: Row, name: string): string | undefined =>
  options.runsApp && PARAMETERS[name];

/** Returns id, summary and description of the operation of a row; undefined for a row that runs no handlers. */
export function namesOfAppRow({
  method,
  options: { runsApp },
}: Row): { id: string; summary: string; description: string } | undefined {
  if (!runsApp) return undefined;
  return {
    id: `${method.toLowerCase()}App${capitalize(runsApp)}`,
    summary: `Calls a ${method} ${runsApp === 'view' ? 'route' : 'webhook'} of an app${runsApp === 'hook' ? ' by its token' : ''}`,
    description: DESCRIPTIONS[runsApp],
  };
}
