/** The page at `/password-reset/{token}`, the same for every token: its script takes the token from the address and sends it to the API. */
export const PASSWORD_RESET_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>New password</title><link rel="stylesheet" href="/home.css"></head>
<body>
<main>
  <h1>New password</h1>
  <p class="lead">Set the password you will log in with. It ends all your sessions.</p>
  <noscript><p>This page needs JavaScript.</p></noscript>
  <form id="reset">
    <label>New password <input name="password" type="password" autocomplete="new-password" minlength="12" maxlength="1024" required autofocus></label>
    <label>The same again <input name="again" type="password" autocomplete="new-password" required></label>
    <button>Set password</button>
    <p id="problem" role="alert"></p>
  </form>
  <section id="done" hidden><p>Your new password is set.</p><a href="/">Log in</a></section>
</main>
<script src="/password-reset.js"></script>
</body>
</html>
`;

export const PASSWORD_RESET_SCRIPT = `const by = (id) => document.getElementById(id);
by('reset').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { password, again } = Object.fromEntries(new FormData(event.target));
  by('problem').textContent = password === again ? '' : 'The two passwords differ.';
  if (password !== again) return;
  const button = event.target.querySelector('button');
  button.disabled = true;
  try {
    const answer = await fetch('/api' + location.pathname, { method: 'POST', credentials: 'omit', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ password }) });
    if (!answer.ok) throw new Error((await answer.json()).message);
    // The link is used up; nobody should find it in the history.
    history.replaceState(null, '', '/');
    by('reset').hidden = true;
    by('done').hidden = false;
  } catch (error) {
    by('problem').textContent = error.message;
  } finally {
    button.disabled = false;
  }
});
`;
