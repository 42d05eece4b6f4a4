import { CARDS, htmlPage } from './html.ts';

/**
 * The page at `/password-reset/{token}`. It does not contain the token: its script reads the token from the address.
 */
export const PASSWORD_RESET_PAGE = htmlPage(
  'New password',
  `<main>
  <h1>New password</h1>
  <p class="lead">Set the password you will log in with. It ends all your sessions.</p>
  <noscript><p>This page needs JavaScript.</p></noscript>
  <form id="reset" class="card">
    <label>
      New password
      <input name="password" type="password" autocomplete="new-password"
        minlength="12" maxlength="1024" required autofocus>
    </label>
    <label>Repeat the password <input name="again" type="password" autocomplete="new-password" required></label>
    <button>Set password</button>
    <p id="problem" role="alert"></p>
  </form>
  <section id="done" class="card" hidden><p>Your new password is set.</p><a href="/">Log in</a></section>
</main>
<script src="/password-reset.js"></script>`,
  { head: '<meta name="robots" content="noindex">' },
);

/** The page of a link that no longer works. */
export const LINK_GONE_PAGE = htmlPage(
  'Link expired',
  `<main>
  <h1>This link no longer works</h1>
  <p class="lead">It was already used, has expired or never existed. A link works once, within an hour.</p>
  <nav>${CARDS.login}</nav>
</main>`,
  { head: '<meta name="robots" content="noindex">' },
);

export const PASSWORD_RESET_SCRIPT = `const byId = (id) => document.getElementById(id);
byId('reset').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { password, again } = Object.fromEntries(new FormData(event.target));
  byId('problem').textContent = password === again ? '' : 'The two passwords differ.';
  if (password !== again) return;
  const button = event.target.querySelector('button');
  button.disabled = true;
  try {
    const response = await fetch('/api' + location.pathname, {
      method: 'POST',
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    });
    if (!response.ok) throw new Error((await response.json()).message);
    // Removes the used link from the history.
    history.replaceState(null, '', '/');
    byId('reset').hidden = true;
    byId('done').hidden = false;
  } catch (error) {
    byId('problem').textContent = error.message;
  } finally {
    button.disabled = false;
  }
});
`;
