import type { Endpoint } from './bridge.ts';
import { coordinateOf, templatePath } from './openapi.ts';

/** The text of `schema/routes.txt`: `METHOD path -> field, permission`, one line a route, sorted by path. */
export function routesList(endpoints: readonly Endpoint[]): string {
  const lines = endpoints.map((endpoint) => ({
    path: templatePath(endpoint.row.path),
    line: `${endpoint.row.method} ${templatePath(endpoint.row.path)} -> ${coordinateOf(endpoint) ?? 'none'}, ${endpoint.permission}`,
  }));
  lines.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : one.line < other.line ? -1 : 1));
  return ['# Generated from rest-bridge/routes, never edited.', ...lines.map(({ line }) => line), ''].join('\n');
}
