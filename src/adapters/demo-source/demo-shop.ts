/**
 * Data of the demo shop, generated inside Postgres from hashes of row numbers: the same rows every time,
   up to the day
 * of generation. `dice(n, salt)` is such a hash as a number in [0, 1).
 */

export const TABLES = `
create table categories (
  id integer primary key,
  name text not null unique
);
create table products (
  id integer primary key,
  category_id integer not null references categories,
  sku text not null unique,
  name text not null,
  price numeric(10,2) not null,
  cost numeric(10,2) not null,
  weight_kg numeric(6,3),
  rating numeric(2,1),
  launched_on date not null,
  discontinued_on date
);
create table customers (
  id integer primary key,
  name text not null,
  email text not null unique,
  country text not null,
  city text not null,
  segment text not null check (segment in ('consumer', 'business', 'reseller')),
  company text,
  phone text,
  birth_date date,
  newsletter boolean not null,
  registered_at timestamptz not null
);
create table orders (
  id integer primary key,
  customer_id integer not null,
  status text not null check (status in ('pending', 'paid', 'shipped', 'delivered', 'returned', 'cancelled')),
  channel text not null check (channel in ('web', 'app', 'phone', 'marketplace')),
  ordered_at timestamptz not null,
  shipped_at timestamptz,
  delivered_at timestamptz,
  coupon text,
  note text,
  items integer not null,
  shipping numeric(8,2) not null,
  total numeric(12,2) not null
);
create table order_items (
  order_id integer not null,
  line integer not null,
  product_id integer not null,
  quantity integer not null,
  unit_price numeric(10,2) not null,
  discount_percent integer,
  amount numeric(12,2) not null
);
comment on table orders is 'What customers ordered in the last 24 months; amounts in euro';
comment on column orders.total is 'Sum of the lines after discount, plus shipping, in euro';
comment on column order_items.discount_percent is 'Null when the line was sold at its full price';
create function pg_temp.dice(n bigint, salt integer) returns double precision immutable language sql
  return (hashint8extended(n, salt) & 1125899906842623)::double precision / 1125899906842624;
`;

export const PEOPLE_AND_PRODUCTS = `
insert into categories
select n, name from unnest(array['Coffee & Tea', 'Kitchen', 'Garden', 'Lighting', 'Textiles', 'Office', 'Bicycles',
  'Outdoor', 'Children', 'Audio']) with ordinality as c(name, n);

create temp table noun(category integer, name text, base numeric);
insert into noun values
  (1, 'espresso machine', 289), (1, 'coffee grinder', 119), (1, 'café au lait bowl', 14), (1, 'teapot', 39),
  (1, 'milk frother', 45), (1, 'filter set', 9),
  (2, 'crème brûlée set', 34), (2, 'chef''s knife', 79), (2, 'cast-iron pan', 59), (2, 'mixing bowl', 19),
  (2, 'stand mixer', 349), (2, 'chopping board', 29),
  (3, 'watering can', 24), (3, 'raised bed', 89), (3, 'pruning shears', 32), (3, 'garden hose', 42),
  (3, 'fire bowl', 129), (3, 'seed set', 7),
  (4, 'floor lamp', 149), (4, 'desk lamp', 64), (4, 'pendant light', 99), (4, 'LED bulb', 8),
  (4, 'wall light', 54), (4, 'lantern', 22),
  (5, 'wool blanket', 89), (5, 'linen sheets', 109), (5, 'cushion', 25), (5, 'bath towel', 18), (5, 'rug', 199),
  (5, 'curtain', 69),
  (6, 'standing desk', 549), (6, 'office chair', 329), (6, 'notebook', 6), (6, 'fountain pen', 48),
  (6, 'monitor arm', 119), (6, 'filing box', 12),
  (7, 'city bicycle', 799), (7, 'helmet', 69), (7, 'pannier', 74), (7, 'bicycle pump', 29), (7, 'child seat', 139),
  (7, 'front light', 35),
  (8, 'tent', 259), (8, 'sleeping bag', 149), (8, 'backpack', 119), (8, 'camping stove', 69),
  (8, 'water bottle', 19), (8, 'head torch', 39),
  (9, 'wooden train', 44), (9, 'picture book', 13), (9, 'building blocks', 37), (9, 'balance bike', 99),
  (9, 'jigsaw puzzle', 16), (9, 'night light', 27),
  (10, 'headphones', 179), (10, 'bookshelf speakers', 389), (10, 'turntable', 299), (10, 'radio', 109),
  (10, 'microphone', 129), (10, 'audio cable', 11);

insert into products
select n, category, 'P-' || lpad(n::text, 4, '0'), series || ' ' || name, price,
  round(price * (0.42 + 0.3 * pg_temp.dice(n, 1))::numeric, 2),
  case when pg_temp.dice(n, 2) > 0.1 then round((0.05 + 12 * pg_temp.dice(n, 3) ^ 3)::numeric, 3) end,
  case when pg_temp.dice(n, 4) > 0.15 then round((2.9 + 2.1 * pg_temp.dice(n, 5))::numeric, 1) end,
  current_date - (900 + 1500 * pg_temp.dice(n, 6))::integer,
  case when pg_temp.dice(n, 7) < 0.06 then current_date - (200 * pg_temp.dice(n, 8))::integer end
from (
  select row_number() over (order by category, name, factor)::integer as n, category, name, series,
    floor(base * factor)::numeric + 0.9 as price
  from noun, (values ('Basic', 0.7), ('Classic', 1.0), ('Nordic', 1.25), ('Atelier', 1.6), ('Zoë', 2.1))
    as s(series, factor)
) as p;

create temp table place(country text, city text, language integer, share double precision);
insert into place values
  ('Germany', 'Berlin', 1, 9), ('Germany', 'München', 1, 7), ('Germany', 'Köln', 1, 5),
  ('Germany', 'Düsseldorf', 1, 3), ('Austria', 'Wien', 1, 4), ('Switzerland', 'Zürich', 1, 4),
  ('France', 'Paris', 2, 9), ('France', 'Orléans', 2, 2), ('France', 'Saint-Étienne', 2, 2),
  ('Belgium', 'Liège', 2, 2), ('Switzerland', 'Genève', 2, 2),
  ('Spain', 'Madrid', 3, 6), ('Spain', 'Málaga', 3, 2), ('Spain', 'A Coruña', 3, 1), ('Portugal', 'Lisboa', 4, 3),
  ('Portugal', 'Évora', 4, 1),
  ('Sweden', 'Malmö', 5, 2), ('Sweden', 'Göteborg', 5, 2), ('Norway', 'Tromsø', 5, 1), ('Denmark', 'Århus', 5, 2),
  ('Poland', 'Łódź', 6, 3), ('Poland', 'Kraków', 6, 3), ('Czechia', 'Plzeň', 6, 2),
  ('United Kingdom', 'London', 7, 8), ('United Kingdom', 'York', 7, 2), ('Ireland', 'Dún Laoghaire', 7, 2);

create temp table first_name as select language, nth, name from (values
  (1, 'Jürgen,Anna,Björn,Käthe,Lukas,Sophie,Günther,Mia,Jonas,Jörg,Lena,Felix'),
  (2, 'Zoé,Émile,Chloé,François,Léa,Hélène,Théo,Camille,Benoît,Inès,Noël,Aurélie'),
  (3, 'José,María,Andrés,Lucía,Íñigo,Begoña,Raúl,Sofía,Álvaro,Inés,Jesús,Carmen'),
  (4, 'João,Inês,Tomás,Beatriz,Conceição,Rui,Mário,Leonor,Gonçalo,Luísa,Tiago,Ana'),
  (5, 'Åsa,Björn,Søren,Maja,Jörgen,Linnéa,Øystein,Freja,Elin,Nils,Märta,Lars'),
  (6, 'Łukasz,Zofia,Jiří,Małgorzata,Paweł,Kateřina,Stanisław,Agnieszka,Tomáš,Hanna,Michał,Żaneta'),
  (7, 'Oliver,Siobhán,Amelia,Seán,George,Niamh,Harry,Róisín,Emily,Jack,Zoe,Arthur')) as f(language, names),
    unnest(string_to_array(names, ',')) with ordinality as u(name, nth);
create temp table last_name as select language, nth, name from (values
  (1, 'Müller,Schröder,Weiß,Groß,Bäcker,Schmidt,Köhler,Jäger,Vogel,Krüger,Lange,Strauß'),
  (2, 'Lefèvre,Müller-Petit,Dubois,Béranger,Gérard,D''Arc,Moreau,Françoise,Lévêque,Mercier,Noël,Châtelain'),
  (3, 'Núñez,García,Muñoz,Peña,Gómez,Ibáñez,López,Fernández,Ruiz,Jiménez,Castaño,Vázquez'),
  (4, 'Gonçalves,Magalhães,Silva,Simões,Araújo,Conceição,Leitão,Sousa,Antunes,Brandão,Pinto,Guimarães'),
  (5, 'Sjöberg,Ångström,Nygård,Sørensen,Lindström,Bjørnstad,Öberg,Hansen,Åkesson,Jørgensen,Holm,Lundqvist'),
  (6, 'Wiśniewski,Dvořák,Kowalczyk,Łuczak,Novák,Zieliński,Černý,Wójcik,Křížek,Jabłoński,Šťastný,Żak'),
  (7, 'O''Brien,Smith,Walsh,Ó Súilleabháin,Taylor,Byrne,Clarke,MacCarthy,Wright,Kelly,Hughes,Brontë'))
    as l(language, names), unnest(string_to_array(names, ',')) with ordinality as u(name, nth);

insert into customers
select n, f.name || ' ' || l.name,
  'customer' || n || '@' || case when segment = 'consumer' then 'mail.example' else 'firm' || n % 400 || '.example'
  end,
  country, city, segment,
    case when segment <> 'consumer'
    then l.name || ' & ' || (array['Söhne', 'Partners', 'Fils', 'Co.', 'Hijos'])[1 + n % 5] end,
  case when pg_temp.dice(n, 25) > 0.3
    then '+' || (10 + n % 80) || ' ' || (100000000 + 899999999 * pg_temp.dice(n, 26))::bigint end,
  case when segment = 'consumer' and pg_temp.dice(n, 27) > 0.2
    then current_date - (6600 + 20000 * pg_temp.dice(n, 28))::integer end,
  pg_temp.dice(n, 29) < 0.38,
  -- Numbers are given in the order of registration, over three years.
  date_trunc('day', now()) - interval '1096 days' * (1 - n / 5000.0) + interval '24 hours' * pg_temp.dice(n,
    30) - interval '1 day'
from (
  select n, case when pg_temp.dice(n, 20) < 0.78 then 'consumer' when pg_temp.dice(n, 20) < 0.95 then 'business'
    else 'reseller' end as segment,
    pg_temp.dice(n, 21) * (select sum(share) from place) as spot, 1 + floor(12 * pg_temp.dice(n, 22)) as first,
      1 + floor(12 * pg_temp.dice(n, 23)) as last
  from generate_series(1, 5000) as n
) as c
join (select *, sum(share) over (order by country, city) as upto from place) as p on spot >= upto - share
  and spot < upto
join first_name as f on f.language = p.language and f.nth = first
join last_name as l on l.language = p.language and l.nth = last;
`;
