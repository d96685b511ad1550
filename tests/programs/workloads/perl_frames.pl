# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# perl_frames.pl SECONDS [fork|threads]: functions whose callers are known, for
# tests/kernel/runtime_truth.py. SECONDS are of CPU time. A function NAME__CALLER is called by CALLER,
# or by itself, only.
use strict;
use warnings;
use List::Util qw(first reduce);

sub spin {
	my ($count) = @_;
	my $sum = 0;
	for my $i (1 .. $count) {
		$sum += $i * $i;
	}
	return $sum;
}

sub recursion__main {
	my ($depth) = @_;
	return spin(200) if !$depth;
	return recursion__main($depth - 1);
}

# The comparison runs on a stack of contexts of its own.
sub compare__sorted {
	return key__compare($_[0]) <=> key__compare($_[1]);
}

sub key__compare {
	my ($x) = @_;
	return ($x * 7919) % 997;
}

sub by_sub__sorted {
	return key__by_sub($a) <=> key__by_sub($b);
}

sub key__by_sub {
	return spin($_[0] % 5);
}

sub sorted__main {
	my @x = sort { compare__sorted($a, $b) } 1 .. 60;
	@x = sort { my $less = compare__sorted($b, $a); $less } @x;
	@x = sort by_sub__sorted @x;
	return scalar @x;
}

# What catches an exception in a comparison calls the loop again.
sub careful__caught {
	my ($x, $y) = @_;
	my $ret = eval { tried__careful($x, $y) };
	return rest__careful(defined $ret ? $ret : $x <=> $y);
}

sub tried__careful {
	my ($x, $y) = @_;
	return 0 if $x % 2 && spin(3);
	return spin(2 + $x % 3) <=> spin(2 + $y % 3);
}

sub rest__careful {
	spin(5);
	return $_[0];
}

sub caught__main {
	my @x = sort { careful__caught($a, $b) } 1 .. 30;
	return scalar @x;
}

sub listed__main {
	my @x = map { element__listed($_) } grep { $_ % 2 } 1 .. 30;
	my $x = first { wanted($_) } 1 .. 30;
	my $y = reduce { $a + added($b) } 1 .. 30;
	return $x + $y + @x;
}

# Blocks that functions of C call are functions without a name.
sub element__listed { return spin($_[0] % 9); }
sub wanted { my $x = spin($_[0]); return $_[0] > 25 && $x; }
sub added { my $x = spin($_[0]); return $x; }

sub closure__main {
	my ($count) = @_;
	my $made = sub { my $x = spin($count); return $x };
	return $made->() + $made->();
}

sub evaluated__main {
	my $text = 'my $x = in_text__evaluated(40); $x + 1';
	my $x = eval $text;
	die $@ if $@;
	return $x;
}

# A text is code of a file of its own.
sub in_text__evaluated { my $x = spin($_[0]); return $x; }

sub matched__main {
	my $text = 'ab' x 20;
	my $count = 0;
	while ($text =~ /b(?{ in_pattern__matched(3) })/g) {
		$count++;
	}
	$text =~ s/a/replaced__matched($count)/ge;
	return length $text;
}

sub in_pattern__matched { return spin($_[0]); }
sub replaced__matched { return spin($_[0] % 7) % 10; }

sub signal__main {
	local $SIG{USR1} = \&handler;
	kill 'USR1', $$ if !$main::in_thread;
	spin(30);
	return 1;
}

# Called by anybody.
sub handler { my $x = handled__handler(30); return $x; }
sub handled__handler { my $x = spin($_[0]); return $x; }

package Shop;
use overload '+' => \&plus__objects, '""' => \&text__objects;
our $AUTOLOAD;

sub new {
	my ($class, $price) = @_;
	return bless {price => $price}, $class;
}

sub total__objects {
	my ($self) = @_;
	return $self->price__total(100);
}

sub price__total {
	my ($self, $count) = @_;
	return main::spin($self->{price} * $count);
}

sub plus__objects {
	my ($x, $y) = @_;
	my $sum = main::spin(20);
	return $sum;
}

sub text__objects {
	my $x = main::spin(15);
	return "shop $x";
}

sub AUTOLOAD {
	my ($self) = @_;
	return if $AUTOLOAD =~ /::DESTROY$/;
	return main::spin(25);
}

sub DESTROY {
	my $x = main::spin(10);
	return;
}

package Tied;

sub TIESCALAR { return bless [], shift; }

sub FETCH {
	my $x = main::spin(20);
	return $x;
}

sub STORE {
	main::spin(20);
	return;
}

package main;

sub objects__main {
	my $shop = Shop->new(7);
	my $sum = $shop->total__objects + ($shop + 1) + $shop->missing;
	my $text = "of $shop";
	tie my $tied, 'Tied';
	$tied = $sum;
	$sum = $tied + length $text;
	return $sum;
}

sub main {
	my ($seconds) = @_;
	my ($count, $user, $system) = (0, 0, 0);
	while ($user + $system < $seconds) {
		recursion__main(10);
		sorted__main();
		caught__main();
		listed__main();
		closure__main($count % 50);
		evaluated__main();
		matched__main();
		signal__main();
		objects__main();
		$count++;
		($user, $system) = times;
	}
	return $count;
}

my ($seconds, $way) = (@ARGV, '');
if ($way eq 'fork') {
	my $child = fork;
	main($seconds);
	exit 0 if !$child;
	waitpid $child, 0;
} elsif ($way eq 'threads') {
	our $in_thread = 1;
	require threads;
	my @threads = map { threads->create(sub { my $x = main($seconds); return $x }) } 1 .. 2;
	$_->join for @threads;
} else {
	main($seconds);
}
print "done\n";
