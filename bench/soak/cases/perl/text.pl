# Text: regular expressions, Unicode, encodings, wrapping, templates, compression, big numbers.
use strict;
use warnings;
use utf8;
use Compress::Zlib;
use Digest::SHA qw(sha256_hex);
use Encode qw(decode encode);
use IO::Compress::Gzip qw(gzip);
use IO::Uncompress::Gunzip qw(gunzip);
use MIME::Base64;
use Math::BigFloat;
use Math::BigInt;
use Text::Balanced qw(extract_bracketed);
use Text::ParseWords;
use Text::Wrap;
use Unicode::Normalize;

my $times = shift;
srand 7;
my @syllables = qw(ba de fi go lu ma né pi ro sü ta ve wí kra ste);
sub word { return join '', map { $syllables[ rand @syllables ] } 1 .. 1 + rand 4 }

for my $round (1 .. $times) {
    my $text = join ' ', map { word() } 1 .. 6000;
    my %count;
    $count{$1}++ while $text =~ /\b(\p{L}{2,}?)(?=\w*\b)/g;
    (my $changed = $text) =~ s/(\w)(\w*)/\U$1\E\L$2/g;
    $changed =~ s/\b(\w+) (\w+)\b/$2 $1/g;
    my $bytes = encode('UTF-8', NFD($changed));
    print sha256_hex($bytes), ' ', scalar(keys %count), "\n";
    print sha256_hex(encode('UTF-8', wrap('', '  ', NFC(decode('UTF-8', $bytes))))), "\n";
    gzip(\$bytes, \my $packed) or die;
    gunzip(\$packed, \my $unpacked) or die;
    print $unpacked eq $bytes ? 'same' : 'other', ' ', length(encode_base64($packed)) > 0, "\n";
    print crc32(compress($bytes)) == crc32(compress($unpacked)) ? "equal\n" : "unequal\n";
    my $nested = join '', map { '(' . word() . ' [a {b} c] ' } 1 .. 40;
    $nested .= ')' x 40;
    my ($inside) = extract_bracketed(encode('UTF-8', $nested), '([{}])');
    print length($inside), ' ', scalar(quotewords(',', 0, qq("a, b", c, 'd, "e"') x 200)), "\n";
}

my $product = Math::BigInt->new(1);
$product->bmul($_) for 1 .. 60 * $times;
print sha256_hex("$product"), ' ', Math::BigFloat->new(2)->bsqrt(50 + 10 * $times), "\n";

for my $round (1 .. $times) {
    my $record = join '', map { pack 'n/a* N w', word() =~ s/[^a-z]//gr, $_, $_ * $_ } 1 .. 3000;
    my @fields = unpack '(n/a* N w)*', $record;
    print scalar(@fields), ' ', sha256_hex(join ',', @fields), "\n";
    my $table = join "\n", map { sprintf '%-12s|%08.3f|%x', 'w' . $_, sqrt $_, $_ ** 2 } 1 .. 2000;
    print sha256_hex($table =~ tr/0-9/a-j/r), "\n";
}
