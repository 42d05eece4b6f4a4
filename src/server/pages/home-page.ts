import { CARDS, htmlPage } from './html.ts';

const MAIL_SENT = 'If there is such a user, a mail with a link is on its way.';
const NO_MAIL = 'This service sends no mail: ask an administrator for the link. It works once, within an hour.';
const UPLOADABLE = '.csv,.tsv,.txt,.json,.ndjson,.jsonl,.parquet,.xlsx,.ods,.sqlite,.db';

/**
 * Returns the page at `/`: a login form, so that the other pages work with a session, and links to these pages. With a
 * session it shows the caller's datasets and operations instead of the form. Its script reads the session only if the
 * caller `isLoggedIn`; without one, the response would be an error.
 */
export const homePage = (isLoggedIn: boolean, sendsMail: boolean): string =>
  htmlPage(
    'Data Workspace',
    `<header>
  <h1>Data Workspace</h1>
  <p id="session" hidden>
    <span>Logged in as <strong id="who"></strong> in tenant <strong id="tenant"></strong></span>
    <a href="/app-access">Access of apps</a>
    <button id="logout" type="button" class="quiet">Log out</button>
  </p>
</header>
<main>
  <form id="login" class="card" hidden>
    <h2>Log in</h2>
    <label>Username <input name="username" autocomplete="username" required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <label>Tenant <input name="tenant" value="default" required></label>
    <button>Log in</button> <button id="forgotten" type="button" class="quiet">Forgot password</button>
    <p id="providers"></p>
    <p id="problem" role="alert"></p>
    <p id="hint" role="status" data-requested="${sendsMail ? MAIL_SENT : NO_MAIL}"></p>
  </form>
  <section id="workspace" class="card" aria-labelledby="datasets-title" hidden>
    <div class="bar">
      <h2 id="datasets-title">Datasets</h2>
      <input id="search" type="search" placeholder="Search" aria-label="Search datasets">
      <label id="upload" class="button" hidden>Upload a file <input id="file" type="file" accept="${UPLOADABLE}"></label>
    </div>
    <p id="notice" role="status"></p>
    <div class="scroll">
      <table>
        <thead><tr><th>Name</th><th>Owner</th><th class="number">Rows</th><th>Updated</th><th></th></tr></thead>
        <tbody id="datasets"></tbody>
      </table>
      <p id="more"></p>
    </div>
  </section>
  <aside>
    <section id="running" class="card" aria-labelledby="operations-title" hidden>
      <h2 id="operations-title">Operations</h2>
      <ul id="operations"></ul>
    </section>
    <nav aria-label="Interfaces">
      ${CARDS.graphiql} ${CARDS.docs} ${CARDS.schema} ${CARDS.subgraph} ${CARDS.openapi}
    </nav>
  </aside>
</main>
<script src="/home.js"></script>`,
    { bodyAttributes: ` data-session="${isLoggedIn ? 'open' : 'none'}"` },
  );
