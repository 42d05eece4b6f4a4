/* The files of the app of the demo. */

const ORDERS = `create table orders (
  id bigint generated always as identity primary key,
  external_id text not null unique,
  customer text not null,
  status text not null default 'new' check (status in ('new', 'shipped', 'returned')),
  total numeric(12, 2) not null,
  received_at timestamptz not null default now()
);
create index orders_status on orders (status, received_at desc);

create table order_items (
  order_id bigint not null references orders on delete cascade,
  position int not null,
  sku text not null,
  quantity int not null check (quantity > 0),
  price numeric(12, 2) not null check (price >= 0),
  primary key (order_id, position)
);
`;

const EXAMPLE = `with received as (
  insert into orders (external_id, customer, status, total) values ('EXAMPLE-1', 'Example customer', 'shipped', 39.90)
  returning id
)
insert into order_items select id, 1, 'MUG-BLUE', 2, 19.95 from received;
`;

const ORDER = `export interface Item {
  sku: string;
  quantity: number;
  price: number;
}

export interface Order {
  id: string;
  customer: string;
  items: Item[];
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.length <= 200;
const isItem = (item: Item | null): boolean =>
  isText(item?.sku) && Number.isInteger(item.quantity) && item.quantity > 0 && Number.isFinite(item.price) && item.price >= 0;

/** Returns the order of a request; null if the body is not an order. */
export function readOrder(body: any): Order | null {
  const isOrder = isText(body?.id) && isText(body.customer) && Array.isArray(body.items) && body.items.every(isItem);
  return isOrder ? body : null;
}

/** Returns the sum of the items. */
export const totalOf = ({ items }: Order): number => items.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
`;

const WEBHOOK = `import { readOrder, totalOf } from '../lib/order.ts';

/** Receives an order of the shop. A shop that repeats its call gets the same order, which is stored once. */
export async function post({ request, env, crypto, respond, transaction, emit, log }) {
  // Shorter: \`config.verify\` checks the signature before the code runs.
  const signature = request.headers['x-signature'] ?? '';
  if (!crypto.verifyHmac('sha256', env.ORDER_SECRET, request.rawBody, signature))
    return respond(401, { error: 'The signature is wrong' });
  const order = readOrder(request.body);
  if (!order) return respond(400, { error: 'The body is not an order' });

  const isNew = await transaction(async ({ query }) => {
    const [added] = await query(
      'insert into orders (external_id, customer, total) values ($1, $2, $3) on conflict do nothing returning id',
      [order.id, order.customer, totalOf(order)],
    );
    if (!added) return false;
    await query(
      \`insert into order_items
      select $1, i.position, i.item ->> 'sku', (i.item ->> 'quantity')::int, (i.item ->> 'price')::numeric
      from jsonb_array_elements($2::jsonb) with ordinality i (item, position)\`,
      [added.id, JSON.stringify(order.items)],
    );
    return true;
  });
  if (!isNew) return respond(200, { id: order.id, duplicate: true });
  log.info(\`Received the order \${order.id}\`);
  // Agents may wait for this event.
  await emit('order.received', { id: order.id, customer: order.customer });
  return respond(201, { id: order.id, duplicate: false });
}
`;

const VIEW = `/** Returns the latest orders with a status: \`new\`, \`shipped\` or \`returned\`. */
export const get = ({ query, request }) =>
  query(
    \`select o.external_id as id, o.customer, o.total::float8 as total, o.received_at as "receivedAt",
      (select count(*)::int from order_items i where i.order_id = o.id) as items
    from orders o
    where o.status = $1
    order by o.received_at desc, o.id desc
    limit 100\`,
    [request.params.status],
  );
`;

/** The files of the app, by their paths. */
export const DEMO_APP_FILES: Readonly<Record<string, string>> = {
  'migrations/001-orders.sql': ORDERS,
  'migrations/002-example.sql': EXAMPLE,
  'lib/order.ts': ORDER,
  'webhooks/orders.ts': WEBHOOK,
  'server/orders/[status].ts': VIEW,
};
