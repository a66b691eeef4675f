-- Tables of words, trees and documents with indexes of several kinds; functions and triggers.
create table words (id int primary key, word text not null, weight int, tags text[], note jsonb);
insert into words
select i, substr(md5(i::text), 1, 3 + i % 9), i * 7919 % 1000,
       array[chr(97 + i % 26), (i % 10)::text],
       jsonb_build_object('id', i, 'even', i % 2 = 0, 'list', jsonb_build_array(i, i * 2, null))
from generate_series(1, 30000) i;
create index on words (word text_pattern_ops);
create index on words using gin (tags);
create index on words using gin (note);
create index on words using hash (weight);
create index on words using brin (id);
create table tree (id int primary key, parent int references tree, name text);
insert into tree select i, nullif(i / 3, 0), 'n' || i from generate_series(1, 5000) i;
create table log (id serial, what text, old text, new text) partition by range (id);
create table log1 partition of log for values from (1) to (2000);
create table log2 partition of log default;
create function note_change() returns trigger language plpgsql as $$
declare
  text text := '';
begin
  for i in 1..5 loop
    begin
      text := text || (100 / (i % 3))::text;
    exception when division_by_zero then
      text := text || 'x';
    end;
  end loop;
  insert into log (what, old, new) values (tg_op || text, old.word, new.word);
  return new;
end $$;
create trigger on_words after update on words for each row execute function note_change();
update words set word = reverse(word) where id % 10 = 3;
begin;
savepoint one;
delete from words where id % 7 = 1;
rollback to one;
delete from words where id % 97 = 1;
commit;
create view heavy as select * from words where weight > 700;
create materialized view sums as select left(word, 1) as letter, sum(weight) from words group by 1;
analyze;
