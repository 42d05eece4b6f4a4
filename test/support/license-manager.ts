import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A report that the license manager has received. */
interface ReceivedReport {
  tenant: string;
  month: string;
  used: number;
}

/** A license manager on loopback. */
export interface FakeLicenseManager {
  url: string;
  /** The reports in order. */
  reports: ReceivedReport[];
  /** How it responds; by default with 5000 credits. */
  respond: (report: ReceivedReport, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Responds with a status and a body. */
export const respondWith = (status: number, body: unknown) => (_: ReceivedReport, response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

/** Starts a license manager with the path `/v1/credits`. */
export async function startLicenseManager(): Promise<FakeLicenseManager> {
  const server = createServer((request, response) => {
    void receive(request).then((body) => {
      if (request.method !== 'POST' || request.url !== '/v1/credits') return respondWith(405, {})(body, response);
      fake.reports.push(body);
      return fake.respond(body, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const fake: FakeLicenseManager = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    reports: [],
    respond: respondWith(200, { included: 5000 }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return fake;
}

async function receive(request: IncomingMessage): Promise<ReceivedReport> {
  let text = '';
  for await (const part of request) text += String(part);
  return JSON.parse(text) as ReceivedReport;
}
