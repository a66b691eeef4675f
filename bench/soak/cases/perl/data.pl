# Structures: nested data, freezing and thawing, JSON, sorting, ties, weak references.
use strict;
use warnings;
use Data::Dumper;
use Digest::MD5 qw(md5_hex);
use Hash::Util qw(lock_keys unlock_keys);
use JSON::PP;
use List::Util qw(first max reduce shuffle sum uniq);
use Scalar::Util qw(blessed weaken);
use Storable qw(dclone freeze thaw);
use Tie::Array;
use Tie::File;

my $times = shift;
srand 42;
$Data::Dumper::Sortkeys = $Data::Dumper::Indent = 1;
my $json = JSON::PP->new->canonical->pretty;

sub tree {
    my ($depth) = @_;
    return { leaf => int rand 1000, text => 'x' x int rand 40 } if !$depth;
    return { map { ("child$_" => tree($depth - 1)) } 1 .. 4 };
}

for my $round (1 .. $times) {
    my $tree = tree(5);
    my $copy = dclone($tree);
    my $thawed = thaw(freeze($copy));
    my $text = $json->encode($thawed);
    print md5_hex($text), ' ', md5_hex(Dumper($json->decode($text))), "\n";
}

for my $round (1 .. $times) {
    my %words;
    push @{ $words{ join '', map { chr 97 + rand 26 } 1 .. 2 } }, $_ for 1 .. 20_000;
    my @order = sort { @{ $words{$b} } <=> @{ $words{$a} } || $a cmp $b } keys %words;
    print "@order[0 .. 9] ", sum(map { scalar @$_ } values %words), "\n";
    my $longest = reduce { length $a >= length $b ? $a : $b } map { "@{ $words{$_} }" } @order;
    print md5_hex($longest), ' ', max(uniq map { $_ % 97 } shuffle 1 .. 5000), "\n";
    delete @words{ @order[0 .. @order / 2] };
    lock_keys(%words);
    print eval { $words{none} = 1; 1 } ? "unlocked\n" : "locked\n";
    unlock_keys(%words);
}

package Node {
    my $gone = 0;
    sub new { my ($class, $parent) = @_; my $self = bless { parent => $parent }, $class;
        Scalar::Util::weaken($self->{parent}); return $self }
    sub DESTROY { $gone++ }
    sub gone { return $gone }
}
for my $round (1 .. $times) {
    my $root = Node->new(undef);
    push @{ $root->{children} }, Node->new($root) for 1 .. 3000;
    $_->{cycle} = $root->{children} for @{ $root->{children} };
    weaken($_->{cycle}) for @{ $root->{children} };
}
print 'destroyed ', Node->gone, "\n";

my $file = "tied-$$.txt";
tie my @lines, 'Tie::File', $file or die $!;
push @lines, map { "line $_ " . 'y' x ($_ % 50) } 1 .. 200 * $times;
splice @lines, 50, 100, map { uc } @lines[ 10 .. 30 ];
print scalar(@lines), ' ', md5_hex(join "\n", @lines), "\n";
untie @lines;
unlink $file;
