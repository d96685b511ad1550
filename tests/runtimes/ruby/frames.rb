# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# frames.rb: writes its own backtrace, as lines of file, line and label, the innermost first; and sleeps.

def stop
  places = caller_locations(0)
  puts(places.map { |place| [place.absolute_path || place.path, place.lineno, place.label].join("\t") }, 'END')
  $stdout.flush
  sleep 1000
end

# The table of its lines has blocks behind the first 54 words of its code.
def long(list)
  list = [1, 2, 3] + list + [4, 5, 6]
  list = list.map { |x| x + 1 }.select { |x| x > 1 }.reject { |x| x > 100 }
  a, b, c, *rest = list
  list = [a, b, c, a + b, a - b, a * b, b - c, b * c, c - a, c * a, a + b + c, *rest]
  stop
  list.sum
end

module Mixed
  def mixed
    long([7, 8])
  end

  def self.größe
    yield
  end
end

module Outer
  class Inner
    include Mixed

    def in_blocks
      [1].each do |x|
        1.times do |y|
          mixed if x && y
        end
      end
    end

    def self.of_class
      new.in_blocks
    end

    define_method(:defined) { Inner.of_class }
  end
end

def rescues
  raise ArgumentError, 'expected'
rescue ArgumentError
  ensures
end

def ensures
  Outer::Inner.new.defined
ensure
  nil
end

def ensured
  nil
ensure
  rescues
end

def evaluates
  eval('1.then { ensured }', binding, 'text.rb', 7)
end

# Neither the class nor the object has a name.
nameless = Class.new do
  def of_nameless
    Mixed.größe { evaluates }
  end
end

object = Object.new
def object.of_object(nameless)
  nameless.new.of_nameless
end

class Outer::Inner
  def self.call(object, nameless)
    [3, 1].sort_by { |x| x == 3 ? object.of_object(nameless) : x }
  end
end

Outer::Inner.call(object, nameless)
