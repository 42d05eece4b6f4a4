import { describe, expect } from 'vitest';
import { BROWSER_FIXTURE, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { CLIENT, logInAtProvider, startOidcProvider } from '../support/identity-provider-server.ts';
import { test as base } from '../support/provider-login-fixture.ts';

const test = base.extend<WithBrowser>(BROWSER_FIXTURE);

/** Runs in the page: sets a green square as the avatar of a user and shows it. Returns the status and the size shown. */
async function setAvatarInPage(username: string) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 40;
  const context = canvas.getContext('2d')!;
  context.fillStyle = 'green';
  context.fillRect(0, 0, 40, 40);
  const picture = await new Promise<Blob>((resolve) => canvas.toBlob((blob) => resolve(blob!)));
  const form = new FormData();
  form.append('avatar', picture, 'me.png');
  const response = await fetch(`/api/users/${username}/avatar`, { method: 'PUT', body: form });
  const { avatarUrl } = (await response.json()) as { avatarUrl: string };
  const image = document.createElement('img');
  image.src = avatarUrl;
  document.body.prepend(image);
  await image.decode();
  return { status: response.status, width: image.naturalWidth };
}

/** Runs in the page: subscribes to the feed of a team with the session's cookie and shows each message. */
function followFeedInPage(teamId: string) {
  const list = document.createElement('ul');
  list.id = 'feed';
  document.body.prepend(list);
  const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.addEventListener('open', () => send({ type: 'connection_init' }));
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const { type, payload } = JSON.parse(data) as {
      type: string;
      payload: { data: { teamFeed: { message: string } } };
    };
    if (type === 'connection_ack') {
      const query = 'subscription ($teamId: ID!) { teamFeed(teamId: $teamId) { message } }';
      send({ id: '1', type: 'subscribe', payload: { query, variables: { teamId } } });
    }
    if (type !== 'next') return;
    const item = document.createElement('li');
    item.textContent = payload.data.teamFeed.message;
    list.append(item);
  });
}

describe.skipIf(!HAS_CHROMIUM)('a person in a browser', () => {
  test('logs in at a provider, sets an avatar and sees the comment of a colleague arrive', async ({
    admin,
    browser,
    service,
  }) => {
    const corp = await startOidcProvider(
      { uma: { preferred_username: 'uma', name: 'Uma' } },
      `${service.url}/api/login/corp/callback`,
    );
    const { id: teamId } = await admin.creates('/teams', { name: 'Sales' });
    const provider = {
      domain: 'corp',
      name: 'Corp',
      issuer: corp.url,
      ...CLIENT,
      createUsers: true,
      teamIds: [teamId],
    };
    await admin.creates('/identity-providers', provider);

    const { page, problems } = await openPage(browser, service.url);
    await page.goto(`${service.url}/api/login/corp`);
    await logInAtProvider(page, 'uma');
    await page.waitForURL(`${service.url}/`);
    // The provider's pages load fonts from elsewhere.
    problems.length = 0;

    expect(await page.evaluate(setAvatarInPage, 'uma')).toEqual({ status: 200, width: 256 });
    await page.evaluate(followFeedInPage, teamId);
    // Comments that are written before the subscription is active do not arrive.
    const message = 'The figures of May are complete.';
    await expect
      .poll(async () => {
        await admin.creates(`/teams/${teamId}/comments`, { message });
        return page.locator('#feed li').allInnerTexts();
      })
      .toContainEqual(expect.stringContaining('admin'));
    await takeScreenshot(page, 'people');
    expect(problems).toEqual([]);
    await page.context().close();
    await corp.close();
  });
});
