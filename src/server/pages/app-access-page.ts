import type { FastifyInstance, FastifyRequest } from 'fastify';
import { APP_SCOPES, type AppScope, type DeclaredAccess, type GrantedAccess } from '../../core/app-access.ts';
import { ApiError } from '../../core/errors.ts';
import { findGrantedApp, findGrant } from '../../services/app/app-grant.ts';
import type { ViewedApp } from '../../services/app/find-running-app.ts';
import type { CreateContext } from '../request-context.ts';
import { GRANTS_PAGE, GRANTS_SCRIPT } from './app-grants-page.ts';
import { appReturnPath } from './app-return-path.ts';
import { CARDS, escapeHtml, htmlPage, sendHtml } from './html.ts';
import { sendNotFoundPage } from './not-found-page.ts';

const HEAD = { head: '<meta name="robots" content="noindex">' };

/** The page for a browser without a session. */
const LOGIN_PAGE = htmlPage(
  'Log in',
  `<main>
  <h1>Log in first</h1>
  <p class="lead">Then open this page again.</p>
  <nav>${CARDS.home}</nav>
</main>`,
  HEAD,
);

/** Returns the line of a scope. Required ones are chosen, the others by a user who has granted them. */
const scopeLine = (scope: AppScope, { required, hosts }: DeclaredAccess, granted: GrantedAccess): string => {
  const checked = required.includes(scope) || granted.scopes.includes(scope) ? ' checked' : '';
  const names = scope === 'send' ? `: ${hosts.map(escapeHtml).join(', ') || 'none'}` : '';
  const note = required.includes(scope) ? ' (the app does not run without it)' : '';
  return `<label class="choice"><input type="checkbox" name="scope" value="${scope}"${checked}>
      <strong>${scope}</strong>: ${APP_SCOPES[scope]}${names}${note}</label>`;
};

/** Returns the page on which a user grants an app the rights that it declares. */
function grantPage({ app, access, ownerName }: ViewedApp, granted: GrantedAccess, returnTo: string): string {
  const lines = access.scopes.map((scope) => scopeLine(scope, access, granted)).join('\n    ');
  const owner = ownerName === null ? '' : ` of <strong>${escapeHtml(ownerName)}</strong>`;
  return htmlPage(
    'Access of an app',
    `<main>
  <h1>What may this app do as you?</h1>
  <p class="lead">The app <strong>${escapeHtml(app.name)}</strong>${owner} runs code of its authors when you use it.</p>
  <p>Its authors can see what it keeps, writes or sends. They can keep that after you change your choice, which you can do at any
    time.</p>
  <noscript><p>This page needs JavaScript.</p></noscript>
  <form id="grant" class="card" data-app="${app.id}" data-release-id="${app.releaseId}"
    data-return-to="${escapeHtml(returnTo)}" data-hosts="${escapeHtml(JSON.stringify(access.hosts))}">
    ${lines || '<p>The app declares nothing: it acts with its own tables only.</p>'}
    <button>Allow what is chosen</button>
    <button type="button" id="refuse" class="quiet">Allow nothing</button>
    <p id="problem" role="alert"></p>
    <p id="done" role="status"></p>
  </form>
  <p><a href="/app-access">All apps that may act as you</a></p>
</main>
<script src="/app-access.js"></script>`,
    HEAD,
  );
}

const SCRIPT = `const form = document.getElementById('grant');
const { app, releaseId, returnTo, hosts } = form.dataset;
const send = async (method, body) => {
  const problem = document.getElementById('problem');
  problem.textContent = '';
  const response = await fetch('/api/me/app-grants/' + app, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok && !(method === 'DELETE' && response.status === 404)) {
    problem.textContent = (await response.json()).message;
    return;
  }
  if (method === 'PUT' && returnTo) location.replace(returnTo);
  else document.getElementById('done').textContent = method === 'PUT' ? 'Saved.' : 'The app may do nothing as you.';
};
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const scopes = [...form.querySelectorAll('input:checked')].map(({ value }) => value);
  void send('PUT', { scopes, hosts: scopes.includes('send') ? JSON.parse(hosts) : [], releaseId });
});
document.getElementById('refuse').addEventListener('click', () => void send('DELETE'));
`;

/**
 * Registers the page on which a user grants an app access, the page of all grants of a user, and their scripts. See
 * docs/contract/handlers.md#grants-to-apps.
 */
export function registerAppAccessPage(app: FastifyInstance, createContext: CreateContext): void {
  app.get('/app-access', async (request, reply) => {
    const { viewer } = await createContext(request, reply, 'rest');
    return viewer?.authMethod === 'session' ? sendHtml(reply, GRANTS_PAGE) : sendHtml(reply.code(401), LOGIN_PAGE);
  });
  app.get<{ Params: { id: string } }>('/app-access/:id', async (request, reply) => {
    const { viewer, ...context } = await createContext(request as FastifyRequest, reply, 'rest');
    if (viewer?.authMethod !== 'session') return sendHtml(reply.code(401), LOGIN_PAGE);
    const ctx = Object.assign(context, { viewer }) as Parameters<typeof findGrantedApp>[0];
    try {
      const found = await findGrantedApp(ctx, request.params.id);
      const granted = await findGrant(ctx, found.app);
      const { returnTo } = request.query as { returnTo?: unknown };
      return await sendHtml(reply, grantPage(found, granted, appReturnPath(viewer, found.app, returnTo)));
    } catch (error) {
      const page =
        error instanceof ApiError && error.status === 404 && sendNotFoundPage(request as FastifyRequest, reply);
      if (page) return page;
      throw error;
    }
  });
  for (const [path, script] of [
    ['/app-access.js', SCRIPT],
    ['/app-grants.js', GRANTS_SCRIPT],
  ] as const)
    app.get(path, async (_request, reply) =>
      reply.header('content-type', 'text/javascript; charset=utf-8').send(script),
    );
}
