import { htmlPage } from './html.ts';

/** The page on which a user sees and withdraws the rights of apps. */
export const GRANTS_PAGE = htmlPage(
  'Access of apps',
  `<main>
  <h1 id="title" tabindex="-1">Apps that may act as you</h1>
  <p class="lead">You have let these apps of other owners use your rights. An app that gets another owner asks again.</p>
  <noscript><p>This page needs JavaScript.</p></noscript>
  <p id="problem" role="alert"></p>
  <p id="notice" role="status"></p>
  <p id="empty" hidden>No app may act as you.</p>
  <ul id="grants" class="cards" aria-labelledby="title"></ul>
  <p><a href="/">Home</a></p>
</main>
<script src="/app-grants.js"></script>`,
  { head: '<meta name="robots" content="noindex">' },
);

/** Script of the page. It reads GraphQL with the session's cookie. */
export const GRANTS_SCRIPT = `const byId = (id) => document.getElementById(id);
const create = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const LIST = '{ appGrants { appId appName scopes hosts updatedAt lastUsedAt app { owner { name } } } }';
const time = (value) =>
  create('time', { dateTime: value }, new Date(value).toLocaleDateString('en', { dateStyle: 'medium' }));
const scopesText = ({ scopes, hosts }) => scopes.length === 0 ? 'Nothing' : scopes
  .map((scope) => scope === 'SEND' ? 'send to ' + (hosts.join(', ') || 'no host') : scope.toLowerCase())
  .join(', ');
const grantItem = (grant) => {
  const { appId, appName, updatedAt, lastUsedAt, app } = grant;
  const owner = app?.owner.name;
  const button = create('button', { type: 'button', className: 'quiet', onclick: () => withdraw(grant) }, 'Withdraw');
  button.setAttribute('aria-label', 'Withdraw the access of ' + appName);
  return create('li', { className: 'card' },
    create('strong', {}, create('a', { href: '/app-access/' + appId }, appName)), ...(owner ? [' of ' + owner] : []),
    create('p', {}, 'May: ' + scopesText(grant)),
    create('p', {}, 'Since ', time(updatedAt), ...(lastUsedAt ? [', last used ', time(lastUsedAt)] : [', not used yet'])),
    button);
};
const load = async () => {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: LIST }),
  });
  const { data, errors, message } = await response.json();
  byId('problem').textContent = data ? '' : errors?.[0].message ?? message;
  if (!data) return;
  byId('grants').replaceChildren(...data.appGrants.map(grantItem));
  byId('empty').hidden = data.appGrants.length > 0;
};
const withdraw = async ({ appId, appName }) => {
  byId('notice').textContent = '';
  const response = await fetch('/api/me/app-grants/' + appId, { method: 'DELETE' });
  if (!response.ok && response.status !== 404) {
    byId('problem').textContent = (await response.json()).message;
    return;
  }
  await load();
  byId('notice').textContent = appName + ' may do nothing as you.';
  byId('title').focus();
};
load();
`;
