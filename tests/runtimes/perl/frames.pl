# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Frames of many kinds, for memory images: prints the callers of stop() as Perl has them, and sleeps.
use strict;
use warnings;
use utf8;
use List::Util qw(first);

$| = 1;
binmode STDOUT, ':utf8';

# The name and the line of each frame: caller() has the line with the frame that is called.
sub stop {
	my @lines;
	for (my $i = 0; my @call = caller $i; $i++) {
		# A block of eval is no frame of its own.
		my $name = $call[3] ne '(eval)' ? $call[3] : defined $call[7] || defined $call[6] ? 'FILE' : next;
		push @lines, [$name, "$call[1]:$call[2]"];
	}
	my $place = __FILE__ . ':' . (__LINE__ + 6);
	for my $line (@lines, ['FILE', '']) {
		print "$line->[0]\t$place\n";
		$place = $line->[1];
	}
	print "END\n";
	sleep 60;
}

sub Other::Package::inner { stop(); return 1 }
my sub lexical { Other::Package::inner(@_) }
sub zähle { lexical(@_); return 1 }

package Über;
use overload '""' => sub { main::zähle(@_); return 'text' };
sub new { return bless [], shift }
our $AUTOLOAD;
sub AUTOLOAD { my ($self) = @_; return "$self" }
sub DESTROY { }

package Tied;
sub TIESCALAR { return bless [] }
sub FETCH { Über->new->missing; return 1 }

package main;

sub in_text { my $x = eval { tie my $tied, 'Tied'; $tied + 1 }; return $x }
my $closure = sub { eval 'in_text(); 1' or die $@; return 1 };

sub compare {
	my $ret = eval { $closure->(); 1 };
	return $ret;
}

sub sorted { my @x = sort { my $x = compare(); $x } 1, 2; return @x }
sub by_name { my $x = sorted(); return $x }
sub listed { my $x = first { my $y = by_name(); $y } 1, 2; return $x }
sub matched { 'ab' =~ /b(?{ my $x = listed(); $x })/; return 1 }
sub named { my @x = sort compare_named 1, 2; return @x }
sub compare_named { my $x = matched(); return $x }
sub recursion { my ($depth) = @_; return named() if !$depth; my $x = recursion($depth - 1); return $x }

recursion(3);
