/** A response that a browser shows. */
interface Shown {
  url: string;
  status: number;
  headers: Headers;
  text: string;
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** A client that stores cookies by origin and path, follows redirects and submits forms, as a browser does. */
export class BrowserSession {
  readonly #cookies = new Map<string, { value: string; path: string; attributes: string }>();

  /** Returns a cookie with its attributes, undefined if there is none. */
  cookie(origin: string, name: string): { value: string; path: string; attributes: string } | undefined {
    return this.#cookies.get(`${origin} ${name}`);
  }

  setCookie(origin: string, name: string, value: string): void {
    this.#cookies.set(`${origin} ${name}`, { ...this.cookie(origin, name)!, value });
  }

  /** Requests a URL without following a redirect. */
  async request(url: string, form?: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    const { origin, pathname } = new URL(url);
    const cookies = [...this.#cookies]
      .filter(([key, { path }]) => key.startsWith(`${origin} `) && `${pathname}/`.startsWith(path.replace(/\/?$/, '/')))
      .map(([key, { value }]) => `${key.slice(origin.length + 1)}=${value}`);
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      ...(form && { body: new URLSearchParams(form) }),
      headers: { accept: ACCEPT, ...(cookies.length > 0 && { cookie: cookies.join('; ') }), ...headers },
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) this.#store(origin, line);
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  #store(origin: string, line: string): void {
    const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line)!;
    const path = /;\s*path=([^;]+)/i.exec(attributes)?.[1] ?? '/';
    const isGone = value === '' || /max-age=0/i.test(attributes) || /expires=Thu, 01 Jan 1970/i.test(attributes);
    if (isGone) this.#cookies.delete(`${origin} ${name}`);
    else this.#cookies.set(`${origin} ${name}`, { value, path, attributes });
  }

  /** Opens a URL and follows redirects until `isEnd` of the next URL, by default to the end. */
  async open(
    url: string,
    isEnd: (next: string) => boolean = () => false,
    form?: Record<string, string>,
  ): Promise<Shown> {
    let shown = await this.request(url, form);
    for (let count = 0; count < 15 && shown.status >= 300 && shown.status < 400; count += 1) {
      const next = new URL(shown.headers.get('location')!, shown.url).href;
      if (isEnd(next)) return { ...shown, url: next };
      shown = await this.request(next);
    }
    return shown;
  }

  /** Submits the first form of a page, with further values, and follows redirects. */
  submit(page: Shown, values: Record<string, string>, isEnd?: (next: string) => boolean): Promise<Shown> {
    const action = /<form[^>]*action="([^"]*)"/.exec(page.text)![1]!;
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    const form = { ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])), ...values };
    return this.open(new URL(action, page.url).href, isEnd, form);
  }
}
