<?php
// Arrays, text, objects, generators, exceptions, closures and what the bundled extensions have.
declare(strict_types=1);
mt_srand(42);
ini_set('memory_limit', '-1');

function say(string $name, mixed $value): void
{
    echo $name, ' ', sha1(is_string($value) ? $value : serialize($value)), "\n";
}

abstract class Node implements JsonSerializable, IteratorAggregate
{
    public array $children = [];
    public function __construct(public readonly string $name, public int $value) {}
    abstract public function weight(): int;
    public function getIterator(): Generator
    {
        yield $this;
        foreach ($this->children as $child) yield from $child;
    }
    public function jsonSerialize(): array
    {
        return ['name' => $this->name, 'weight' => $this->weight(), 'children' => $this->children];
    }
}
final class Leaf extends Node
{
    public function weight(): int { return $this->value; }
}
final class Branch extends Node
{
    public function weight(): int { return array_sum(array_map(fn($c) => $c->weight(), $this->children)); }
}

function grow(int $depth, int &$number): Node
{
    $node = $depth === 0 ? new Leaf("leaf" . ++$number, $number) : new Branch("branch" . ++$number, 0);
    for ($i = 0; $i < ($depth === 0 ? 0 : 4); ++$i) $node->children[] = grow($depth - 1, $number);
    return $node;
}

for ($round = 0; $round < (int) $argv[1]; ++$round) {
    $number = $round;
    $tree = grow(5, $number);
    say('json', json_encode(json_decode(json_encode($tree), true), JSON_PRETTY_PRINT));
    say('walk', implode(',', array_map(fn($n) => $n->name, iterator_to_array($tree, false))));
    $words = [];
    for ($i = 0; $i < 4000; ++$i) $words[] = str_pad(dechex($i * 7919 % 65536), 6, 'xyz');
    usort($words, fn($a, $b) => strrev($a) <=> strrev($b));
    say('sorted', array_count_values(array_map(fn($w) => $w[0], $words)));
    say('text', preg_replace_callback('/(\d+)([a-z])/', fn($m) => $m[2] . $m[1], implode(' ', $words)));
    say('split', array_chunk(preg_split('/[ab]+/', implode('', $words)), 7));
    say('errors', array_map(function ($i) {
        try { return intdiv($i, $i % 3); } catch (DivisionByZeroError $e) { return $e->getMessage(); }
    }, range(0, 300)));
    say('unserialized', unserialize(serialize($words)) === $words);
    $heap = new SplMinHeap();
    foreach ($words as $word) $heap->insert($word);
    $queue = new SplFixedArray(1000);
    for ($i = 0; $i < 1000; ++$i) $queue[$i] = $heap->extract();
    say('heap', $queue->toArray());
    $references = [];
    foreach ($words as $i => $word) $references[$word] = &$words[$i];
    unset($references, $tree);
    gc_collect_cycles();
    say('format', vsprintf(str_repeat('%05d|%-8s|%x;', 100), array_merge(...array_map(fn($i) => [$i, "t$i", $i], range(1, 100)))));
    say('dates', array_map(fn($i) => (new DateTimeImmutable('2000-01-31'))->modify("+$i month")->format(DATE_ATOM), range(1, 60)));
    say('hashes', array_map(fn($a) => hash($a, 'halo'), ['sha256', 'md5', 'crc32b', 'xxh3']));
    if (function_exists('ctype_alnum')) say('ctype', array_filter($words, 'ctype_alpha'));
    if (function_exists('iconv')) say('iconv', iconv('UTF-8', 'UTF-16LE', "äöü" . implode($words)));
    if (function_exists('token_get_all')) say('tokens', token_get_all(file_get_contents(__FILE__)));
    if (class_exists('PDO')) say('pdo', PDO::getAvailableDrivers());
    if (class_exists('Phar')) say('phar', Phar::getSupportedSignatures());
}
