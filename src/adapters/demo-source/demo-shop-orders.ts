/**
 * Orders follow the year (December high, summer low),
   the week and a steady growth; each belongs to a customer who was
 * registered by then.
 */
export const ORDERS = `
create temp table day as
select day, round(120000 * upto / total)::integer as last, round(120000 * (upto - weight) / total)::integer as before
from (
  select day, weight, sum(weight) over (order by day) as upto, sum(weight) over () as total
  from (
    select day,
      (array[0.85, 0.8, 0.95, 1.0, 1.05, 0.9, 0.75, 0.78, 1.0, 1.1, 1.45, 1.7])[extract(month from day)::integer]
      * (array[1.1, 1.0, 0.97, 1.0, 1.05, 0.9, 1.2])[extract(isodow from day)::integer]
      * (0.7 + 0.6 * n / 730.0) * (0.85 + 0.3 * pg_temp.dice(n, 40)) as weight
    from generate_series(0, 730) as n, lateral (select current_date - 730 + n as day) as d
  ) as w
) as s;

create temp table draft as
select id,
  1 + floor(pg_temp.dice(id, 41) ^ 1.6
    * least(5000, 5000 * (1096 - (current_date - day) - 1) / 1096.0))::integer as customer_id,
  day + interval '1 minute'
    * (1439 * least(0.999, (pg_temp.dice(id, 42) + pg_temp.dice(id, 43) + pg_temp.dice(id, 44)) / 2.6)) as ordered_at,
  current_date - day as age, extract(month from day) as month,
    1 + floor(5 * pg_temp.dice(id, 45) ^ 2)::integer as items, pg_temp.dice(id, 46) as fate
from day, generate_series(before + 1, last) as id;

insert into order_items
select order_id, line, product_id, quantity, price, discount,
  round(quantity * price * (100 - coalesce(discount, 0)) / 100, 2)
from (
  select d.id as order_id, line, p.id as product_id, price,
    case when price > 200 then 1 else 1 + floor(4 * pg_temp.dice(d.id * 8 + line, 51) ^ 3)::integer end as quantity,
    case when pg_temp.dice(d.id * 8 + line, 52) < case when month = 11 then 0.45 else 0.14 end
      then (array[5, 10, 15, 20, 30])[1 + floor(5 * pg_temp.dice(d.id * 8 + line, 53) ^ 1.5)::integer]
      end as discount
  from draft as d, generate_series(1, items) as line,
    lateral (
      select 1 + floor(300 * pg_temp.dice(d.id * 8 + line, 50) ^ 1.7)::integer * 127 % 300 as product
    ) as choice
  join products as p on p.id = product
) as lines;

insert into orders
select id, customer_id, status, channel, ordered_at, shipped,
  case when status in ('delivered', 'returned') then shipped + interval '1 hour' * (20 + 90 * pg_temp.dice(id, 62))
  end,
  coupon, note, items, shipping, amount + shipping
from (
  select d.id, customer_id, ordered_at at time zone 'UTC' as ordered_at, items, amount, status,
    case when amount >= 80 then 0 else 4.9 end as shipping,
    case when status in ('shipped', 'delivered', 'returned')
      then ordered_at at time zone 'UTC' + interval '1 hour' * (4 + 40 * pg_temp.dice(d.id, 61)) end as shipped,
    (array['web', 'web', 'web', 'web', 'web', 'app', 'app', 'app', 'marketplace', 'phone'])
      [1 + floor(10 * pg_temp.dice(d.id, 63))::integer] as channel,
    case when pg_temp.dice(d.id, 64) < 0.12
      then (array['WELCOME10', 'FRÜHLING', 'ÉTÉ15', 'BLACKWEEK'])[1 + floor(4 * pg_temp.dice(d.id, 65))::integer]
      end as coupon,
    case when pg_temp.dice(d.id, 66) < 0.04
      then (array['Please leave it with the neighbour', 'Gift, no invoice in the parcel', 'Bitte nicht klingeln',
        'Sonner deux fois, s''il vous plaît'])[1 + floor(4 * pg_temp.dice(d.id, 67))::integer]
      end as note
  from draft as d
  join (select order_id, sum(amount) as amount from order_items group by order_id) as i on i.order_id = d.id,
  lateral (
    select case
      when fate < 0.04 then 'cancelled'
      when age <= 1 then case when fate < 0.4 then 'pending' else 'paid' end
      when age <= 7 then 'shipped'
      when fate < 0.09 then 'returned'
      else 'delivered'
    end as status
  ) as s
) as o;

alter table orders add foreign key (customer_id) references customers;
alter table order_items add primary key (order_id, line), add foreign key (order_id) references orders,
  add foreign key (product_id) references products;
create index on orders (customer_id);
create index on orders (ordered_at);
create index on order_items (product_id);
create index on customers (country, city);
`;
