import { htmlPage } from './html.ts';
const MAIL_SENT = 'If there is such a user, a mail with a link is on its way.';
const NO_MAIL = 'This service sends no mail: ask an administrator for the link. It works once, within an hour.';

/**
 * Returns the page at `/`: a login form, so that the other pages work with a session, and links to these pages. Its
 * script reads the session only if the caller `isLoggedIn`; without one, the response would be an error.
 */
export const homePage = (isLoggedIn: boolean, sendsMail: boolean): string =>
  htmlPage(
    'Data Workspace',
    `<main>
  <h1>Data Workspace</h1>
  <p class="lead">Datasets and queries of your team, in GraphQL and in REST.</p>
  <form id="login" hidden>
    <h2>Log in</h2>
    <label>Username <input name="username" autocomplete="username" required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <label>Tenant <input name="tenant" value="default" required></label>
    <button>Log in</button> <button id="forgotten" type="button" class="quiet">Forgot password</button>
    <p id="problem" role="alert"></p>
    <p id="hint" role="status" data-requested="${sendsMail ? MAIL_SENT : NO_MAIL}"></p>
  </form>
  <section id="session" hidden>
    <p>Logged in as <strong id="who"></strong> in tenant <strong id="tenant"></strong>.</p>
    <button id="logout" type="button">Log out</button>
  </section>
  <nav>
    <a href="/graphiql"><strong>GraphiQL</strong><span>Try queries, mutations and subscriptions</span></a>
    <a href="/api/docs"><strong>REST reference</strong><span>Every route, with its parameters and responses</span></a>
    <a href="/graphql/schema.graphql">
      <strong>GraphQL schema</strong><span>The SDL, for code generators and registries</span>
    </a>
    <a href="/graphql/subgraph.graphql">
      <strong>Federation subgraph</strong><span>The schema as a federation 2 subgraph</span>
    </a>
    <a href="/api/openapi.json"><strong>OpenAPI 3.1</strong><span>The REST contract as JSON</span></a>
    <a href="/readyz"><strong>Readiness</strong><span>Whether everything the service needs is available</span></a>
  </nav>
</main>
<script src="/home.js"></script>`,
    { bodyAttributes: ` data-session="${isLoggedIn ? 'open' : 'none'}"` },
  );

export const HOME_STYLE = `:root {
  color-scheme: light dark;
  --line: color-mix(in srgb, currentColor 18%, transparent);
  --accent: #2563eb;
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
h1 { margin: 0; font-size: 2rem; letter-spacing: -0.02em; } h2 { margin: 0 0 1rem; font-size: 1.1rem; }
.lead { margin: .25rem 0 2rem; opacity: .75; }
form, section {
  border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin-bottom: 2rem; max-width: 24rem;
}
label { display: block; margin-bottom: .75rem; font-size: .9rem; }
input {
  display: block; width: 100%; margin-top: .25rem; padding: .5rem .6rem; font: inherit;
  border: 1px solid var(--line); border-radius: .4rem; background: transparent; color: inherit;
}
button {
  padding: .5rem 1rem; font: inherit; border: 0; border-radius: .4rem;
  background: var(--accent); color: #fff; cursor: pointer;
}
button.quiet { background: none; color: var(--accent); }
:is(input, button, a):focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#problem { margin: .75rem 0 0; color: #dc2626; min-height: 1.5em; } #problem:empty { display: none; }
section p { margin-top: 0; }
nav { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .75rem; }
nav a {
  display: block; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .75rem;
  color: inherit; text-decoration: none;
}
nav a:hover { border-color: var(--accent); } nav span { display: block; font-size: .85rem; opacity: .75; }
`;

export const HOME_SCRIPT = `const byId = (id) => document.getElementById(id);
const showSession = (session) => {
  byId('login').hidden = Boolean(session);
  byId('session').hidden = !session;
  if (session) {
    byId('who').textContent = session.user.username;
    byId('tenant').textContent = session.tenant;
  }
};
const call = (method, path, body) => fetch('/api' + path, {
  method,
  headers: body ? { 'content-type': 'application/json' } : {},
  body: body && JSON.stringify(body),
});
const loadSession = async () => {
  const response = await call('GET', '/session');
  showSession(response.ok ? await response.json() : null);
};
byId('login').addEventListener('submit', async (event) => {
  event.preventDefault();
  byId('problem').textContent = '';
  const response = await call('POST', '/login', Object.fromEntries(new FormData(event.target)));
  if (response.ok) {
    event.target.reset();
    await loadSession();
  } else byId('problem').textContent = (await response.json()).message;
});
byId('forgotten').addEventListener('click', async () => {
  const { username, tenant } = Object.fromEntries(new FormData(byId('login')));
  const response = username ? await call('POST', '/password-reset', { username, tenant }) : null;
  byId('problem').textContent =
    !response ? 'Enter your username first.' : response.ok ? '' : (await response.json()).message;
  byId('hint').textContent = response?.ok ? byId('hint').dataset.requested : '';
});
byId('logout').addEventListener('click', async () => {
  await call('POST', '/logout');
  showSession(null);
});
if (document.body.dataset.session === 'open') loadSession();
else showSession(null);
`;
