import { byCodePoints } from './app-migration-path.ts';

/** The folders of modules that handle requests, and the methods of their routes. */
export const ROUTE_METHODS = {
  server: ['get', 'post', 'put', 'patch', 'delete'],
  webhooks: ['get', 'post', 'put'],
} as const;
export type RouteFolder = keyof typeof ROUTE_METHODS;

const MODULE = /^(?:server|webhooks|lib)\/(?:[^]*\/)?[^/]+\.(?:js|ts)$/;
const PARAMETER = /^\[([A-Za-z_]\w*)\]$/;

/** Returns whether a file of an app is a module of its code. */
export const isCode = (path: string): boolean => MODULE.test(path);

/** Returns the folder of a module with routes; null for one that is only imported. */
export function routeFolderOf(path: string): RouteFolder | null {
  const [folder, ...rest] = path.split('/');
  if (!isCode(path) || folder === 'lib' || path.endsWith('.d.ts')) return null;
  return rest.some((part) => part.startsWith('_')) ? null : (folder as RouteFolder);
}

/** Returns the path of the route of a module, e.g. `/orders/:id`, or why its name has none. */
export function routePathOf(modulePath: string): { path: string } | { problem: string } {
  const parts = modulePath
    .replace(/\.(?:js|ts)$/, '')
    .split('/')
    .slice(1);
  if (parts.at(-1) === 'index') parts.pop();
  const names: string[] = [];
  const segments: string[] = [];
  for (const part of parts) {
    const name = PARAMETER.exec(part)?.[1];
    if (name === undefined && (/[[\]]/.test(part) || part.startsWith(':')))
      return { problem: `The name ${part} is neither a text nor a parameter such as [id]` };
    if (name !== undefined && names.includes(name)) return { problem: `The parameter ${name} occurs twice` };
    if (name !== undefined) names.push(name);
    segments.push(name === undefined ? part : `:${name}`);
  }
  return { path: `/${segments.join('/')}` };
}

/** Returns the path of a route without the names of its parameters: equal ones match the same requests. */
export const shapeOf = (path: string): string => path.replaceAll(/\/:[^/]+/g, '/:');

/** Orders paths of routes so that the first one that matches is the right one: texts before parameters. */
export function byPrecedence(one: string, other: string): number {
  const [ones, others] = [one.split('/'), other.split('/')];
  for (const [i, part] of ones.entries()) {
    const counterpart = others[i];
    if (counterpart === undefined) return 1;
    const order = Number(part.startsWith(':')) - Number(counterpart.startsWith(':')) || byCodePoints(part, counterpart);
    if (order !== 0) return order;
  }
  return ones.length - others.length;
}
