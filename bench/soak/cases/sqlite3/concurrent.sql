-- A journal that is read while it is written, attached databases, backup, temporary tables.
pragma journal_mode = wal;
create table item(id integer primary key, value integer, note text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < @rows)
  insert into item select i, i * 7919 % 65537, 'note ' || i % 97 from n;
create temp table chosen as select * from item where value % 5 = 0;
create unique index temp.chosen_id on chosen(id);
insert or replace into item select id, value + 1, note || '+' from chosen;
insert into item(id, value) values(5, 0) on conflict(id) do update set value = value + 100000;
select count(*), sum(value), max(note) from item;
attach ':memory:' as other;
create table other.copy as select * from item order by value, id;
create index other.by_value on copy(value);
select a.value, count(*) from item a join other.copy b on a.value = b.value and a.id <= b.id group by a.value
  order by 2 desc, 1 limit 15;
.backup backup.db
.mode json
select * from item where value < 30 order by id limit 20;
.mode csv
select note, avg(value), total(id) from item group by note order by note limit 30;
.mode list
pragma wal_checkpoint(truncate);
pragma journal_mode = delete;
detach other;
pragma quick_check;
