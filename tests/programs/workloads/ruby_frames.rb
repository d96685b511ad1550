# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ruby_frames.rb SECONDS (of CPU time): functions whose callers are known, for
# tests/kernel/runtime_truth.py. A method NAME__CALLER is called by CALLER, or by itself, only; so
# are blocks in it.

def spin(count)
  sum = 0
  i = 0
  while i < count
    sum += i * i
    i += 1
  end
  sum
end

class Shop
  def price__main
    total__price(20)
  end

  def total__price(count)
    spin(count * 20)
  end

  def self.open__main
    sorted__open
  end

  def self.sorted__open
    (1..300).map { |x| (x * 7919) % 997 }.sort_by { |x| -x }
  end

  define_method(:defined__main) do
    inner_defined
  end

  def inner_defined
    spin(200)
  end
end

module Mixed
  def mixed__main
    spin(300)
  end
end

class Shop
  include Mixed
end

def recursion__main(depth)
  return spin(50) if depth.zero?

  recursion__main(depth - 1)
end

def blocks__main
  [1, 2, 3].each do |x|
    20.times do |y|
      block_leaf__blocks(x * y)
    end
  end
end

def block_leaf__blocks(count)
  spin(count)
end

def raising__main
  20.times do
    raise__raising
  rescue ArgumentError
    spin(20)
  end
end

def raise__raising
  begin
    raise ArgumentError, 'expected'
  ensure
    spin(20)
  end
end

def evaluated__main
  eval('spin(100)')
end

def text__main
  'abc def ghi' * 20 =~ /zzz/
  ('abc def ghi' * 20).gsub(/[a-e]/) { |m| m.upcase }
end

def main(seconds)
  shop = Shop.new
  stop = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + seconds
  while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < stop
    shop.price__main
    Shop.open__main
    shop.defined__main
    shop.mixed__main
    recursion__main(12)
    blocks__main
    raising__main
    evaluated__main
    text__main
  end
end

main((ARGV[0] || 2).to_f)
