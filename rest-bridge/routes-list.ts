import type { Endpoint } from './bridge.ts';
import { coordinateOf, templatePath } from './openapi.ts';

/**
 * Returns the text of `schema/routes.txt`: one line `METHOD path -> field, permission` for each route, sorted by path.
 */
export function routesList(endpoints: readonly Endpoint[]): string {
  const lines = endpoints.map((endpoint) => {
    const path = templatePath(endpoint.row.path);
    const field = coordinateOf(endpoint) ?? 'none';
    return { path, line: `${endpoint.row.method} ${path} -> ${field}, ${endpoint.permission}` };
  });
  lines.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : one.line < other.line ? -1 : 1));
  return ['# Generated from rest-bridge/routes, never edited.', ...lines.map(({ line }) => line), ''].join('\n');
}
