# Threads: each has a copy of the interpreter, and queues carry work between them.
use strict;
use warnings;
use threads;
use threads::shared;
use Digest::MD5 qw(md5_hex);
use Thread::Queue;

my $times = shift;
my $total : shared = 0;
my ($jobs, $results) = (Thread::Queue->new, Thread::Queue->new);
my %table = map { ($_ => [ 'v' x ($_ % 30) ]) } 1 .. 500;

my @workers = map {
    threads->create(sub {
        while (defined(my $job = $jobs->dequeue)) {
            my %seen = map { ($_ % 311 => "$_/$job") } 1 .. 1500;
            { lock $total; $total += keys %seen }
            $results->enqueue("$job " . md5_hex(join ',', map { "$_$seen{$_}" } sort keys %seen));
        }
        return scalar keys %table;
    })
} 1 .. 4;
$jobs->enqueue($_) for 1 .. 12 * $times;
$jobs->end;
print join(' ', map { $_->join } @workers), "\n";
$results->end;
my @found;
while (defined(my $result = $results->dequeue)) { push @found, $result }
print "$_\n" for sort @found;
print "$total\n";

for my $round (1 .. $times) {
    print threads->create(sub { md5_hex(join ',', map { $_ * $round } 1 .. 2000) })->join, "\n";
}
