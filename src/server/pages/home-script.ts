/**
 * Script of the page at `/`. It reads GraphQL with the session's cookie, and follows unfinished operations through one
 * WebSocket (`graphql-transport-ws`).
 */
export const HOME_SCRIPT = `const byId = (id) => document.getElementById(id);
const create = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const call = (method, path, body) => fetch('/api' + path, {
  method,
  headers: body ? { 'content-type': 'application/json' } : {},
  body: body && JSON.stringify(body),
});
// Shows a message until the same cause has none.
const say = (cause, message) => {
  const notice = byId('notice');
  if (!message && notice.dataset.cause !== cause) return;
  notice.dataset.cause = cause;
  notice.textContent = message;
};
const graphql = async (cause, query, variables) => {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  if (response.status === 401) {
    showLogin();
    return null;
  }
  const { data, errors } = await response.json();
  say(cause, errors ? errors[0].message : '');
  return data;
};

const NAMED = ['Dataset', 'Job', 'Template', 'App', 'Library'].map((type) => '... on ' + type + ' { name }').join(' ');
const OPERATION = 'id operation status percent current total unit message finishedAt error { message }' +
  ' resource { id kind node { ' + NAMED + ' } }';
const WORKSPACE = 'query Home($q: String) { session { tenant permissions user { username } }' +
  ' datasets(q: $q, sort: "name", limit: 50) { total items { id slug name records dataUpdatedAt' +
  ' owner { name } lastRefresh { at success error } permissions { refresh } } }' +
  ' operations(limit: 4) { items { ' + OPERATION + ' } } }';
const PROGRESS = 'subscription Progress($id: ID!) { progress(id: $id) { ' + OPERATION + ' } }';
const REFRESH = 'mutation Refresh($id: ID!) { refreshDataset(id: $id, wait: false) { operation { ' + OPERATION + ' } } }';

// After an authorization the page is opened with the id of the library or toolkit that was connected.
const connectedId = new URLSearchParams(location.search).get('connected');
const CONNECTED = 'query Connected($id: ID!) { node(id: $id) { ... on Library { name connection { status }' +
  ' account { email } } ... on Toolkit { name connection { status } } } }';
const sayConnected = async () => {
  const { node } = await graphql('connected', CONNECTED, { id: connectedId }) ?? {};
  const email = node?.account?.email;
  say('connected', node?.connection?.status === 'CONNECTED'
    ? node.name + ' is connected' + (email ? ' with the account ' + email : '') + '.' : '');
};

const numbers = new Intl.NumberFormat('en');
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [['day', 86400], ['hour', 3600], ['minute', 60]];
const agoText = (time) => {
  const seconds = (new Date(time) - Date.now()) / 1000;
  const [unit, length] = UNITS.find(([, length]) => -seconds >= length) ?? [];
  return unit ? relative.format(Math.round(seconds / length), unit) : 'just now';
};
const ago = (time) =>
  create('time', { dateTime: time, title: new Date(time).toLocaleString() }, agoText(time));
const freshness = ({ lastRefresh, dataUpdatedAt }) => {
  if (lastRefresh && !lastRefresh.success)
    return [create('span', { className: 'problem', title: lastRefresh.error ?? '' }, 'failed ', ago(lastRefresh.at))];
  return dataUpdatedAt ? [ago(dataUpdatedAt)] : ['never'];
};
const rowsLink = ({ slug }) => '/graphiql?query=' + encodeURIComponent(
  '{\\n  dataset(id: "' + slug + '") {\\n    fields { name label type }\\n    data(limit: 20) { items total }\\n  }\\n}\\n');
const datasetRow = (dataset) => create('tr', { id: dataset.id },
  create('td', {}, create('a', { href: rowsLink(dataset), title: 'Show rows in GraphiQL' }, dataset.name)),
  create('td', {}, dataset.owner.name ?? ''),
  create('td', { className: 'number' }, dataset.records === null ? '' : numbers.format(dataset.records)),
  create('td', {}, ...freshness(dataset)),
  create('td', {},
    create('a', { href: '/api/datasets/' + dataset.id + '/export?format=csv', download: '' }, 'CSV'),
    create('a', { href: '/api/datasets/' + dataset.id + '/export?format=xlsx', download: '' }, 'Excel'),
    ...(dataset.permissions.refresh
      ? [create('button', { type: 'button', className: 'quiet', onclick: () => refresh(dataset.id) }, 'Refresh')]
      : [])));

let shown = '';
// Unchanged rows stay, and the focus stays where it was.
const showDatasets = (datasets) => {
  const text = JSON.stringify(datasets);
  if (text === shown) return;
  shown = text;
  const focused = document.activeElement;
  const row = focused?.closest('tr');
  byId('datasets').replaceChildren(...datasets.map(datasetRow));
  if (row?.id && byId(row.id))
    [...byId(row.id).querySelectorAll('a, button')].find((part) => part.textContent === focused.textContent)?.focus();
};

const WORDS = { QUEUED: 'waiting', RUNNING: 'running', SUCCEEDED: 'done', FAILED: 'failed', CANCELLED: 'cancelled' };
const isOpen = ({ status }) => status === 'QUEUED' || status === 'RUNNING';
const amount = ({ current, total, unit }) => current
  ? numbers.format(current) + (total ? ' of ' + numbers.format(total) : '') + ' ' + (unit ?? '')
  : '';
const operationItem = (operation) => {
  const { id, status, percent, message, error, resource, finishedAt } = operation;
  const name = operation.operation.replace(resource.kind + '_', '').replaceAll('_', ' ').toLowerCase();
  const bar = create('progress', { max: 100, ariaLabel: name });
  if (percent !== null) bar.value = percent;
  const details = [WORDS[status], error?.message ?? message, isOpen(operation) && amount(operation)].filter(Boolean);
  return create('li', { id },
    name[0].toUpperCase() + name.slice(1) + ' of ' + (resource.node?.name ?? 'a deleted ' + resource.kind.toLowerCase()),
    ...(isOpen(operation) ? [bar] : []),
    create('span', { className: error ? 'problem' : '' }, details.join(' · '), ...(finishedAt ? [' · ', ago(finishedAt)] : [])));
};
const showOperation = (operation) => {
  byId('running').hidden = false;
  const item = operationItem(operation);
  const shown = byId(operation.id);
  if (shown) shown.replaceWith(item);
  else byId('operations').prepend(item);
  if (isOpen(operation)) follow(operation.id);
};

const followed = new Set();
let socket = null;
const send = (message) => socket.send(JSON.stringify(message));
const subscribe = (id) => send({ type: 'subscribe', id, payload: { query: PROGRESS, variables: { id } } });
const follow = (id) => {
  if (followed.has(id)) return;
  followed.add(id);
  if (!socket) connect();
  else if (socket.acknowledged) subscribe(id);
};
const connect = () => {
  socket = new WebSocket(location.origin.replace('http', 'ws') + '/graphql', 'graphql-transport-ws');
  socket.onopen = () => send({ type: 'connection_init' });
  socket.onmessage = ({ data }) => {
    const { type, id, payload } = JSON.parse(data);
    if (type === 'connection_ack') {
      socket.acknowledged = true;
      followed.forEach(subscribe);
    } else if (type === 'ping') send({ type: 'pong' });
    else if (type === 'next' && payload.data) showOperation(payload.data.progress);
    else if (type === 'complete') {
      followed.delete(id);
      load();
    } else if (type === 'error') followed.delete(id);
  };
  // The next look at the workspace follows what still runs.
  socket.onclose = () => {
    socket = null;
    followed.clear();
  };
};

let offers = 0;
// Links the identity providers of the tenant in the form.
const offerProviders = async () => {
  const turn = ++offers;
  const response = await call('GET', '/login?tenant=' + encodeURIComponent(byId('login').elements.tenant.value));
  const providers = response.ok ? await response.json() : [];
  if (turn !== offers) return;
  byId('providers').replaceChildren(...providers.map(({ name, href }) =>
    create('a', { className: 'button quiet', href: href + '&returnTo=/' }, 'Log in with ' + name)));
};
const showLogin = () => {
  offerProviders();
  byId('login').hidden = false;
  for (const id of ['session', 'workspace', 'running']) byId(id).hidden = true;
  showDatasets([]);
  socket?.close();
};
let loads = 0;
const load = async () => {
  const turn = ++loads;
  const data = await graphql('load', WORKSPACE, { q: byId('search').value || null });
  if (!data || turn !== loads) return;
  byId('login').hidden = true;
  byId('session').hidden = byId('workspace').hidden = false;
  byId('who').textContent = data.session.user.username;
  byId('tenant').textContent = data.session.tenant;
  byId('upload').hidden = !data.session.permissions.includes('datasets:create');
  const { items, total } = data.datasets;
  showDatasets(items);
  byId('more').textContent = items.length === 0 ? 'No datasets.'
    : total > items.length ? 'The first ' + items.length + ' of ' + numbers.format(total) + '.' : '';
  byId('operations').replaceChildren();
  byId('running').hidden = data.operations.items.length === 0;
  data.operations.items.reverse().forEach(showOperation);
  for (const time of document.querySelectorAll('time')) time.textContent = agoText(time.dateTime);
};
const refresh = async (id) => {
  const data = await graphql('refresh', REFRESH, { id });
  if (data) showOperation(data.refreshDataset.operation);
};
const upload = async (file) => {
  say('upload', 'Uploading ' + file.name + ' …');
  const form = new FormData();
  form.append('name', file.name.replace(/\\.[^.]*$/, ''));
  form.append('file', file);
  // Without waiting, so that the operation is followed like any other.
  const headers = { prefer: 'respond-async' };
  const response = await fetch('/api/datasets/_upload', { method: 'POST', headers, body: form });
  say('upload', response.ok ? '' : (await response.json()).message);
  await load();
};

byId('login').addEventListener('submit', async (event) => {
  event.preventDefault();
  byId('problem').textContent = '';
  const response = await call('POST', '/login', Object.fromEntries(new FormData(event.target)));
  if (response.ok) {
    event.target.reset();
    await load();
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
  showLogin();
});
let typed;
byId('login').elements.tenant.addEventListener('input', () => {
  clearTimeout(typed);
  typed = setTimeout(offerProviders, 200);
});
byId('search').addEventListener('input', () => {
  clearTimeout(typed);
  typed = setTimeout(load, 200);
});
byId('file').addEventListener('change', async ({ target }) => {
  if (target.files[0]) await upload(target.files[0]);
  target.value = '';
});
const isVisible = () => document.visibilityState === 'visible' && byId('login').hidden;
document.addEventListener('visibilitychange', () => isVisible() && load());
setInterval(() => isVisible() && load(), 15000);
if (document.body.dataset.session === 'open') {
  load();
  if (connectedId) sayConnected();
} else showLogin();
`;
