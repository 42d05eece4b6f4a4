/** The HTTP side of the fake of an AI provider: images, chat, failures on demand, a record of the calls. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createCompletion,
  findConversationProblem,
  type FakeMessage,
  type FakeReply,
  type IssuedKeys,
} from './fake-chat.ts';
import { runControl } from './fake-control.ts';
import { MODES, type FakeMode, type ModeName } from './modes.ts';
import { drawPng } from './png.ts';

export type CallKind = 'image' | 'chat';

/** A call that the fake received. */
export interface FakeCall {
  kind: CallKind;
  model: string;
  prompt?: string;
  size?: string;
  messages?: FakeMessage[];
  tools?: { type: string; function: { name: string; description?: string; parameters?: object } }[];
  max_tokens?: number;
}

/** Outcomes of the next calls of a kind. */
export interface FakeBehavior {
  /** Default: any. */
  kind?: CallKind;
  /** Number of calls. Default: 1. */
  count?: number;
  delayMs?: number;
  /** The response never comes. Clients of the real API wait ten minutes by default (github.com/openai/openai-node, Timeouts). */
  hangs?: boolean;
  /** The connection is lost without a response, or within it: an incomplete message (RFC 9112, 8). */
  isCut?: boolean | 'within';
  /** An error of the provider with this status (platform.openai.com/docs/guides/error-codes), in its form `{error: {message}}`. */
  status?: number;
  /** Words of the error. `{key}` and `{prompt}` stand for key and prompt of the call. */
  message?: string;
  /** Headers of the error, e.g. `retry-after`. */
  headers?: Record<string, string>;
  /** The error as a text in place of the protocol's form. */
  text?: string;
  /** A response with status 200 in place of the protocol's: a text as it is, or JSON. */
  body?: unknown;
  /** A response of this many bytes: an image, or the text of a chat. */
  bytes?: number;
  /** Base64 of a file in place of the image. */
  file?: string;
  /** The image is returned as a URL: of the fake if true. */
  url?: string | true;
}

const MAX_CALLS = 100_000;

export class AiFake {
  readonly apiKey = 'fake-ai-key-9f8e7d6c5b4a';
  readonly calls: FakeCall[] = [];
  /** Number of keys that reached the host of images, which must not get them. */
  leakedKeys = 0;
  readonly behaviors: FakeBehavior[] = [];
  /** Replies of the next chats. Without one the model repeats the last message. */
  readonly script: FakeReply[] = [];
  /** Keys of messages of the model that are refused, as Groq does ("property 'reasoning_content' is unsupported"). */
  readonly refusedKeys: string[] = [];
  readonly #issued: IssuedKeys = new Map();
  /** Runs when a call arrives. */
  onCall: (call: FakeCall) => void = () => {};
  /** Number of calls that have neither ended nor been aborted by the caller. */
  openCalls = 0;
  /** Pause before each response. */
  latencyMs = 0;
  readonly #images = new Map<string, Buffer>();
  readonly #api: Server = createServer((request, response) => void this.#serve(request, response));
  readonly #content: Server = createServer((request, response) => this.#serveImage(request, response));

  async listen(port: number): Promise<void> {
    for (const [server, at] of [
      [this.#api, port],
      [this.#content, port === 0 ? 0 : port + 1],
    ] as const) {
      server.listen(at, '127.0.0.1');
      await once(server, 'listening');
    }
  }

  async close(): Promise<void> {
    for (const server of [this.#api, this.#content]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** Settings of a provider of the service that calls the fake. */
  get provider() {
    return {
      name: 'Fake',
      baseUrl: `${originOf(this.#api)}/v1`,
      apiKey: this.apiKey,
      models: [
        { id: 'fake-image', kind: 'image', tier: 'everyday', sizes: ['1024x1024', '512x512', '64x64'], price: 0.04 },
        { id: 'fake-image-small', kind: 'image', tier: 'everyday', sizes: ['64x64', '32x32'], price: 0.013 },
        { id: 'fake-image-large', kind: 'image', tier: 'strategic', sizes: ['2048x2048'], price: 0.19 },
        { id: 'fake-chat', kind: 'chat', tier: 'everyday', inputPrice: 0.5, outputPrice: 1.5 },
        { id: 'fake-chat-large', kind: 'chat', tier: 'advanced', inputPrice: 2.5, outputPrice: 10 },
      ],
    };
  }

  /** Number of calls by kind. */
  get counts(): Record<CallKind, number> {
    const count = (kind: CallKind) => this.calls.filter((call) => call.kind === kind).length;
    return { image: count('image'), chat: count('chat') };
  }

  /** Lets the next call end as in a mode. */
  enter(name: ModeName): void {
    const { reply, behavior }: FakeMode = structuredClone(MODES[name]);
    if (reply) this.script.push(reply);
    if (behavior) this.behaviors.push(behavior);
  }

  /** Forgets calls, behaviors and script. */
  reset(): void {
    for (const list of [this.calls, this.behaviors, this.script, this.refusedKeys]) list.length = 0;
    this.#issued.clear();
    this.latencyMs = 0;
    this.leakedKeys = 0;
    this.onCall = () => {};
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = new URL(incoming.url ?? '/', 'http://fake').pathname;
      const body = await readBody(incoming);
      if (path.startsWith('/_control/')) return sendText(response, ...runControl(this, path, body));
      const kind = { '/v1/images/generations': 'image', '/v1/chat/completions': 'chat' }[path] as CallKind | undefined;
      if (!kind || incoming.method !== 'POST') return refuse(response, 404, 'Unknown path');
      this.openCalls += 1;
      response.once('close', () => (this.openCalls -= 1));
      const call = { ...(JSON.parse(body) as FakeCall), kind };
      this.calls.push(call);
      if (this.calls.length > MAX_CALLS) this.calls.shift();
      this.onCall(call);
      const behavior = this.#takeBehavior(kind);
      await delay(this.latencyMs + (behavior.delayMs ?? 0));
      if (behavior.hangs) return;
      if (behavior.isCut === true) return void response.destroy();
      if (behavior.isCut) return sendHalf(response);
      this.#respond(call, behavior, incoming.headers.authorization, response);
    } catch (error) {
      refuse(response, 400, (error as Error).message);
    }
  }

  #respond(call: FakeCall, behavior: FakeBehavior, authorization: string | undefined, response: ServerResponse): void {
    const { status, message = 'The request was refused', headers, text, body } = behavior;
    if (status !== undefined && text !== undefined) return sendText(response, status, text, headers);
    if (status !== undefined) return refuse(response, status, fill(message, call, this.apiKey), headers);
    if (authorization !== `Bearer ${this.apiKey}`)
      return refuse(response, 401, `Incorrect API key provided: ${authorization ?? 'none'}`);
    if (body !== undefined) return sendText(response, 200, typeof body === 'string' ? body : JSON.stringify(body));
    const problem = findProblem(call);
    if (problem) return refuse(response, 400, problem);
    const refusal = findConversationProblem(call.messages ?? [], this.#issued);
    if (refusal) return sendText(response, 400, JSON.stringify(refusal));
    const refused = call.messages?.findIndex((sent) => this.refusedKeys.some((key) => key in sent)) ?? -1;
    const unsupported = this.refusedKeys.map((key) => `property '${key}' is unsupported`).join(', ');
    if (refused >= 0) return refuse(response, 400, `'messages.${refused}' : for 'role:assistant' (${unsupported})`);
    sendText(
      response,
      200,
      JSON.stringify(call.kind === 'image' ? this.#image(call, behavior) : this.#chat(call, behavior)),
    );
  }

  #image({ prompt = '', size }: FakeCall, { bytes, file, url }: FakeBehavior): object {
    const [width = 512, height = 512] = (size ?? '').split('x').filter(Boolean).map(Number);
    let image = file === undefined ? drawPng(`${prompt} ${size}`, width, height) : Buffer.from(file, 'base64');
    if (bytes !== undefined) image = Buffer.concat([image, Buffer.alloc(Math.max(bytes - image.length, 0))]);
    if (typeof url === 'string') return { data: [{ url }] };
    if (!url) return { created: 0, data: [{ b64_json: image.toString('base64') }] };
    const name = `${this.calls.length}.png`;
    this.#images.set(name, image);
    return { created: 0, data: [{ url: `${originOf(this.#content)}/images/${name}?signature=secret` }] };
  }

  #chat({ messages = [] }: FakeCall, { bytes }: FakeBehavior): object {
    const last = messages.at(-1)?.content ?? '';
    const reply = this.script.shift() ?? { content: `You said: ${last.slice(0, 200)}` };
    const content = bytes === undefined ? reply.content : 'x'.repeat(bytes);
    return createCompletion({ ...reply, content }, messages, this.calls.length, this.#issued);
  }

  #serveImage({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    if (headers.authorization !== undefined) this.leakedKeys += 1;
    const image = this.#images.get(/^\/images\/([^?]+)/.exec(url)?.[1] ?? '');
    if (image) response.writeHead(200, { 'content-type': 'image/png' }).end(image);
    else response.writeHead(404).end();
  }

  #takeBehavior(kind: CallKind): FakeBehavior {
    const behavior = this.behaviors.find((waiting) => (waiting.kind ?? kind) === kind);
    if (!behavior) return {};
    behavior.count = (behavior.count ?? 1) - 1;
    if (behavior.count === 0) this.behaviors.splice(this.behaviors.indexOf(behavior), 1);
    return behavior;
  }
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function findProblem({ kind, model, prompt, messages }: FakeCall): string | undefined {
  if (typeof model !== 'string') return 'model is required';
  if (kind === 'image' && typeof prompt !== 'string') return 'prompt is required';
  if (kind === 'chat' && !Array.isArray(messages)) return 'messages is required';
  return undefined;
}

const fill = (message: string, call: FakeCall, key: string): string =>
  message.replaceAll('{key}', key).replaceAll('{prompt}', call.prompt ?? call.messages?.at(-1)?.content ?? '');

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** Sends the beginning of a response, and loses the connection. */
function sendHalf(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
  response.write('{"choices": [', () => response.destroy());
}

function sendText(response: ServerResponse, status: number, text: string, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

/** Sends an error in the form of the protocol. */
function refuse(response: ServerResponse, status: number, message: string, headers: object = {}): void {
  if (response.headersSent) return;
  const error = { message, type: 'invalid_request_error', code: null };
  sendText(response, status, JSON.stringify({ error }), headers);
}
