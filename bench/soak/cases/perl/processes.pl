# Processes: forks that talk through pipes, shared files, and programs started by the shell.
use strict;
use warnings;
use Digest::SHA qw(sha1_hex);
use File::Temp qw(tempfile);
use IO::Handle;
use IPC::Open3;
use POSIX qw(:sys_wait_h);
use Storable qw(nstore retrieve);

my $times = shift;
$| = 1;

for my $round (1 .. $times) {
    my @children;
    for my $number (1 .. 6) {
        pipe my $from, my $to or die $!;
        my $pid = fork // die $!;
        if (!$pid) {
            close $from;
            my %table = map { ($_ => [ ($number) x ($_ % 17) ]) } 1 .. 3000;
            delete $table{ $_ * 3 } for 1 .. 900;
            print {$to} sha1_hex(join ',', map { "$_@{ $table{$_} }" } sort keys %table), "\n";
            close $to;
            POSIX::_exit($number);
        }
        close $to;
        push @children, [ $pid, $from ];
    }
    for my $child (@children) {
        print readline $child->[1];
        waitpid $child->[0], 0;
        print WEXITSTATUS($?), "\n";
    }
}

for my $round (1 .. $times) {
    my $pid = open3(my $in, my $out, undef, $^X, '-ne', 'print scalar reverse');
    print {$in} map { "line $_ of $round\n" } 1 .. 500;
    close $in;
    print sha1_hex(join '', <$out>), "\n";
    waitpid $pid, 0;
}

my ($handle, $file) = tempfile(UNLINK => 1);
nstore({ map { ($_ => { square => $_ ** 2, list => [ 1 .. $_ % 9 ] }) } 1 .. 500 * $times }, $file);
my $back = retrieve($file);
print scalar(keys %$back), "\n";
local $SIG{ALRM} = sub { die "late\n" };
alarm 60;
print "in time\n" if eval { my @sorted = sort map { $_ * 7919 % 10007 } 1 .. 9000 * $times; 1 };
alarm 0;
