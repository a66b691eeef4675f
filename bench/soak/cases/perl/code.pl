# Code: closures, string eval, exceptions, objects, generators of code, its own documentation.
use strict;
use warnings;
use B::Deparse;
use Digest::SHA qw(sha1_hex);
use File::Spec;
use Pod::Man;
use Pod::Text;
use Pod::Usage ();
use Time::Local;

my $times = shift;

my @makers = map { my $n = $_; sub { my $m = shift; sub { $n * $m + shift } } } 1 .. 500;
for my $round (1 .. 4 * $times) {
    my $sum = 0;
    $sum += $_->($round)->(1) for @makers;
    print "$sum\n";
}

for my $round (1 .. 20 * $times) {
    my $name = "Made$round";
    eval "package $name; sub new { bless {v => \$_[1]}, \$_[0] } sub v { \$_[0]{v} * $round } 1" or die $@;
    my $value = eval { $name->new(3)->v } // die;
    eval { die { code => $value, trace => [ map { [caller $_] } 0 .. 2 ] } };
    print $@->{code}, "\n" if ref $@;
    no strict 'refs';
    undef %{"${name}::"};
}

my $deparse = B::Deparse->new('-p');
print sha1_hex($deparse->coderef2text(\&Pod::Usage::pod2usage)), "\n" for 1 .. $times;

my @pages = grep { -e } map { $INC{$_} } qw(Pod/Man.pm Pod/Text.pm File/Spec.pm Time/Local.pm);
for my $page (sort @pages) {
    Pod::Text->new(width => 72)->parse_from_file($page, \*STDOUT);
    my $manual = '';
    my $parser = Pod::Man->new(date => '2000-01-01', release => '1', center => 'x');
    $parser->output_string(\$manual);
    $parser->parse_file($page);
    print sha1_hex($manual), "\n";
}
print timegm(0, 0, 0, 1, $_ % 12, 1970 + $_), "\n" for 1 .. 5 * $times;
