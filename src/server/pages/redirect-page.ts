import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Confinement } from '../../core/authority.ts';
import type { Platform } from '../../core/platform.ts';
import { CARDS, escapeHtml, htmlPage, prefersHtml, sendHtml } from './html.ts';

/** The paths of an app: up to its id, or to its hook token. */
const APP_PATH = /^\/api\/(?:apps|hooks)\/[^/]+(?=\/|$)/;
const DOCUMENTS: ReadonlySet<string> = new Set(['document', 'embed', 'fencedframe', 'frame', 'iframe', 'object']);

/** Sends a page in place of a redirect of an app. Returns false if the client gets the redirect. */
export type SendRedirectPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  location: string,
  confinement?: Confinement,
) => boolean;

/**
 * Creates the function that asks before a browser follows a redirect of an app to another site: otherwise links to this
 * service would lead anywhere. Targets of the same app, `PUBLIC_URL`, `CORS_ORIGINS` and `REDIRECT_HOSTS` need no question,
 * unless the address may contain data that the app has read with the rights of its caller.
 */
export function createRedirectPage({ config, publicUrl }: Pick<Platform, 'config' | 'publicUrl'>): SendRedirectPage {
  const origins = new Set([new URL(publicUrl).origin, ...config.CORS_ORIGINS]);
  const hosts = new Set(config.REDIRECT_HOSTS.map((host) => host.toLowerCase()));
  return (request, reply, location, confinement) => {
    if (!isNavigation(request)) return false;
    const base = `${request.protocol}://${request.host}`;
    const target = URL.parse(location, `${base}${request.url}`);
    const isWeb = target !== null && /^https?:$/.test(target.protocol);
    if (confinement) {
      if (isWeb && confinement.hosts.includes(target.host)) return false;
      if (confinement.mayKeep && target && isOfSameApp(target, base, request.url)) return false;
    } else {
      // The `origin` of other protocols is `null`.
      if (target && origins.has(`${target.protocol}//${target.host}`)) return false;
      if (isWeb && (hosts.has(target.hostname.replace(/^\[|\]$/g, '')) || isOfSameApp(target, base, request.url)))
        return false;
    }
    void reply.removeHeader('location');
    void sendHtml(reply.code(200), redirectPage(target?.href ?? location, isWeb ? target : null, confinement));
    return true;
  };
}

/** Returns whether a browser opens the response. Over plain HTTP browsers do not say so: who accepts HTML counts as one. */
function isNavigation(request: FastifyRequest): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': dest } = request.headers;
  if (mode === undefined && dest === undefined) return prefersHtml(request);
  return mode === 'navigate' || DOCUMENTS.has(String(dest));
}

/** Returns whether a URL is a path of the app that a request calls. */
function isOfSameApp(target: URL, base: string, url: string): boolean {
  const prefix = APP_PATH.exec(url.split('?', 1)[0]!)?.[0];
  return (
    target.origin === URL.parse(base)?.origin && prefix !== undefined && APP_PATH.exec(target.pathname)?.[0] === prefix
  );
}

const LEAVING = {
  title: 'You are leaving this site',
  lead: 'An app sends you to another site. Continue only if you know it.',
};
const TELLING = {
  title: 'Open this address?',
  lead: 'An app sends you to an address that may contain what it has read with your rights. Continue only if you trust the app.',
};

/** Returns the page that names a target. Without a `link` there is nothing to open. */
const redirectPage = (target: string, link: URL | null, confinement: Confinement | undefined): string => {
  const { title, lead } = confinement ? TELLING : LEAVING;
  return htmlPage(
    title,
    `<main>
  <h1>${title}</h1>
  <p class="lead">${lead}</p>
  <p><code>${escapeHtml(target)}</code></p>
  ${link ? `<p><a href="${escapeHtml(link.href)}" rel="noreferrer">Continue to ${escapeHtml(link.host)}</a></p>` : ''}
  <nav>${CARDS.home}</nav>
</main>`,
    { head: '<meta name="robots" content="noindex">' },
  );
};
