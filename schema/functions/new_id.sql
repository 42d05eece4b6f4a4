-- Returns a UUID of version 7, like `newId` of the service.
create or replace function dws.new_id()
  returns uuid
  language sql
  volatile
as $$
select encode(
  set_bit(
    set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6
      ),
      52, 1
    ),
    53, 1
  ),
  'hex'
)::uuid
$$;
